/** Every kind of finding, found on the virtual clock, happens on real servers too. */
import { expect, test } from 'vitest';
import { type ExploreOptions, explore, type Replayed, replay } from '../../explore/index.ts';
import { isLongRun } from '../support/long.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { type Act, byHand, byToken, forEver, type Lengths, lock, runsScript, wrongRelease } from './locks.ts';

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
  // No requests are recorded there, which does not mean that there were none.
  expect(real.story).not.toMatch(/had no lock/);
});

const orphaned: Partial<ExploreOptions> = { client: lock(LENGTHS, byHand, forEver) };
const released: Partial<ExploreOptions> = { client: lock(LENGTHS, byHand), promises: [wrongRelease] };
const fenced: Partial<ExploreOptions> = { client: lock(LENGTHS, byToken, undefined, true) };
const scripted: Partial<ExploreOptions> = { client: lock(LENGTHS, byToken, runsScript(LENGTHS)) };

/** Worlds of the forms that explorations find, some of them after thousands of others. */
const worlds: readonly [what: string, text: string, part: Partial<ExploreOptions>, clients?: string][] = [
  ['an orphan after the reply to a grant is lost', 'lost-reply@1/A/0/0', orphaned],
  ['a wrong release after the reply to a release is lost', 'lost-reply@997/A/0/0', released],
  ['a wrong release after connections break', 'connection-reset@1004/A/0/0', released],
  ['a wrong release at a primary that stood still', 'node-pause@502/redis-1/4500/0', released],
  ['an orphan after connections break', 'connection-reset@1020/B/0/0', orphaned],
  [
    'an orphan after a primary hands over while a grant is under way',
    'failover@1020.51/redis-1/0/0/demote',
    orphaned,
  ],
  ['two holders after a write was under way to a new primary', 'read-only@2/redis-1/300/0', orphaned],
  ['a fence used twice after a write was under way to a new primary', 'read-only@4/redis-1/300/0', fenced],
  ['an orphan after a release that a replica refuses', 'read-only@997/redis-1/300/0', orphaned, 'A'],
  ['an orphan after a release that a busy server refuses', 'busy@511/redis-1/500/0', orphaned, 'A'],
  ['a fence used twice after a restart without data', 'restart-empty@1019/redis-1/20/0', fenced],
  ['two holders after a client was cut off', 'partition@2/A/2300/0', { client: lock(LENGTHS, byToken) }],
  [
    'two holders of a script that was refused before it was granted',
    'client-death@500/A/0/0/restart;failover-behind@3000/redis-1/20/100/crash',
    scripted,
  ],
];

/** On a busy machine, chance decides whether a node that stood still gets the release before or after the next grant. */
const played = worlds.filter(([what]) => isLongRun || !what.endsWith('stood still'));

test.skipIf(!hasRedisServer).each(played)(
  '%s (needs redis-server)',
  async (name, text, part, clients = 'A,B') => {
    const options = { name, clients: 2, client: lock(LENGTHS, byToken), ...part };
    const world = `1:1:0:${clients}:${text}:000000000000`;
    const virtual = await replay(options, world, { sameTrace: false });
    const real = await replay(options, world, { sameTrace: false, on: 'redis-server' });
    expect(real.story, writesOf(real)).toMatch(/ is broken on redis-server\n/);
    expect(real.breaches[0]?.promise).toBe(virtual.breaches[0]?.promise);
    expect(lostIn(real)).toEqual(lostIn(virtual));
  },
);

test.skipIf(!hasRedisServer)(
  'a fault that follows a release strikes after it (needs redis-server)',
  async () => {
    const releases: Act = async (session) => {
      await session.sleep(LENGTHS.work);
      return await byHand(session);
    };
    const options: ExploreOptions = { name: 'release', clients: 2, client: lock(LENGTHS, releases) };
    const text = '2:1:0:A,B:client-death@A.DEL.lock.1.executed/B:000000000000';
    const { history, story } = await replay(options, text, { on: 'redis-server' });
    expect(story).not.toContain('another order');
    const release = history.writes.find(({ command: [name = ''] }) => /^del$/i.test(name));
    const death = history.lines.find(({ what }) => what === 'dies');
    expect(release?.at).toBeLessThanOrEqual(death?.at as number);
  },
);

/** What was written, for the message of a play that went another way. */
function writesOf({ history }: Replayed): string {
  return history.writes
    .map(({ at, client, command }) => `${at} ms: ${client} ${command.join(' ')}`)
    .join('; ');
}

/** The acknowledged writes that are gone. */
function lostIn({ history }: Replayed): string[] {
  return history.lost.map(
    ({ client, command: [name = '', key] }) => `${client} ${name.toLowerCase()} ${key}`,
  );
}
