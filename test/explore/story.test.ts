/** Stories of broken promises: the events that are never left out, the sentence before them, and how to see the world. */
import { expect, test } from 'vitest';
import type { FreedBy } from '../../explore/cause/freeing.ts';
import type { Cause } from '../../explore/cause/reason.ts';
import {
  type ClientSession,
  type ExploreOptions,
  explore,
  type History,
  replay,
} from '../../explore/index.ts';
import { preventionOf } from '../../explore/story/blame.ts';
import { storyOf } from '../../explore/story/story.ts';
import { numberText, seeText, timeText } from '../../explore/story/text.ts';
import { playBroken } from './play-finding.ts';

const LEASE = 1000;

/** Enters again and again; the release deletes whatever is there. */
async function blind({ redis, name, sleep, signal, resource }: ClientSession): Promise<void> {
  while (
    (await redis.set('lock', `${name}:${Math.random()}`, 'PX', LEASE, 'NX').catch(() => null)) !== 'OK'
  ) {
    if (signal.aborted) return;
    await sleep(50);
  }
  const inside = resource('stock').enter();
  console.log(`${name} works`);
  for (let i = 0; i < 20; i++) {
    await sleep(12);
    inside.write();
  }
  inside.leave();
  await redis.del('lock').catch(() => 0);
}

const options: ExploreOptions = {
  ...{ name: 'lock', client: blind, topology: { replicas: 0 }, clients: 3, promises: ['mutual-exclusion'] },
};

test('a DEL that was sent again: who freed the lock, why it came twice, both grants and both entries are told', async () => {
  const [finding] = (await explore({ ...options, faults: ['lost-reply'], budget: { worlds: 120 } })).findings;
  const { cause, breach } = await playBroken(options, finding!.replay);
  const [first, second] = cause.entries.map(({ client }) => client);
  const third = cause.freedBy!.by;
  const lines = finding!.events.map(({ at, who, text }) => `${at.toFixed(2)} ${who} ${text}`);
  const at = (ms: number): string => ms.toFixed(2);
  const [one, other] = cause.grants;
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        `^${at(one!.executed!)} ${first} SET lock ${first}:\\S+ PX 1000 NX on redis-1: granted until `,
      ),
      `${at(cause.entries[0]!.at)} ${first} enters stock`,
      `${at(cause.twice[0]!.first.executed!)} ${third} DEL lock on redis-1 is executed, but the reply is lost`,
      `${at(cause.freedBy!.at)} ${third} DEL lock on redis-1, sent again, deletes the lock of ${first}`,
      expect.stringMatching(
        `^${at(other!.executed!)} ${second} SET lock ${second}:\\S+ PX 1000 NX on redis-1: granted until `,
      ),
      `${at(cause.entries[1]!.at)} ${second} enters stock`,
    ]),
  );
  expect(lines.at(-1)).toBe(`${at(breach.at)} * mutual-exclusion is broken: ${breach.what}`);
  expect(finding!.events.length).toBeLessThanOrEqual(12);
  expect(finding!.story.split('\n').slice(0, 2)).toEqual([
    'lock: mutual-exclusion is broken (lost-reply)',
    `${second} got the lock while ${first} was inside: ${third}'s DEL was sent again after a lost reply, and deleted ${first}'s lock.`,
  ]);
  expect(finding!.story).toMatch(/\nprevented by: a release that compares the token/);
  expect(finding!.story).toContain(`${second}     prints "${second} works"`);
});

