/** The registries of faults, promises and strategies: what is a file is in them, and so is what the page says. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Fault } from '../../explore/faults/fault.ts';
import { FAULTS, faults, isFaultKind, reasonFor, strike } from '../../explore/faults/index.ts';
import { NO_ERROR } from '../../explore/promises/broken.ts';
import { PROMISES, promises } from '../../explore/promises/index.ts';
import { strategies } from '../../explore/search/index.ts';
import { withExploreTables } from '../../tools/docs/explore-tables.ts';

/** The names of the files of a folder that declare something of this type. */
function declaring(folder: string, type: string): string[] {
  const declares = new RegExp(`^export const \\w+: ${type}\\b`, 'm');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && declares.test(readFileSync(`${folder}/${file}`, 'utf8')))
    .filter((file) => !/(^|\/)(index|fault|promise|strategy)\.ts$/.test(file))
    .map((file) => file.replace(/^.*\//, '').replace('.ts', ''))
    .sort();
}

test('every file of a fault, a promise or a strategy has its line, and every line its file', () => {
  expect(declaring('explore/faults', 'Fault')).toEqual(Object.keys(faults).sort());
  expect(declaring('explore/promises', 'LockPromise')).toEqual(promises.map(({ name }) => name).sort());
  expect(declaring('explore/search', 'Strategy')).toEqual(
    strategies.map(({ name }) => name.replace(' ', '-')).sort(),
  );
});

test('docs/explore.md has the tables that the registries make', () => {
  const page = readFileSync('docs/explore.md', 'utf8');
  expect(page === withExploreTables(page), 'docs/explore.md is out of step: npm run docs').toBe(true);
});

test('a plan may have what is done by hand, which no search draws', () => {
  const byHand = Object.keys(faults).filter((kind) => !(FAULTS as readonly string[]).includes(kind));
  expect(byHand).toEqual(['late', 'late-message', 'arrival', 'again', 'hold', 'promote']);
  expect(byHand.every(isFaultKind)).toBe(true);
  const among = { clients: ['A'], sets: [['redis-1', 'redis-2']], asksReplicas: true };
  const topologies = [
    { sentinels: false, cluster: false },
    { sentinels: true, cluster: false },
    { sentinels: false, cluster: true },
  ];
  const variantsOf = ({ variants }: Pick<Fault, 'variants'>): number =>
    topologies.flatMap((topology) => variants({ ...among, ...topology }, { leaseMs: 1000, reconnectMs: 250 }))
      .length;
  for (const [kind, fault] of Object.entries(faults))
    expect(variantsOf(fault) > 0, kind).toBe(!byHand.includes(kind));
});

test('a fault reaches only what every stage has, unless it says what it needs', async () => {
  const silent: Fault = {
    sentence: 'a clock is set, but nothing says that a stage must have clocks',
    strikes: 'a node',
    variants: () => [],
    // @ts-expect-error real servers have no clock that can be set: `needs` is missing
    strike: async ({ clockOf }) => clockOf('redis-1').jump(1),
  };
  expect(silent.needs).toBeUndefined();
  expect(FAULTS.filter((kind) => reasonFor(kind, 'real servers') !== undefined)).toEqual([
    'server-clock-jump',
    'client-clock-jump',
    'server-clock-drift',
    'client-clock-drift',
    'misconf',
    'clock-jump',
    'clock-drift',
  ]);
  expect(FAULTS.filter((kind) => reasonFor(kind, 'virtual') !== undefined)).toEqual([]);
  const jump = { kind: 'clock-jump', at: 0, on: 'redis-1', ms: 0, by: 5, how: '' } as const;
  await expect(strike({} as Parameters<typeof strike>[0], jump)).rejects.toThrow(
    'clock-jump needs clockOf, which this stage lacks',
  );
});

test('no promise has the name of the findings that are errors', () => {
  expect(PROMISES.map(String), 'that name is taken: choose another').not.toContain(NO_ERROR);
});
