/** Explorations of locks in a cluster, whose nodes decide on failovers by their votes. */
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, replay } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';

const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
/** Virtual milliseconds. The votes take less time than the work. */
const [LEASE, WORK, RETRY] = [10_000, 4000, 50];

async function tokenLock({ name, redis, sleep, resource }: ClientSession): Promise<void> {
  const take = () => redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => null);
  while ((await take()) !== 'OK') await sleep(RETRY);
  const inside = resource('stock').enter();
  await sleep(WORK);
  inside.write();
  inside.leave();
  await redis.eval(RELEASE, 1, 'lock', name);
}

async function fencedLock({ redis, sleep, resource }: ClientSession): Promise<void> {
  await using locks = createLocks(redis, { replicas: 1 });
  const held = await locks.fenced('lock', { fence: 'clock' }).acquire({ leaseMs: LEASE });
  const inside = resource('stock').enter({ fence: held.fence as number });
  await sleep(WORK);
  inside.write();
  inside.leave();
  await held.release().catch(() => undefined);
}

const options: ExploreOptions = {
  name: 'lock in a cluster',
  topology: { cluster: 3, replicas: 1 },
  clients: 2,
  promises: ['mutual-exclusion', 'durable-acks'],
  client: tokenLock,
};

/** The primary of the lock's slot crashes when its replica has not seen the lock; `how` says who promotes the replica. */
const behind = (how: string): string => `1:1:0:A,B:failover-behind@6/node-2/20/100/${how}:0123456789ab`;

test.each([
  ['crash', 'the votes of the other primaries'],
  ['forced', 'an operator'],
])('a lock that the promoted node has never seen is lost: %s (promoted by %s)', async (how) => {
  const { breaches, history } = await replay(options, behind(how), { sameTrace: false });
  expect(breaches.map(({ promise }) => promise)).toContain('mutual-exclusion');
  expect(breaches.map(({ promise }) => promise)).toContain('durable-acks');
  const lines = history.lines.map(({ who, what }) => `${who} ${what}`);
  expect(lines).toContain('node-2 crashes');
  expect(lines.join('\n')).toMatch(/node-5 is promoted; .*acknowledged writes? (?:is|are) lost: SET lock A/);
  expect(history.lanes).toEqual(expect.arrayContaining(['A', 'B', 'node-1', 'node-6']));
});

test('a lock that waits for its replica, and a resource that checks fences, survive the same', async () => {
  const safe = { ...options, client: fencedLock };
  const { breaches, history } = await replay(safe, behind('forced'), { sameTrace: false });
  expect(breaches.filter(({ promise }) => promise === 'mutual-exclusion')).toEqual([]);
  expect(history.lines.map(({ what }) => what).join('\n')).toMatch(/is promoted/);
  expect(history.visits.map(({ client }) => client)).toEqual(expect.arrayContaining(['A', 'B']));
});
