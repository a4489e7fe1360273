/** The two libraries of the process, one for each form of execution. Each is built when a script first needs it. */
import { createRealm, type Realm } from './index.ts';

let fast: Realm | undefined;
let resumable: Realm | undefined;

/** The library of scripts in the fast form. */
export function fastRealm(): Realm {
  fast ??= createRealm('fast');
  return fast;
}

/** The library of scripts that can be interrupted. */
export function resumableRealm(): Realm {
  resumable ??= createRealm('resumable');
  return resumable;
}
