/** Plants defects in the scripts of our locks, and removes them. */
import { defineScript, type LockScript } from '../../locks/scripts/define.ts';

/** Replaces a part of the script. Returns what brings it back. Throws when the script does not have the part. */
export function plantInScript(script: LockScript, find: string, replace: string): () => void {
  const before = Object.getOwnPropertyDescriptor(script, 'text') as PropertyDescriptor;
  const { text, sha } = defineScript(script.name, edited(script.text, find, replace));
  Object.defineProperties(script, {
    text: { value: text, configurable: true },
    sha: { value: sha, configurable: true },
  });
  return () => {
    Object.defineProperty(script, 'text', before);
    delete (script as { sha?: string }).sha;
  };
}

/** The text with the first `find` replaced. Throws when it has none. */
export function edited(text: string, find: string, replace: string): string {
  if (!text.includes(find)) throw new Error(`the script does not have: ${find}`);
  return text.replace(find, () => replace);
}
