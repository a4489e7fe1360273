/** The rule that a docstring says more than the name that it stands above. */
import type { Rule } from './rule.ts';

const documented =
  /^( *)\/\*\* (.*?) \*\/\n\1((?:(?:export|private|protected|readonly|static|abstract|override|async|get|set|const|function|class|interface|type|let|declare) )*)([#\w]+)(.*)$/gm;
const SHIPPED =
  /^(base|protocol|keyspace|scripting|server|sentinel|cluster|start|locks|page|playground|cli|runners|adapters)\//;
/** Words that say nothing by themselves. */
const empty = new Set(
  'a an the of this that it its is are was as in on at to for by and or with from all each every one new which has have'.split(
    ' ',
  ),
);

/** A word without the ending of its form: `nodes` and `node`, `replaced` and `replaces`. */
function stem(word: string): string {
  return word
    .toLowerCase()
    .replace(/ies$/, 'y')
    .replace(/(ing|ed|es|s)$/, '')
    .replace(/e$/, '');
}

/** Finds docstrings all of whose words stand in the name and the types below them. */
export const restating: Rule = {
  name: 'restating',
  *check({ path, text, comments }) {
    if (!SHIPPED.test(path)) return;
    for (const match of text.matchAll(documented)) {
      const [, indent = '', said = '', , name = '', rest = ''] = match;
      const at = match.index + indent.length;
      // The sentence that opens the file is about the file. Numbers, code and tags add something.
      // A text that is no comment stands in a string.
      if (match.index === 0 || /[\d@`]/.test(said) || comments[at + 4] === ' ') continue;
      const known = `${name} ${rest}`.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z]+/);
      const stems = new Set(known.map(stem));
      const words = said.split(/[^A-Za-z]+/).filter((word) => word !== '' && !empty.has(word.toLowerCase()));
      if (words.every((word) => stems.has(stem(word))))
        yield { at, cure: `'${said}' says what the name says: leave it out, or say what it adds` };
    }
  },
};
