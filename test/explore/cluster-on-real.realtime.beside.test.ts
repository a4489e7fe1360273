/** Every kind of finding in a cluster, found on the virtual clock, happens in a cluster of real servers too. */
import { expect, test } from 'vitest';
import { type ExploreOptions, explore, replay } from '../../explore/index.ts';
import { isLongRun } from '../support/long.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { type Act, byHand, byToken, forEver, type Lengths, lock, setsToken, wrongRelease } from './locks.ts';

const SHORT: Lengths = { lease: 3000, work: 1000, retry: 20 };
/** The lease is over before a node that stands still would be replaced. */
const BRIEF: Lengths = { lease: 800, work: 400, retry: 20 };
/** The votes of the nodes take less time than the work in the virtual world. On real servers the clients wait for them. */
const LONG: Lengths = { lease: 10_000, work: 4000, retry: 50 };

/** Asks again after an error: without a primary, ioredis gives up sooner than the nodes decide. */
const patient =
  (take: Act): Act =>
  (session) =>
    take(session).catch(() => undefined);

/** Limits a test that hangs: a busy machine takes its time to explore clusters and to start six servers. */
const TIMEOUT = 240_000;

const short = patient(setsToken(SHORT));
const long = patient(setsToken(LONG));

const cluster = (what: string, part: Partial<ExploreOptions>): ExploreOptions => ({
  ...{ name: what, clients: 2, topology: { cluster: 3, replicas: 1 }, client: lock(LONG, byToken, long) },
  ...part,
});

/** Plays a world on the virtual clock and on real servers, where the same promise must break. Returns what real servers lost. */
async function confirm(options: ExploreOptions, text: string): Promise<readonly string[]> {
  const virtual = await replay(options, text, { sameTrace: false });
  const [first] = virtual.breaches;
  expect(first).toBeDefined();
  const real = await replay(options, text, { sameTrace: false, on: 'redis-server' });
  expect(real.story).toMatch(/ is broken on redis-server\n/);
  expect(real.breaches.map(({ promise }) => promise)).toContain(first?.promise);
  return real.history.lost.map(({ command }) => command.slice(0, 2).join(' ').toLowerCase());
}

test.skipIf(!hasRedisServer)(
  'what an exploration of a cluster finds happens on real servers (needs redis-server)',
  async () => {
    const stop = new AbortController();
    const options = cluster('two holders', {
      faults: ['failover-behind'],
      promises: ['mutual-exclusion'],
      budget: { worlds: 400, ms: Infinity },
      progress: ({ findings }) => findings > 0 && stop.abort(),
      signal: stop.signal,
    });
    const { findings } = await explore(options);
    expect(findings[0]?.notRepeatable).toBeUndefined();
    expect(await confirm({ ...options, progress: () => {} }, findings[0]!.replay)).toContain('set lock');
  },
  TIMEOUT,
);

/** Worlds of the forms that explorations find, written down in round figures. node-2 has the lock, node-1 the fences. */
const worlds: readonly [what: string, text: string, part: Partial<ExploreOptions>, lost?: string][] = [
  [
    'an orphan after a release that finds no primary until the votes are counted',
    'failover@3500/node-2/20/0/crash',
    { client: lock(LONG, byHand, forEver), clients: ['A'] },
  ],
  [
    'a wrong release at a primary that stood still',
    'node-pause@200/node-2/950/0',
    { client: lock(BRIEF, byHand, patient(setsToken(BRIEF))), promises: [wrongRelease] },
  ],
  [
    'an orphan after the reply to a grant is lost',
    'lost-reply@8/A/0/0',
    { client: lock(SHORT, byHand, forEver), clients: ['A'] },
  ],
  [
    'two holders after the votes for a replica that is behind',
    'failover-behind@7/node-2/20/100/crash',
    {},
    'set lock',
  ],
  [
    'two holders after a primary is cut off from the other nodes',
    'partition@6/node-2/15000/0/nodes',
    {},
    'set lock',
  ],
  ['two holders after a restart without data', 'restart-empty@500/node-2/20/0', {}, 'set lock'],
  ['two holders after a stall', 'client-pause@500/A/4500/0', { client: lock(SHORT, byToken, short) }],
  ['two holders after a delay', 'delay@6/A/20/3600/replies', { client: lock(SHORT, byToken, short) }],
  [
    'a fence used twice after an operator promotes a replica that is behind',
    'failover-behind@3/node-1/20/100/forced',
    { client: lock(LONG, byToken, long, true) },
    'incr fence',
  ],
  [
    'an acknowledged write lost by a replica that is behind',
    'failover-behind@7/node-2/20/100/forced',
    { promises: ['durable-acks'] },
    'set lock',
  ],
  ['an orphan after a death', 'client-death@500/A/0/0', { client: lock(SHORT, byHand, forEver) }],
  [
    'a wrong release after a stall',
    'client-pause@500/A/3000/0',
    { client: lock(SHORT, byHand, short), promises: [wrongRelease] },
  ],
];

/** On a busy machine, chance decides whether a node that stood still gets the release before or after the next grant. */
const played = worlds.filter(([what]) => isLongRun || !what.endsWith('stood still'));

test.skipIf(!hasRedisServer).each(played)(
  '%s (needs redis-server)',
  async (what, text, part, lost) => {
    const options = cluster(what, part);
    const names = options.clients === 2 ? 'A,B' : 'A';
    const found = await confirm(options, `1:1:0:${names}:${text}:000000000000`);
    if (lost === undefined) expect(found).toEqual([]);
    else expect(found).toContain(lost);
  },
  TIMEOUT,
);
