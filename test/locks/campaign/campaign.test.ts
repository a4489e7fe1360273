/** A campaign of random lock lives in the lab: a sample of worlds of every kind, and a million lives with `npm run test:long`. */
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { isLongRun } from '../../support/long.ts';
import { playSeeds, runCampaign } from './crew.ts'; // tidy suffixes: the processes play in worlds
import { draw, KINDS, LATER } from './draw.ts';
import type { Violation } from './judge.ts';
import { type Deed, type KindName, type Life, livesOf, type Plan } from './plan.ts';
import { PLANTS, type Plant } from './plants.ts';
import { play } from './play.ts';
import { shrink } from './shrink.ts';
import { tellStory } from './story.ts';

const LIVES = Number(process.env.LOSTLOCK_CAMPAIGN_LIVES ?? 1_000_000);
const SEED = Number(process.env.LOSTLOCK_CAMPAIGN_SEED ?? 1_000_000);
const A_DAY_MS = 86_400_000;

/** The stories of the first worlds that failed. */
async function stories(seeds: readonly number[], kind?: KindName): Promise<string> {
  const told = seeds.slice(0, 3).map(async (seed) => {
    const plan = draw(seed, kind);
    return tellStory(plan, await play(plan));
  });
  return (await Promise.all(told)).join('\n');
}

if (isLongRun) {
  test(`${LIVES} lives from seed ${SEED} on find nothing`, { timeout: A_DAY_MS }, async () => {
    const jobs = availableParallelism();
    const { failures, lives, grants } = await runCampaign({ seed: SEED, lives: LIVES, jobs });
    expect(lives).toBeGreaterThanOrEqual(LIVES);
    expect(grants, 'lives that came to a grant').toBeGreaterThan(lives / 3);
    const seeds = failures.map(({ seed }) => seed);
    expect(seeds, await stories(seeds)).toEqual([]);
  });
}

test.each(KINDS)('random lives of the kind %s find nothing', async (kind) => {
  const { failures } = await playSeeds(7000, 1, kind);
  const seeds = failures.map(({ seed }) => seed);
  expect(seeds, await stories(seeds, kind)).toEqual([]);
});

/** Worlds that found something once, without the later faults, and what it was. */
const FOUND: readonly (readonly [seed: number, what: string])[] = [
  [2452, 'the second restart of a primary lost a lock that was renewed after the first'],
  [2669, 'a failover lost the release of a lock of a session'],
  [7361, 'a waiter for a write lock barred its own requests'],
  [6109, 'a multi asked for leases that were too short for its requests'],
  [26345, 'the final check began before the last delayed messages had arrived'],
  [35166, 'a permit was not given back while the connections to a lost machine hung'],
];

test.each(FOUND)('seed %i finds nothing any more: %s', async (seed) => {
  const plan = draw(seed);
  const { violations, story } = await play({ ...plan, faults: plan.faults.filter(({ id }) => id < LATER) });
  expect(violations, story.join('\n')).toEqual([]);
});

/**
 * Worlds in which a fault that has to be borne found something once. They name their kind, because a seed alone draws another one
 * when there are more kinds.
 */
const NOT_BORNE: readonly (readonly [seed: number, what: string, kind: KindName])[] = [
  [117, 'answers that took longer than a sixth of the lease lost a lock', 'simple'],
  [271, 'the same with a segment, whose owner held several', 'segmented'],
  [317, 'a release that was refused for want of memory was not repeated', 'semaphore'],
  [20, 'a release that was refused because of a full disk was not repeated', 'semaphore'],
  [39, 'two servers of a Redlock came back empty, one long after the other', 'redlock'],
  [4000092, 'a lease of a client whose wall clock was set back by 7 ms seemed to end too early', 'simple'],
];

test.each(NOT_BORNE)('seed %i finds nothing any more: %s', async (seed, _what, kind) => {
  const { violations, story } = await play(draw(seed, kind));
  expect(violations, story.join('\n')).toEqual([]);
});

test('the same seed gives the same trace', async () => {
  const seed = 7000;
  const [one, other] = [await play(draw(seed), { hash: true }), await play(draw(seed), { hash: true })];
  expect(other.hash).toBe(one.hash);
  expect(other.story).toEqual(one.story);
  expect(one.story.length).toBeGreaterThan(10);
});

const plain: Life = {
  id: 1,
  after: 10,
  mode: 'write',
  part: 'all',
  owner: undefined,
  leaseMs: undefined,
  waitMs: 5000,
  abortAfter: undefined,
  permits: 1,
  using: false,
  steps: [{ do: 'work', ms: 1000 }],
  end: 'release',
};

/** Two clients that want the same lock, the second while the first holds it and the server forgets its locks. */
function forgetful(kind: KindName): Plan {
  const permits = kind === 'semaphore' || kind === 'expirable permits';
  return {
    seed: 1,
    kind,
    parts: kind === 'multi' ? ['reentrant', 'fair'] : [],
    primaries: kind === 'redlock' ? 3 : 1,
    replicas: 0,
    latency: 1,
    jitter: 0,
    settings: { maxSleepMs: 100, placeMs: 300 },
    clients: ['ioredis', 'node-redis'],
    units: 1,
    tasks: [
      { client: 0, lives: [{ ...plain, ...(kind === 'latch' && { after: 5000 }) }] },
      { client: 1, lives: [{ ...plain, id: 2, after: 100, mode: kind === 'latch' ? 'read' : 'write' }] },
    ],
    // Permits that are not set do not exist: a client has to set them again.
    faults: [{ id: 1, at: 200, deed: { do: 'lose the locks', ...(permits && { permits: 1 }) } }],
  };
}

