/** Wrong usage of the `lostlock` command: one error for all of its commands, and how their options are parsed. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '../base/similar.ts';

/** The command line is wrong. The message says how, and is all that the user has to see. */
export class UsageError extends Error {}

/** The codes of errors whose message is all that the user has to see. */
const PLAIN: readonly unknown[] = [
  ...['LOSTLOCK_BAD_OPTION', 'LOSTLOCK_NO_WORLD', 'LOSTLOCK_NO_LONGER_STRIKES', 'LOSTLOCK_NO_IOREDIS'],
];

/** The message of an error that is about the user's arguments, options or packages; undefined for any other error. */
export function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? error.code : undefined;
  // Deno's error names the permission that is missing.
  const isPlain = error instanceof UsageError || PLAIN.includes(code) || error.name === 'NotCapable';
  return isPlain ? error.message : undefined;
}

/** The message of an error of the operating system, such as a port in use or a file that cannot be written; undefined for others. */
export function systemRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'errno' in error)) return undefined;
  const { code, port, address, path, syscall, message } = error as SystemError;
  if (code === 'EADDRINUSE' && port !== undefined)
    return `port ${port} of ${address} is in use (EADDRINUSE): choose another with --port, or --port 0 for a free one`;
  const [, reason] = /^E\w+: ([^,]+)/.exec(message) ?? [];
  return path === undefined || reason === undefined
    ? message
    : `cannot ${syscall} ${path}: ${reason} (${code})`;
}

/** What Node says of a call of the operating system that failed. */
interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
}

/**
 * Makes the folder of a file that a command writes at its end. Throws UsageError when the file cannot be written there. A command calls
 * this before its work, because at the end the result would be lost.
 * @param kind what will be written: a file, or a folder with files
 */
export function prepareOutput(flag: string, path: string, kind: 'file' | 'folder' = 'file'): void {
  try {
    const folder = kind === 'folder' ? path : dirname(path);
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    if (kind === 'folder' || !existsSync(path)) return;
    if (statSync(path).isDirectory()) throw new UsageError(`${flag} ${path}: is a folder`);
    accessSync(path, constants.W_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${flag} ${path}: ${systemRefusal(error) ?? String(error)}`);
  }
}

/** `; did you mean --port?` with the closest flag, or an empty string when none is close. @param names without dashes */
export function flagMeant(flag: string, names: Iterable<string>): string {
  const meant = nearest(
    flag.toLowerCase(),
    Array.from(names, (name) => `--${name}`),
  );
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** Parses the arguments of a command as parseArgs of node:util does. Throws UsageError for an option that is wrong or unknown. */
export function parseOptions<T extends ParseArgsConfig>(
  argv: readonly string[],
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs<T>({ ...config, args: [...argv] });
  } catch (error) {
    const { message } = error as Error;
    const [, flag] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
    if (flag === undefined) throw new UsageError(message);
    throw new UsageError(`there is no option ${flag}${flagMeant(flag, Object.keys(config.options ?? {}))}`);
  }
}
