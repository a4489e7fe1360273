/** The libraries of the process: for each kind of server one of each form of execution, built when a script first needs it. */
import type { Form } from '../compiler/emitter.ts';
import { REDIS_7_0, type ScriptTexts } from '../runtime/texts.ts';
import { createRealm, type Realm } from './index.ts';

const realms: Readonly<Record<Form, Map<ScriptTexts, Realm>>> = { fast: new Map(), resumable: new Map() };

function realmOf(form: Form, texts: ScriptTexts): Realm {
  let realm = realms[form].get(texts);
  if (realm === undefined) realms[form].set(texts, (realm = createRealm(form, texts)));
  return realm;
}

/** What fastRealm was last asked for, and its answer: every script asks, and most processes have one kind of server. */
let lastTexts: ScriptTexts | undefined;
let lastRealm: Realm | undefined;

/** The library of a server's scripts in the fast form. */
export function fastRealm(texts = REDIS_7_0): Realm {
  if (lastRealm === undefined || texts !== lastTexts) {
    lastRealm = realmOf('fast', texts);
    lastTexts = texts;
  }
  return lastRealm;
}

/** The library of a server's scripts that can be interrupted. */
export function resumableRealm(texts = REDIS_7_0): Realm {
  return realmOf('resumable', texts);
}
