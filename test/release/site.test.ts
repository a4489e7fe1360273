/** The menu of the documentation site has every page of docs/, once. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { textsOf } from '../../bench/libraries/texts.ts';
import { heatMap, heatOf } from '../../docs/site/libraries.ts';
import { pages } from '../../docs/site/pages.ts';

const sources = pages.map(({ source }) => source);

test('every page of docs/ is on the site', () => {
  const written = ['docs', 'docs/start'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
  expect(written.length).toBeGreaterThan(20);
  expect(written.filter((path) => !sources.includes(path))).toEqual([]);
});

test('every page of the menu exists, and has an address of its own', () => {
  expect(sources.filter((path) => !existsSync(path))).toEqual([]);
  expect(new Set(pages.map(({ address }) => address)).size).toBe(pages.length);
});

/** What the page says about a library. */
function sectionOf(page: string, name = ''): string {
  return page.split('\n### ').find((each) => each.startsWith(`${name}\n`)) ?? '';
}

test('each outcome in the heat map of the libraries opens the timeline of its world', () => {
  const text = readFileSync('docs/libraries.md', 'utf8');
  const map = heatMap(text, '/libraries');
  const found = [...textsOf(text)];
  expect(found.length).toBeGreaterThan(30);
  const rows = map.split('\n').filter((line) => /^\| .* \| (?:·|–) \|/.test(line));
  const linked = rows.flatMap((row) => [...row.matchAll(/\[[A-Z2]\]\(\/libraries\/(\d+)\.html\)/g)]);
  // Each letter of the tables leads to a page of its own library, unless its world does not repeat.
  const repeats = rows.filter(
    (row) => !sectionOf(text, row.split(' | ')[0]?.slice(2)).includes('not repeatable'),
  );
  expect(repeats.length).toBeGreaterThan(15);
  expect(repeats.join('').replace(/\[[A-Z2]\]/g, '')).not.toMatch(/\| \(?[A-Z2]\)?( \(?[A-Z2]\)?)* \|/);
  expect(linked.length).toBeGreaterThan(30);
  for (const row of rows)
    for (const [, page] of row.matchAll(/libraries\/(\d+)\.html/g))
      expect(row.startsWith(`| ${found[Number(page) - 1]?.name} |`)).toBe(true);
  // So does each outcome below the tables.
  const below = map.split('\n').flatMap((line) => {
    const [, cause, outcome, page, world] =
      /^\| ([^|]+) \| \[([^\]]+)\]\(\/libraries\/(\d+)\.html\)\S* \| `(\S+)` \|$/.exec(line) ?? [];
    return page === undefined ? [] : [{ at: Number(page) - 1, cause, outcome, text: world }];
  });
  expect(below).toEqual(
    found.map(({ cause, outcome, text: world }, at) => ({ at, cause, outcome, text: world })),
  );
  const limit = '([2](/libraries/1.html){target="_self"})';
  expect([limit.slice(1, -1), '2', 'W (2)', limit, '(2)', '·', '–', 'two holders'].map(heatOf)).toEqual([
    'broken',
    'broken',
    'broken',
    'limit',
    'limit',
    'held',
    'none',
    undefined,
  ]);
});
