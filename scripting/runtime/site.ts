/** Places in a script: where an error happened, and how its message names the thing that failed. */
import type { Bytes } from '../../protocol/bytes.ts';

/**
 * How an error message names the operand of a failed operation: `local 'x'`, or an empty string for one without a name.
 */
export type Naming = Bytes;

/** A place in a script at which something can fail. */
export interface Site {
  /** The line; 0 inside library functions, which have none. */
  readonly line: number;
  /** The chunk's name in messages, such as `user_script`. */
  readonly chunk: Bytes;
  /** The full name of the chunk, such as `@user_script`. */
  readonly source: Bytes;
  /** The value that is called or indexed, or the left operand, such as `field 'x'`. */
  readonly left: Naming;
  readonly right: Naming;
  /** Inside a library function: the place where a script called it. */
  readonly caller?: Site;
}

/** The place of calls made by library functions: no line, no name. */
export const NATIVE: Site = { line: 0, chunk: '', source: '', left: '', right: '' };

/** The same place on another line. */
export function siteAt(line: number, { chunk, source, left, right }: Site): Site {
  return { line, chunk, source, left, right };
}

/** A place inside a library function that was called from this site. */
export function inLibrary(site: Site): Site {
  return { ...NATIVE, caller: site };
}
