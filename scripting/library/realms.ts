/** The two libraries of the process, one for each form that scripts run in; each is built when the first script needs it. */
import { createRealm, type Realm } from './index.ts';

let fast: Realm | undefined;
let resumable: Realm | undefined;

/** The library of scripts that run to their end in one go. */
export function fastRealm(): Realm {
  fast ??= createRealm('fast');
  return fast;
}

/** The library of scripts that can be interrupted. */
export function resumableRealm(): Realm {
  resumable ??= createRealm('resumable');
  return resumable;
}
