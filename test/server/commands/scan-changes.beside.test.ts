/**
 * Scans while the collection changes, grows and shrinks, compared with redis-server: items that stay are returned exactly once, and
 * nothing is returned twice.
 */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { Beside } from '../../support/beside/beside.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { type RawReply, request } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

/** One kind of collection: how it is scanned, added to and removed from. */
interface Kind {
  readonly scan: (cursor: string, count: string) => string[];
  /** Words of a reply for each item. */
  readonly width: number;
  readonly add: (items: readonly string[]) => string[];
  readonly remove: (items: readonly string[]) => string[];
}

const KINDS: Record<string, Kind> = {
  SSCAN: {
    scan: (cursor, count) => ['SSCAN', 'c', cursor, 'COUNT', count],
    width: 1,
    add: (items) => ['SADD', 'c', ...items],
    remove: (items) => ['SREM', 'c', ...items],
  },
  HSCAN: {
    scan: (cursor, count) => ['HSCAN', 'c', cursor, 'COUNT', count],
    width: 2,
    add: (items) => ['HSET', 'c', ...items.flatMap((item) => [item, 'v'])],
    remove: (items) => ['HDEL', 'c', ...items],
  },
  ZSCAN: {
    scan: (cursor, count) => ['ZSCAN', 'c', cursor, 'COUNT', count],
    width: 2,
    add: (items) => ['ZADD', 'c', ...items.flatMap((item) => [String(item.length), item])],
    remove: (items) => ['ZREM', 'c', ...items],
  },
  SCAN: {
    scan: (cursor, count) => ['SCAN', cursor, 'COUNT', count],
    width: 1,
    add: (items) => ['MSET', ...items.flatMap((item) => [item, 'v'])],
    remove: (items) => ['DEL', ...items],
  },
};

/** The changes between two calls of the scan, by call number. */
interface Course {
  readonly size: number;
  readonly count: number;
  /** How many items are removed and how many are added before the call of that number. */
  changes(call: number): { readonly goes: number; readonly comes: number };
  /** Removed items are added again two calls later. */
  readonly returns?: boolean;
}

const COURSES: Record<string, Course> = {
  'one goes': { size: 600, count: 10, changes: (call) => ({ goes: call === 1 ? 1 : 0, comes: 0 }) },
  'one goes before each call': { size: 600, count: 7, changes: () => ({ goes: 1, comes: 0 }) },
  'one comes and one goes': { size: 600, count: 13, changes: () => ({ goes: 1, comes: 1 }) },
  'the table grows eightfold': {
    size: 600,
    count: 20,
    changes: (call) => ({ goes: 0, comes: call < 28 ? 150 : 0 }),
  },
  'the table shrinks to a twentieth': { size: 4000, count: 50, changes: () => ({ goes: 400, comes: 0 }) },
  'it grows, then shrinks': {
    size: 1000,
    count: 25,
    changes: (call) => (call < 10 ? { goes: 0, comes: 500 } : { goes: 900, comes: 0 }),
  },
  'those that go come back': { size: 900, count: 11, changes: () => ({ goes: 5, comes: 1 }), returns: true },
};

function texts(value: RawReply): string[] {
  return (value[1] as readonly RawReply[]).map(([, text]) => text as string);
}

/** How often each item was returned by one full scan under a course, and which were there all the time. */
async function scanned(client: RawClient, kind: Kind, course: Course) {
  const ask = async (words: readonly string[]) => {
    const [name = '', ...rest] = words;
    await client.send(request(name, ...rest));
    return (await client.read()).value;
  };
  const items = Array.from({ length: course.size }, (_, i) => `item:${i}`);
  await ask(kind.add(items));
  // A twentieth stays, spread over all.
  const going = items.filter((_, i) => i % 20 !== 0).sort((a, b) => (a.endsWith('7') ? -1 : b < a ? 1 : -1));
  const staying = items.filter((_, i) => i % 20 === 0);
  const gone: string[][] = [];
  const seen = new Map<string, number>();
  let [cursor, call, fresh] = ['0', 0, 0];
  do {
    const answer = await ask(kind.scan(cursor, String(course.count)));
    const [next, found] = answer[1] as readonly RawReply[];
    for (const [i, item] of texts(found!).entries()) {
      if (i % kind.width === 0) seen.set(item, (seen.get(item) ?? 0) + 1);
    }
    cursor = next![1] as string;
    const { goes, comes } = course.changes(++call);
    const removed = going.splice(0, goes);
    if (removed.length > 0) await ask(kind.remove(removed));
    gone.push(removed);
    const back = course.returns === true ? (gone[call - 3] ?? []) : [];
    const added = [...Array.from({ length: comes }, () => `new:${fresh++}`), ...back];
    if (added.length > 0) await ask(kind.add(added));
    if (call < 40) going.push(...added);
  } while (cursor !== '0');
  await ask(['FLUSHALL']);
  return {
    calls: call,
    missed: staying.filter((item) => !seen.has(item)),
    twice: [...seen].filter(([, times]) => times > 1).map(([item]) => item),
  };
}

const RUNS = Object.keys(KINDS).flatMap((kind) =>
  Object.keys(COURSES).map((course) => [kind, course] as const),
);

test.skipIf(!hasRedisServer).each(RUNS)(
  '%s, %s: a scan misses no item and returns none twice (needs redis-server)',
  async (kind, course) => {
    await using both = await Beside.start();
    const theirs = await scanned(both.theirs, KINDS[kind]!, COURSES[course]!);
    const ours = await scanned(both.ours, KINDS[kind]!, COURSES[course]!);
    expect(theirs.missed).toEqual([]);
    expect(ours.calls).toBeGreaterThan(3);
    expect({ missed: ours.missed, twice: ours.twice }).toEqual({ missed: [], twice: [] });
  },
);

test('two scans of one collection do not disturb each other', () => {
  const redis = new Conversation(createNode(new TestHost()));
  for (const kind of Object.values(KINDS)) {
    redis.ask('FLUSHALL');
    const items = Array.from({ length: 600 }, (_, i) => `item:${i}`);
    redis.ask(kind.add(items).join(' '));
    const cursors = ['0', '0'];
    const seen: string[][] = [[], []];
    for (let turn = 0; ; turn++) {
      const which = turn % 2;
      if (turn > 1 && cursors[which] === '0') break;
      const answer = redis.ask(kind.scan(cursors[which]!, which === 0 ? '60' : '90').join(' '));
      cursors[which] = /^\["(\d+)"/.exec(answer)![1]!;
      seen[which]!.push(...(answer.match(/item:\d+/g) ?? []));
      redis.ask(kind.remove([`item:${turn}`]).join(' '));
    }
    for (const found of seen) expect(new Set(found).size).toBe(found.length);
  }
});

test('slots that scans no longer need are reused, so a collection that turns over stays small', () => {
  const server = createNode(new TestHost());
  const redis = new Conversation(server);
  redis.ask(`SADD c ${Array.from({ length: 200 }, (_, i) => `first:${i}`).join(' ')}`);
  const [, cursor = ''] = /^\["(\d+)"/.exec(redis.ask('SSCAN c 0 COUNT 10')) ?? [];
  for (let i = 0; i < 2000; i++) {
    redis.ask(`SADD c turn:${i}`);
    redis.ask(`SREM c turn:${i}`);
  }
  const rest = redis.ask(`SSCAN c ${cursor} COUNT 1000`).match(/first:\d+/g);
  expect(rest).toHaveLength(190);
});
