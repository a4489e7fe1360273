/** The directory of a server's files. A server that shares its process has a directory of its own, which is not the process's. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { type Bytes, fromText, toBuffer } from '../../protocol/bytes.ts';

/** What the C library says of the errors that a path can have. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
};

/** The longest path of a unix socket, in bytes. Linux takes 107, and macOS 103. */
const LONGEST_SOCKET = 103;

/** Why a file or a directory cannot be used, in the words of the C library, which Redis prints. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}

/** The path of a file, which is taken from the directory unless it is absolute. @param directory '' or undefined: the process's own */
export function placed(directory: Bytes | undefined, file: Bytes): string {
  return resolve(toBuffer(directory ?? '').toString(), toBuffer(file).toString());
}

/** The path at which a unix socket can listen: as it is, or as seen from the process's directory where it is too long. */
export function listenable(path: string): string {
  return Buffer.byteLength(path) <= LONGEST_SOCKET ? path : relative('', path);
}

/**
 * The directory that `to` names, seen from another one, as an absolute path without links. Throws an Error with the C library's
 * words if it cannot be entered.
 */
export function entered(from: Bytes | undefined, to: Bytes): Bytes {
  try {
    if (to === '') throw Object.assign(new Error(), { code: 'ENOENT' });
    const path = realpathSync(placed(from, to));
    // The dot makes the system refuse what is no directory.
    accessSync(`${path}/.`, constants.X_OK);
    return fromText(path);
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  }
}
