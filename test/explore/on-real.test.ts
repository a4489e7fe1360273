/** Every kind of finding, found on the virtual clock, happens on real servers too. */
import { expect, test } from 'vitest';
import { type ExploreOptions, explore, replay } from '../../explore/index.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { byHand, byToken, type Lengths, lock, wrongRelease } from './locks.ts';

/** The lease leaves a slow machine time to start a process. */
const LENGTHS: Lengths = { lease: 3000, work: 1000, retry: 20 };

const kinds: readonly [what: string, options: Omit<ExploreOptions, 'name'>][] = [
  [
    'two holders after a failover that is behind',
    { client: lock(LENGTHS, byToken), faults: ['failover-behind'] },
  ],
  ['two holders after a restart without data', { client: lock(LENGTHS, byToken), faults: ['restart-empty'] }],
  ['two holders after a stall', { client: lock(LENGTHS, byToken), faults: ['client-pause'] }],
  ['two holders after a delay', { client: lock(LENGTHS, byToken), faults: ['delay'] }],
  [
    'a fence used twice after a failover that is behind',
    { client: lock(LENGTHS, byToken, undefined, true), faults: ['failover-behind'] },
  ],
  [
    'an orphan after a death',
    { client: lock(LENGTHS, byHand, async ({ redis }) => redis.setnx('lock', 1)), faults: ['client-death'] },
  ],
  [
    'a wrong release after a stall',
    { client: lock(LENGTHS, byHand), faults: ['client-pause'], promises: [wrongRelease] },
  ],
];

test.skipIf(!hasRedisServer).each(kinds)('%s (needs redis-server)', async (name, part) => {
  const stop = new AbortController();
  const options: ExploreOptions = {
    ...{ name, clients: 2, ...part },
    budget: { worlds: 400, ms: Infinity },
    progress: ({ findings }) => findings > 0 && stop.abort(),
    signal: stop.signal,
  };
  const { findings } = await explore(options);
  const [finding] = findings;
  expect(finding?.notRepeatable).toBeUndefined();
  const real = await replay({ ...options, progress: () => {} }, finding!.replay, { on: 'redis-server' });
  expect(real.story).toMatch(/ is broken on redis-server\n/);
  expect(real.breaches.map(({ promise }) => promise)).toContain(finding!.promise);
});
