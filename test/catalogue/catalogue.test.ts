/** The catalogue of failures has all that is shown, what it says is there, and the pages are made from it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { numbersIn, problems, whatIsShown } from './check.ts';
import { type CatalogueEntry, catalogue, failureIds } from './failures.ts';
import { catalogueTables, inRanges, mistakeOf, withTables } from './pages.ts';

const shown = whatIsShown();

test('each failure has its scenario, its test and its specimen, or a reason why not', () => {
  expect(failureIds.length).toBeGreaterThan(130);
  expect([...shown.scenarios.keys()].length).toBeGreaterThan(9);
  expect(problems(shown)).toEqual([]);
});

test.each(Object.keys(catalogueTables))('%s has the tables that the catalogue makes', (path) => {
  const page = readFileSync(path, 'utf8');
  expect(page === withTables(path, page), `${path} is out of step: npm run docs`).toBe(true);
});

test('docs/specimens.md says of each specimen the mistake that the catalogue says', () => {
  const rows = [
    ...readFileSync('docs/specimens.md', 'utf8').matchAll(/^\| (S\d+b?) \| (.*?) \| .* \| .* \| .* \|$/gm),
  ];
  const made = failureIds.flatMap((id) => (mistakeOf(id) === undefined ? [] : [[id, mistakeOf(id)]]));
  expect(rows.map(([, id, what]) => [id, what]).sort()).toEqual(made.sort());
});

test('the numbers are in order', () => {
  const byNumber = (id: string): number => Number.parseInt(id.slice(1), 10) + (id.endsWith('b') ? 0.5 : 0);
  expect([...failureIds].sort((a, b) => byNumber(a) - byNumber(b))).toEqual(failureIds);
});

test('docs/locks.md lists the issues that the failures name', () => {
  const ids = readFileSync('docs/locks.md', 'utf8').match(
    /\*\*Issues\.\*\*[^*]*? (\d[\d,\sand]*) of Redisson/,
  )?.[1];
  const listed = ids?.match(/\d+/g) ?? [];
  const texts = [...shown.failures.keys()].map((file) =>
    readFileSync(`test/locks/failures/${file}.ts`, 'utf8'),
  );
  const named = texts.flatMap((text) =>
    [...text.matchAll(/^ {2}id: '[^']*; Redisson ([\d, ]+)/gm)].flatMap(([, list = '']) => list.split(', ')),
  );
  expect([...listed].sort()).toEqual([...new Set(named)].sort());
});

test('numbers are written as ranges', () => {
  expect(inRanges(['S1', 'S2', 'S3', 'S5', 'S6', 'S36', 'S36b', 'S37'])).toBe(
    'S1 to S3, S5, S6, S36, S36b, S37',
  );
  expect(numbersIn('S22 (re-entrant), S25; Redisson 1966')).toEqual(['S22', 'S25']);
});

/** What is found when the catalogue has one more line. */
function planted(entry: CatalogueEntry): string[] {
  return problems(shown, { ...catalogue, S140: entry });
}

test('a failure without a scenario, a test or a specimen is found, with what to do', () => {
  const nothing = { what: 'nothing', locks: 'waiting', specimen: true } as const;
  expect(planted(nothing)).toEqual([
    'S140: no test has its number: write a failure in test/locks/failures/, or say in notHandled why there is none',
    'S140: bench/specimens/list.ts has no specimen: write it, or specimen: { none: … } with a reason of noSpecimen',
  ]);
  expect(
    planted({ ...nothing, lab: ['wait', '', ''], locks: 'stalls', specimen: { none: 'answers' } }),
  ).toEqual([
    "S140: no test of test/lab/scenarios/wait.test.ts begins with S140: write it, or take 'lab' away",
  ]);
  expect(planted({ ...nothing, locks: 'stalls', specimen: { none: 'answers' } })).toEqual([]);
});

test('a test, a failure or a specimen that the catalogue does not have is found', () => {
  const more = (numbers: readonly string[] = []) => [...numbers, 'S140'];
  expect(
    problems({
      scenarios: new Map([...shown.scenarios, ['wait', more(shown.scenarios.get('wait'))]]),
      failures: new Map([...shown.failures, ['lines', more(shown.failures.get('lines'))]]),
      specimens: more(shown.specimens),
    }),
  ).toEqual([
    "S140 is in test/lab/scenarios/wait.test.ts, but not in test/catalogue/failures.ts: give it a line with 'lab' there",
    'S140 is in test/locks/failures/lines.ts, but not in test/catalogue/failures.ts: give it a line there',
    'S140 is in bench/specimens/list.ts, but not in test/catalogue/failures.ts: give it a line there',
  ]);
});

test('a reason that names a file that does not exist is found', () => {
  expect(problems(shown, catalogue, { waiting: { by: 'x', tests: '`failures/gone.ts`' } })).toContain(
    "test/catalogue/failures.ts: 'waiting' names test/locks/failures/gone.ts, which does not exist: name the file where the test is now",
  );
});
