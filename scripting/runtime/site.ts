/** Places in a script: where an error happened, and what its message calls the thing it failed on. */
import type { Bytes } from '../../protocol/bytes.ts';

/** How an error message names the thing that an operation failed on: `local 'x'`; empty where it has no name. */
export type Naming = Bytes;

/** A place in a script where something can fail. */
export interface Site {
  /** 0 inside library functions, which have no lines. */
  readonly line: number;
  /** The chunk's name as messages show it, `user_script`. */
  readonly chunk: Bytes;
  /** The chunk's name in full, `@user_script`. */
  readonly source: Bytes;
  /** What is called, indexed, or stands left of the operator, `field 'x'`. */
  readonly left: Naming;
  readonly right: Naming;
  /** Inside a library function: where a script called it. */
  readonly caller?: Site;
}

/** Where a library function calls: no line, no name. */
export const NATIVE: Site = { line: 0, chunk: '', source: '', left: '', right: '' };

/** A place inside a library function that was called from the site. */
export function inLibrary(site: Site): Site {
  return { ...NATIVE, caller: site };
}