test('a lease reads until when it lasts, and its end is an event', async () => {
  const plan = {
    ...{ seed: 1, clients: ['A', 'B'], jitter: 0 },
    faults: [{ kind: 'client-pause' as const, at: 30, on: 'A', ms: 1500, by: 0, how: '' as const }],
  };
  const { world, breach } = await playBroken(options, plan);
  const { events, sentence } = storyOf(world, breach, 'lock');
  const texts = events.map(({ who, text }) => `${who} ${text}`);
  expect(texts).toContainEqual(
    expect.stringMatching(/^A SET lock A:\S+ PX 1000 NX on redis-1: granted until 1,00\d ms$/),
  );
  expect(texts).toContain("redis-1 the lease of A's lock ends");
  expect(texts).toContain('A is paused for 1500 ms');
  expect(sentence).toMatch(/^B got the lock while A was inside: A's lease ended at 1,00\d ms\.$/);
});

test('a late message is told with how late it was, and the error of a server with how often', async () => {
  const plan = (fault: object) =>
    ({ seed: 1, clients: ['A', 'B', 'C'], jitter: 0, faults: [fault] }) as never;
  const late = await playBroken(
    options,
    plan({ kind: 'delay', at: 0.5, on: 'A', ms: 1400, by: 1200, how: 'replies' }),
  );
  const events = storyOf(late.world, late.breach, 'lock').events;
  const found = events.find(({ text }) => text.includes('the reply to its SET NX arrives'));
  const grant = late.cause.grants.find(({ client }) => client === 'A')!;
  expect(found).toMatchObject({ who: 'A', at: grant.answered });
  expect(found!.text).toMatch(/ 1,200 ms late$/);

  const swallowing = async ({ redis, name, sleep, signal, resource }: ClientSession): Promise<void> => {
    while (!signal.aborted) {
      if ((await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => 'OK')) === 'OK') break;
      await sleep(20);
    }
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
    await redis.eval(
      "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0",
      1,
      'lock',
      name,
    );
  };
  const own: ExploreOptions = { ...options, client: swallowing, faults: ['out-of-memory'] };
  const [finding] = (await explore({ ...own, budget: { worlds: 60 } })).findings;
  expect(finding!.story).toMatch(/ redis-1 {2}answers OOM (?:to|\d+ times, first to) [ABC]'s SET NX\n/);
  expect(finding!.story).toMatch(/ had no lock, because it was answered OOM\.\n/);
});

test('a promise may say when, where and who: then its story has their grants, and the events that it names', async () => {
  const said = ({ visits }: History) => {
    const [one, other] = [visits[0]!, visits[1]!];
    return {
      ...{ what: `${other.client} came after ${one.client}`, at: other.from, resource: 'stock' },
      clients: [one.client, other.client],
      events: [{ at: other.from, who: other.client, text: 'is the second' }],
    };
  };
  const own: ExploreOptions = { ...options, faults: [], promises: [said], clients: 2 };
  const [finding] = (await explore({ ...own, budget: { worlds: 3 } })).findings;
  const { breaches } = await replay(own, finding!.replay);
  expect(breaches[0]).toMatchObject({
    promise: 'said',
    visits: [0, 1],
    clients: ['A', 'B'],
    resource: 'stock',
  });
  const texts = finding!.events.map(({ who, text }) => `${who} ${text}`);
  expect(texts.filter((text) => /^[AB] SET /.test(text))).toHaveLength(2);
  expect(texts).toEqual(expect.arrayContaining(['A enters stock', 'B enters stock', 'B is the second']));
  expect(finding!.events.at(-1)!.at).toBe(breaches[0]!.at);
  expect(finding!.story.split('\n')[1]).toBe('B came after A.');
});

test('a promise that returns something else is told by name', async () => {
  const later = (async () => 'wrong') as never;
  const own: ExploreOptions = { ...options, faults: [], promises: [Object.assign(later, {})], clients: 2 };
  const [finding] = (await explore({ ...own, budget: { worlds: 2 } })).findings;
  expect(finding).toMatchObject({ promise: 'no-error' });
  expect(finding!.what).toMatch(
    /^the promise later returns Promise .*it must return a text, an object with `what`/,
  );
});

test('times and lines to copy', () => {
  expect([numberText(1015), numberText(999), numberText(1234567.5)]).toEqual(['1,015', '999', '1,234,567.5']);
  expect(timeText(1014.96)).toBe('1,015 ms');
  expect(seeText('', 'a.ts')).toBe('');
  expect(seeText('1:1:0:A,B::0123456789ab', 'a.ts')).toBe(
    "replay: 1:1:0:A,B::0123456789ab\nsee it: npx lostlock explore a.ts --replay '1:1:0:A,B::0123456789ab' --timeline world.html",
  );
});

test('what would have prevented a fence that came twice is said of the counter, not of the lock', () => {
  const freedBy = { how: 'lost', what: 'the failover to redis-2' } as FreedBy;
  const cause = { freedBy, twice: [], entries: [], shape: 'first holder by SET NX' } as unknown as Cause;
  const exclusion = { promise: 'mutual-exclusion' } as const;
  expect(preventionOf(cause, exclusion)).toMatch(/^a fencing token/);
  expect(preventionOf({ ...cause, shape: `fences: ${cause.shape}` }, exclusion)).toMatch(
    /^a counter of fences that a failover/,
  );
});

test('work that is done twice has one cure, whatever caused it, and a fence is none', () => {
  const freedBy = { how: 'lost', what: 'the failover to redis-2' } as FreedBy;
  const lost = { freedBy, twice: [], entries: [], shape: 'first holder by SET NX' } as unknown as Cause;
  const expired = { ...lost, freedBy: { ...freedBy, how: 'clock' } as FreedBy };
  const KEY = 'an idempotency key, such as the id of the job, where its effect is';
  expect(preventionOf(lost, { promise: 'once' })).toBe(`${KEY}; WAIT before going in makes it rarer`);
  expect(preventionOf(expired, { promise: 'once' })).toBe(`${KEY}; servers' clocks that are never set`);
});

test('the story says what freed a lock that came of an overwriting, and whose fault it is', async () => {
  const { findings } = await explore({
    name: 'renews blindly',
    clients: 3,
    budget: { worlds: 20 },
    seed: 1,
    faults: ['node-pause'],
    promises: ['mutual-exclusion'],
    async client({ redis, name, sleep, resource }) {
      while ((await redis.set('lock', name, 'PX', LEASE, 'NX')) !== 'OK') await sleep(50);
      const inside = resource('stock').enter();
      for (let i = 0; i < 3; i++) {
        await sleep(LEASE / 3);
        inside.write();
        await redis.set('lock', name, 'PX', LEASE);
      }
      inside.leave();
      if ((await redis.get('lock')) === name) await redis.del('lock');
    },
  });
  const story =
    findings.map((each) => each.story).find((text) => /overwrites the lock of [ABC]\n/.test(text)) ?? '';
  expect(story).toMatch(
    /SET lock (\w) PX 1000 on redis-1 overwrites the lock of [^\n]*\n(?:[^\n]*\n)*[^\n]* \1 +DEL lock on redis-1 removes lock\n/,
  );
  expect(story).toMatch(/\nat fault: the code of (\w): its SET\n/);
});
