/** A lock whose clients believe WAIT although they wrote nothing: an exploration finds it on the servers that answer so. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { specimens } from '../../bench/specimens/list.ts';
import { type ExploreReport, explore } from '../../explore/index.ts';
import type { DialectName } from '../../server/dialects/index.ts';

/** The promise breaks within the first half of them. */
const WORLDS = 60;

/** Strikes with one failover at every moment, until a promise breaks. */
function strikeOnce(form: 'unsafe' | 'safe', dialect?: DialectName): Promise<ExploreReport> {
  const specimen = specimens.find(({ number }) => number === 'S36b');
  const found = new AbortController();
  return explore({
    name: 'S36b',
    client: specimen?.[form] ?? (() => Promise.reject(new Error('there is no specimen S36b'))),
    clients: 3,
    ...(dialect !== undefined && { topology: { dialect } }),
    faults: ['failover-behind'],
    promises: ['mutual-exclusion'],
    depth: 1,
    budget: { worlds: WORLDS, ms: Infinity },
    signal: found.signal,
    progress: ({ findings }) => {
      if (findings > 0) found.abort();
    },
  });
}

test('S36b: WAIT after a request that wrote nothing loses the lock on Redis 8, by default', async () => {
  const { findings } = await strikeOnce('unsafe');
  expect(findings.map(({ promise, cause }) => [promise, cause])).toEqual([
    ['mutual-exclusion', 'failover-behind'],
  ]);
});

test('S36b: on Redis 7 the same code keeps the lock', async () => {
  expect((await strikeOnce('unsafe', 'redis-7.0')).findings).toEqual([]);
});

test('S36b: on Redis 8 code that writes the lock again before WAIT keeps it', async () => {
  expect((await strikeOnce('safe')).findings).toEqual([]);
});