const expected: Partial<Record<KindName, Violation['rule']>> = {
  latch: 'latch', // A count that is gone is an open latch.
  semaphore: 'permits',
  'expirable permits': 'permits',
};

test.each(KINDS)('the judge sees when a server forgets its locks: %s', async (kind) => {
  const { violations, story } = await play(forgetful(kind));
  const rules = violations.map(({ rule }) => rule);
  expect(rules, story.join('\n')).toContain(expected[kind] ?? 'exclusion');
});

/** Two clients of a pair; the second one asks for the lock after faults have hit the first. */
function pairUnder(leaseMs: number, secondAfter: number, faults: readonly Deed[][]): Plan {
  return {
    ...forgetful('reentrant'),
    replicas: 1,
    settings: { leaseMs, maxSleepMs: 100, replicas: 1 },
    clients: ['ioredis', 'ioredis'],
    tasks: [
      { client: 0, lives: [{ ...plain, after: 60, steps: [{ do: 'work', ms: 3000 }] }] },
      { client: 1, lives: [{ ...plain, id: 2, after: secondAfter }] },
    ],
    faults: faults.flatMap((deeds, at) => deeds.map((deed) => ({ id: at, at, deed }))),
  };
}

const died: Deed = { do: 'failover', crash: 'everything', after: 0, backAfter: 5 };
const first = { client: 0, node: 0 };
const found: Record<Plant, Plan> = {
  'wait sent alone': pairUnder(5000, 400, at({ 50: holdsReplication(100), 70: died })),
  'renewals without replicas': pairUnder(
    600,
    1250,
    at({ 100: holdsReplication(1500), 1190: { do: 'stall client', ms: 1500, who: first }, 1200: died }),
  ),
  'leases on the wall clock': pairUnder(
    500,
    200,
    at({
      100: { do: 'step client clock', byMs: -5000, who: first },
      150: { do: 'stall client', ms: 2000, who: first },
    }),
  ),
  'late renewals do not count': longHold(
    'fair',
    3000,
    { leaseMs: 600 },
    at({ 100: { do: 'slow client', ms: 2500, byMs: 100, who: first } }),
  ),
  'refused releases are given up': longHold(
    'semaphore',
    1000,
    {},
    at({ 700: { do: 'refuse releases', ms: 800, node: 0, error: 'OOM' } }),
  ),
  'nothing is restored': longHold(
    'redlock',
    6000,
    { leaseMs: 600 },
    at({ 300: { do: 'restart empty', ms: 5, node: 0 }, 4500: { do: 'restart empty', ms: 5, node: 1 } }),
  ),
};

/** The rules that the judge finds broken. */
const broken: Record<Plant, Violation['rule']> = {
  'wait sent alone': 'exclusion',
  'renewals without replicas': 'exclusion',
  'leases on the wall clock': 'exclusion',
  'late renewals do not count': 'kept',
  'refused releases are given up': 'returned',
  'nothing is restored': 'kept',
};

/** One client holds a lock for a long time, and another one wants it. */
function longHold(
  kind: KindName,
  workMs: number,
  settings: Plan['settings'],
  faults: readonly Deed[][],
): Plan {
  const { tasks, ...plan } = pairUnder(600, 400, faults);
  const other = tasks[1] as Plan['tasks'][0];
  return {
    ...plan,
    kind,
    primaries: kind === 'redlock' ? 3 : 1,
    replicas: 0,
    settings: { maxSleepMs: 100, ...settings },
    tasks: [
      { client: 0, lives: [{ ...plain, after: 60, steps: [{ do: 'work', ms: workMs }] }] },
      { ...other, lives: other.lives.map((life) => ({ ...life, waitMs: 8000 })) },
    ],
  };
}

function holdsReplication(ms: number): Deed {
  return { do: 'hold replication', ms, node: 0, way: 'there' };
}

function at(deeds: Record<number, Deed>): Deed[][] {
  const all: Deed[][] = [];
  for (const [ms, deed] of Object.entries(deeds)) all[Number(ms)] = [deed];
  return Array.from(all, (each) => each ?? []);
}

test.each(PLANTS)(
  'the judge finds a defect that the locks once had, and nothing without it: %s',
  async (plant) => {
    const planted = await play(found[plant], { plant });
    const rules = planted.violations.map(({ rule }) => rule);
    expect(rules, planted.story.join('\n')).toContain(broken[plant]);
    const mended = await play(found[plant]);
    expect(mended.violations, mended.story.join('\n')).toEqual([]);
    expect(mended.grants).toBe(2);
  },
);

test('a failing plan is reduced to the smallest one that still fails', async () => {
  const plan = forgetful('reentrant');
  const [first, second] = plan.tasks as [Plan['tasks'][0], Plan['tasks'][0]];
  const idle = { ...plain, after: 4000, steps: [{ do: 'work', ms: 3 } as const] };
  const long: Plan = {
    ...plan,
    tasks: [
      { client: 1, lives: [{ ...idle, id: 3 }] },
      { client: 0, lives: [...first.lives, { ...idle, id: 4 }] },
      { client: 1, lives: [...second.lives, { ...idle, id: 5 }] },
    ],
    faults: [...plan.faults, { id: 2, at: 900, deed: { do: 'flush scripts' } }],
  };
  const { plan: small, outcome } = await shrink(long, await play(long));
  expect(livesOf(small)).toBe(2);
  expect(small.faults.map(({ id }) => id)).toEqual([1]);
  expect(outcome.violations.map(({ rule }) => rule)).toContain('exclusion');
  expect(await tellStory(small, outcome)).toContain('both believe that they hold L');
});
