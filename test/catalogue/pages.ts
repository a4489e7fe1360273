/** The tables of docs/scenarios.md, docs/locks.md and docs/specimens.md that are made from the catalogue of failures. */
import { existsSync, readFileSync } from 'node:fs';
import {
  type CatalogueEntry,
  catalogue,
  type FailureId,
  failureIds,
  handled,
  noSpecimen,
  notHandled,
} from './failures.ts';

/** The mistake that the specimen of a failure makes; undefined when it has none. */
export function mistakeOf(id: FailureId): string | undefined {
  const { what, specimen } = catalogue[id];
  if (typeof specimen === 'object') return undefined;
  return specimen === true ? what : specimen;
}

/** Numbers as a page has them: `S1 to S7, S9, S36b`. */
export function inRanges(ids: readonly string[]): string {
  const runs: string[][] = [];
  for (const id of ids) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && `S${Number(last?.slice(1)) + 1}` === id) run.push(id);
    else runs.push([id]);
  }
  return runs.flatMap((run) => (run.length < 3 ? run : [`${run[0]} to ${run.at(-1)}`])).join(', ');
}

function idsWhere(test: (entry: CatalogueEntry) => boolean): FailureId[] {
  return failureIds.filter((id) => test(catalogue[id]));
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `${cells.map((cell) => (cell === '' ? '| ' : `| ${cell} `)).join('')}|`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

function scenarios(isIn: (file: string) => boolean): string {
  const ids = idsWhere(({ lab }) => lab !== undefined && isIn(lab[0]));
  return table(
    ['number', 'what it shows', 'unsafe', 'safe', 'test file'],
    ids.map((id) => {
      const { what, lab: [file, unsafe, safe] = ['', '', ''] } = catalogue[id];
      return [id, what, unsafe, safe, file];
    }),
  );
}

/** A row for each reason that some failures share, in the order of the reasons. */
function byReason(
  columns: readonly string[],
  reasons: readonly string[],
  reasonOf: (entry: CatalogueEntry) => string | undefined,
  cells: (reason: string) => readonly string[],
): string {
  return table(
    columns,
    reasons.map((reason) => [inRanges(idsWhere((entry) => reasonOf(entry) === reason)), ...cells(reason)]),
  );
}

/** Each page with its tables, by the names between which they stand. */
export const catalogueTables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/scenarios.md': {
    scenarios: scenarios((file) => file !== 'stalls' && !file.startsWith('counts')),
    stalls: scenarios((file) => file === 'stalls'),
    'our own': scenarios((file) => file.startsWith('counts')),
  },
  'docs/locks.md': {
    handled: byReason(
      ['failures', 'handled by', 'test'],
      Object.keys(handled),
      ({ locks }) => locks,
      (reason) => {
        const { by, tests } = handled[reason as keyof typeof handled];
        return [by, tests];
      },
    ),
    'not handled': byReason(
      ['failures', 'why the locks do nothing about them'],
      Object.keys(notHandled),
      ({ locks }) => locks,
      (reason) => [notHandled[reason as keyof typeof notHandled]],
    ),
  },
  'docs/specimens.md': {
    'no specimen': byReason(
      ['', 'why'],
      Object.keys(noSpecimen),
      ({ specimen }) => (typeof specimen === 'object' ? specimen.none : undefined),
      (reason) => [noSpecimen[reason as keyof typeof noSpecimen]],
    ),
  },
};

const opening = (name: string): string =>
  `<!-- ${name}: made from test/catalogue/failures.ts by npm run docs -->`;
const END = '<!-- end -->';

/** A page with its tables made anew. @throws Error when the place of a table is missing */
export function withTables(path: string, text = existsSync(path) ? readFileSync(path, 'utf8') : ''): string {
  let page = text;
  for (const [name, made] of Object.entries(catalogueTables[path] ?? {})) {
    const from = page.indexOf(opening(name));
    const to = page.indexOf(END, from);
    if (from < 0 || to < 0) throw new Error(`${path} has no place for its table: ${opening(name)} … ${END}`);
    page = `${page.slice(0, from)}${opening(name)}\n\n${made}\n\n${page.slice(to)}`;
  }
  return page;
}
