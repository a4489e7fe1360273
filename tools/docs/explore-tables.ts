/** The tables of docs/explore.md: faults, promises and search strategies, made from their registries. */
import { FAULTS, faults, reasonFor } from '../../explore/faults/index.ts';
import { madePromises, promises } from '../../explore/promises/index.ts';
import { strategies } from '../../explore/search/index.ts';

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

/** Each table by the name of its place, and the folder of the registry that it is made from. */
const tables: Readonly<Record<string, readonly [source: string, made: () => string]>> = {
  faults: [
    'explore/faults',
    () =>
      table(
        ['Fault', 'By default', 'Strikes', 'What happens', 'On real servers'],
        FAULTS.map((name) => {
          const reason = reasonFor(name, 'real servers');
          const { strikes, sentence, onRequest } = faults[name];
          return [
            `\`${name}\``,
            onRequest === true ? 'no' : 'yes',
            strikes,
            sentence,
            reason === undefined ? 'yes' : `no: ${reason}`,
          ];
        }),
      ),
  ],
  promises: [
    'explore/promises',
    () =>
      table(
        ['Promise', 'By default', 'What is promised', 'Nothing to judge'],
        [...promises, ...madePromises.map((each) => ({ ...each, onRequest: true }))].map(
          ({ name, sentence, nothing, onRequest }) => [
            `\`${name}\``,
            onRequest === true ? 'no' : 'yes',
            sentence,
            nothing,
          ],
        ),
      ),
  ],
  strategies: [
    'explore/search',
    () =>
      table(
        ['Strategy', 'What it plays'],
        strategies.map(({ name, sentence }) => [name, sentence]),
      ),
  ],
};

/** The page with its tables made anew. Throws Error for a page that has no place for one. */
export function withExploreTables(page: string): string {
  return Object.entries(tables).reduce((text, [name, [source, made]]) => {
    const opening = `<!-- ${name}: made from ${source} by npm run docs -->`;
    const from = text.indexOf(opening);
    const to = text.indexOf('<!-- end -->', from);
    if (from < 0 || to < 0) throw new Error(`docs/explore.md has no place for its table: ${opening}`);
    return `${text.slice(0, from)}${opening}\n\n${made()}\n\n${text.slice(to)}`;
  }, page);
}
