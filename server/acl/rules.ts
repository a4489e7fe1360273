/** The words of ACL rules, as ACL SETUSER and the `user` lines of redis.conf take them. */
import type { Bytes } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';

/** Joins the words of each selector in parentheses into one rule. Throws if a parenthesis is not closed. */
export function mergeSelectors(words: readonly Bytes[]): Bytes[] {
  const rules: Bytes[] = [];
  let open: Bytes | undefined;
  let first = '';
  for (const word of words) {
    const begins = open === undefined && word.startsWith('(');
    if (open === undefined && !begins) rules.push(word);
    else {
      if (begins) first = word;
      open = begins ? word : `${open} ${word}`;
      if (!word.endsWith(')')) continue;
      rules.push(open);
      open = undefined;
    }
  }
  if (open !== undefined) fail(`ERR Unmatched parenthesis in acl selector starting at '${first}'.`);
  return rules;
}
