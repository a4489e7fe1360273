/** The catalogue of error texts, as Redis 7.0 sends them. */
import type { Bytes } from './bytes.ts';
import { ReplyError } from './reply.ts';

export const WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
export const SYNTAX = 'ERR syntax error';
export const NOT_INTEGER = 'ERR value is not an integer or out of range';
export const NOT_FLOAT = 'ERR value is not a valid float';
export const NO_SUCH_KEY = 'ERR no such key';
export const OUT_OF_RANGE = 'ERR index out of range';
export const NOT_POSITIVE = 'ERR value is out of range, must be positive';
export const OVERFLOW = 'ERR increment or decrement would overflow';
export const NOSCRIPT = 'NOSCRIPT No matching script. Please use EVAL.';
export const NOAUTH = 'NOAUTH Authentication required.';
export const LINK_DOWN = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
export const MISCONF =
  "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.";
export const READONLY = "READONLY You can't write against a read only replica.";
export const EXECABORT = 'EXECABORT Transaction discarded because of previous errors.';
export const OOM = "OOM command not allowed when used memory > 'maxmemory'.";

/** Throws the text as an error reply; reads as an expression: `value ?? fail(NOT_INTEGER)`. */
export function fail(text: Bytes): never {
  throw new ReplyError(text);
}

/** The arity error; a subcommand is named with its container, 'client|setname'. */
export function wrongArity(command: Bytes): ReplyError {
  return new ReplyError(`ERR wrong number of arguments for '${command}' command`);
}

/** The refusal of an expiry that is zero, negative or too large. */
export function invalidExpiry(command: Bytes): ReplyError {
  return new ReplyError(`ERR invalid expire time in '${command}' command`);
}
