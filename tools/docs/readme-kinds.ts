/** The sentence of README.md that lists the kinds of lock, made from their registry. */
import { kindNames } from '../../locks/kinds/index.ts';

const OPENING = '<!-- kinds: made from locks/kinds by npm run docs -->';
const CLOSING = '<!-- end -->';

/** README.md with the sentence made anew. Throws Error for a page that has no place for it. */
export function withKinds(page: string): string {
  const from = page.indexOf(OPENING);
  const to = page.indexOf(CLOSING, from);
  if (from < 0 || to < 0) throw new Error(`README.md has no place for the kinds of lock: ${OPENING}`);
  const names = kindNames.map((kind) => `\`${kind}\``);
  const sentence = `\`createLocks\` makes locks of ${names.length} kinds: ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`;
  return `${page.slice(0, from)}${OPENING}\n${wrapped(sentence)}\n${page.slice(to)}`;
}

/** Breaks a sentence between words into lines as long as the page's. */
function wrapped(sentence: string): string {
  return sentence.replace(/(.{1,118})(?: |$)/g, '$1\n').trimEnd();
}
