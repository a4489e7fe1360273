/** A Lua script with its SHA-1, under which the server remembers it. */
import { createHash } from 'node:crypto';

export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/** Declares a script. `name` is for messages only. */
export function defineScript(name: string, text: string): Script {
  const trimmed = text.trim();
  return { name, text: trimmed, sha: createHash('sha1').update(trimmed).digest('hex') };
}
