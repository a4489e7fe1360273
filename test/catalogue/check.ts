/** What the catalogue of failures says beside what is there: scenarios, failures of locks, specimens and the tests that it names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type CatalogueEntry, catalogue, type FailureId, type Handling, handled } from './failures.ts';

const SCENARIOS = 'test/lab/scenarios';
const FAILURES = 'test/locks/failures';
const SPECIMENS = 'bench/specimens/list.ts';
const DATA = 'test/catalogue/failures.ts';

/** What the tests and the bench show: the numbers that each file has. */
export interface Shown {
  /** By the file's name, up to its first dot. */
  readonly scenarios: ReadonlyMap<string, readonly string[]>;
  readonly failures: ReadonlyMap<string, readonly string[]>;
  readonly specimens: readonly string[];
}

/** The numbers of the catalogue in a text, such as `S22 (re-entrant), S25; Redisson 1966`. */
export function numbersIn(text: string): FailureId[] {
  return [...text.matchAll(/\bS\d+b?\b/g)].map(([number]) => number as FailureId);
}

function numbersByFile(folder: string, pattern: RegExp): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of readdirSync(folder).sort()) {
    const [name = ''] = file.split('.');
    const matches = [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(pattern)];
    const numbers = matches.flatMap(([, text = '']) => numbersIn(text));
    if (numbers.length > 0) found.set(name, [...(found.get(name) ?? []), ...numbers]);
  }
  return found;
}

/** What is there, by the titles of tests and by the numbers in lists. */
export function whatIsShown(): Shown {
  return {
    scenarios: numbersByFile(SCENARIOS, /\b(?:safe|unsafe|test|always)[^('"`]*\(\s*['"`](S\d[^ :]*)/g),
    failures: numbersByFile(FAILURES, /^ {2}id: '([^']*)'/gm),
    specimens: [...readFileSync(SPECIMENS, 'utf8').matchAll(/\bnumber: '([^']*)'/g)].map(
      ([, number = '']) => number,
    ),
  };
}

/** What the catalogue lacks, or says wrongly, as sentences that say the cure. */
export function problems(
  shown: Shown,
  entries: Readonly<Record<string, CatalogueEntry>> = catalogue,
  handlings: Readonly<Record<string, Handling>> = handled,
): string[] {
  return [
    ...Object.entries(entries).flatMap(([id, entry]) => ofEntry(id, entry, shown, handlings)),
    ...unlisted(shown, entries),
    ...Object.entries(handlings).flatMap(([reason, { tests }]) =>
      pathsIn(tests)
        .filter((path) => !existsSync(path) && !path.includes('*'))
        .map(
          (path) =>
            `${DATA}: '${reason}' names ${path}, which does not exist: name the file where the test is now`,
        ),
    ),
  ];
}

function ofEntry(
  id: string,
  { lab, locks, specimen }: CatalogueEntry,
  { scenarios, failures, specimens }: Shown,
  handlings: Readonly<Record<string, Handling>>,
): string[] {
  const found: string[] = [];
  const file = /^[\w-]*/.exec(lab?.[0] ?? '')?.[0] ?? '';
  const has = (numbers: readonly string[] | undefined): boolean => numbers?.includes(id) ?? false;
  if (lab !== undefined && !has(scenarios.get(file)) && !has(failures.get(file))) {
    found.push(
      `${id}: no test of ${SCENARIOS}/${file}.test.ts begins with ${id}: write it, or take 'lab' away`,
    );
  }
  const tests = handlings[locks]?.tests;
  const isFailure = [...failures.values()].some(has);
  if (
    tests !== undefined &&
    !isFailure &&
    lab === undefined &&
    !pathsIn(tests).some((path) => mentions(path, id))
  ) {
    found.push(
      `${id}: no test has its number: write a failure in ${FAILURES}/, or say in notHandled why there is none`,
    );
  }
  if (tests === undefined && isFailure) {
    found.push(
      `${id}: ${FAILURES}/ has it, but the catalogue says that the locks do nothing: name a reason of 'handled'`,
    );
  }
  const isExcused = typeof specimen === 'object';
  if (isExcused === specimens.includes(id)) {
    found.push(
      isExcused
        ? `${id}: ${SPECIMENS} has it, but the catalogue says why not: write specimen: true`
        : `${id}: ${SPECIMENS} has no specimen: write it, or specimen: { none: … } with a reason of noSpecimen`,
    );
  }
  return found;
}

/** Numbers in tests and lists that the catalogue does not have, or has without that file. */
function unlisted(
  { scenarios, failures, specimens }: Shown,
  entries: Readonly<Record<string, CatalogueEntry>>,
): string[] {
  const cure = (id: string, where: string): string =>
    `${id} is in ${where}, but not in ${DATA}: give it a line there`;
  const found = new Set<string>();
  for (const [file, numbers] of scenarios) {
    for (const id of numbers) {
      if (entries[id]?.lab === undefined)
        found.add(cure(id, `${SCENARIOS}/${file}.test.ts`).replace('a line', "a line with 'lab'"));
    }
  }
  for (const [file, numbers] of failures) {
    for (const id of numbers) if (entries[id] === undefined) found.add(cure(id, `${FAILURES}/${file}.ts`));
  }
  for (const id of specimens) if (entries[id] === undefined) found.add(cure(id, SPECIMENS));
  return [...found];
}

/** The files that a cell of the page names, from the root. */
function pathsIn(tests: string): string[] {
  return [...tests.matchAll(/`([\w./*-]+\.(?:ts|md))`/g)].map(([, path = '']) =>
    path.startsWith('failures/') ? `test/locks/${path}` : path,
  );
}

function mentions(path: string, id: string): boolean {
  return existsSync(path) && numbersIn(readFileSync(path, 'utf8')).includes(id as FailureId);
}
