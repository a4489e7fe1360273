/** Redis 7.0's error texts. */
import type { Bytes } from './bytes.ts';
import { ReplyError } from './reply.ts';

/** A key has a value of another type than the command needs. */
export const WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
/** Options that a command does not have, or that exclude each other. */
export const SYNTAX = 'ERR syntax error';
/** An argument is not a 64-bit integer. */
export const NOT_INTEGER = 'ERR value is not an integer or out of range';
/** An argument is not a floating point number. */
export const NOT_FLOAT = 'ERR value is not a valid float';
/** A key that must exist does not exist. */
export const NO_SUCH_KEY = 'ERR no such key';
/** An index is outside the list. */
export const OUT_OF_RANGE = 'ERR index out of range';
/** A count is negative. */
export const NOT_POSITIVE = 'ERR value is out of range, must be positive';
/** The result of an addition does not fit 64 bits. */
export const OVERFLOW = 'ERR increment or decrement would overflow';
/** EVALSHA names a script that the server does not know. */
export const NOSCRIPT = 'NOSCRIPT No matching script. Please use EVAL.';
/** The client has not authenticated. */
export const NOAUTH = 'NOAUTH Authentication required.';
/** A replica without its primary serves no data, because of replica-serve-stale-data. */
export const LINK_DOWN = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
/** Writes are refused because the last snapshot failed. @param title the server's name */
export const misconfigured = (title: string): string =>
  `MISCONF ${title} is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the ${title} logs for details about the RDB error.`;
/** Returns the error for writes while the append-only file cannot be written. @param why the operating system's words */
export function cannotStore(why = ''): Bytes {
  return `MISCONF Errors writing to the AOF file: ${why}`;
}
export const READONLY = "READONLY You can't write against a read only replica.";
/** EXEC after a request that could not be queued. */
export const EXECABORT = 'EXECABORT Transaction discarded because of previous errors.';
/** Writes are refused because maxmemory is reached. */
export const OOM = "OOM command not allowed when used memory > 'maxmemory'.";

/** Throws the text as an error reply. Can be used in an expression: `value ?? fail(NOT_INTEGER)`. */
export function fail(text: Bytes): never {
  throw new ReplyError(text);
}

/** The error for a wrong number of arguments. A subcommand is named with its container: 'client|setname'. */
export function wrongArity(command: Bytes): ReplyError {
  return new ReplyError(`ERR wrong number of arguments for '${command}' command`);
}

/** The error for an expiry that is zero, negative or too large. */
export function invalidExpiry(command: Bytes): ReplyError {
  return new ReplyError(`ERR invalid expire time in '${command}' command`);
}
