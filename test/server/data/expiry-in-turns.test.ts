/** Very many keys that expire at once are removed in several turns of the event loop, and none is visible past its deadline. */
import { expect, test } from 'vitest';
import { DeadlineTable, NONE } from '../../../keyspace/expiry/deadlines.ts';
import { ExpiryWheel } from '../../../keyspace/expiry/wheel.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { createNode } from '../../../server/index.ts';
import { Talk } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';

const KEYS = 1000;
/** Expiry looks at the clock after every 8 keys. */
const PER_TURN = 3 * 8;

/** A server whose later turns are run by the test, and whose clock advances by a microsecond when someone looks at it. */
function setUp(limits: { expiryMicros?: number } = { expiryMicros: 3 }) {
  const host = new TestHost();
  const turns: (() => void)[] = [];
  host.clock.soon = (task) => {
    turns.push(task);
    return { cancel: () => void turns.splice(turns.indexOf(task), 1) };
  };
  let micros = 0;
  host.clock.micros = () => micros++;
  const server = createNode(Object.assign(host, limits), { settings: { 'notify-keyspace-events': 'Ex' } });
  const talk = new Talk(server);
  const listener = new Talk(server);
  return { host, server, turns, talk, listener };
}

/** The keys k0 to k999 expire one after the other, k999 first. */
const sets = Array.from({ length: KEYS }, (_, i) => `SET k${i} v PX ${60_000 + KEYS - i}`);
const latestFirst = Array.from({ length: KEYS }, (_, i) => `k${KEYS - 1 - i}`);

function expired(bytes: string): string[] {
  return [...bytes.matchAll(/\$\d+\r\n(k\d+)\r\n/g)].map(([, key = '']) => key);
}

test('a turn ends when its time is over, and the next one goes on in order of the deadlines', async () => {
  const { host, server, turns, talk, listener } = setUp();
  await listener.ask('SUBSCRIBE __keyevent@0__:expired');
  talk.send(...sets);
  await talk.hear((bytes) => bytes.length === 5 * KEYS);
  host.advance(60_000 + KEYS + 1);
  const sizes: number[] = [server.db(0).size];
  while (turns.length > 0) {
    expect(turns).toHaveLength(1);
    turns.shift()?.();
    sizes.push(server.db(0).size);
  }
  expect(sizes[0]).toBeGreaterThanOrEqual(KEYS - PER_TURN);
  for (let i = 1; i < sizes.length; i++) expect(sizes[i - 1]! - sizes[i]!).toBeLessThanOrEqual(PER_TURN);
  expect(sizes.at(-1)).toBe(0);
  const heard = await listener.hear((bytes) => expired(bytes).length === KEYS);
  expect(expired(heard)).toEqual(latestFirst);
});

test('every other turn is left to the replies', async () => {
  const { host, server, turns, talk } = setUp();
  talk.send(...sets);
  await talk.hear((bytes) => bytes.length === 5 * KEYS);
  host.advance(60_000 + KEYS + 1);
  while (turns.length > 0) {
    const before = server.db(0).size;
    turns.shift()?.();
    expect([server.db(0).size, turns.length]).toEqual([before, 1]);
    turns.shift()?.();
  }
  expect(server.db(0).size).toBe(0);
});

test('an expired key that is not yet removed is invisible, and only DBSIZE counts it', async () => {
  const { host, server, turns, talk, listener } = setUp();
  await listener.ask('SUBSCRIBE __keyevent@0__:expired');
  const sameInstant = sets.map((line) => line.replace(/PX \d+/, 'PX 60000'));
  talk.send(...sameInstant);
  await talk.hear((bytes) => bytes.length === 5 * KEYS);
  host.advance(60_001);
  while (server.db(0).size === KEYS) turns.shift()?.(); // At first they are only sorted.
  const stored = server.db(0).size;
  expect(stored).toBeGreaterThanOrEqual(KEYS - PER_TURN);
  expect(await talk.ask('DBSIZE')).toBe(`:${stored}\r\n`);
  expect(await talk.ask('GET k999', 'EXISTS k998', 'TTL k997', 'SET k996 new NX', 'TYPE k995')).toBe(
    '$-1\r\n:0\r\n:-2\r\n+OK\r\n+none\r\n',
  );
  expect(server.db(0).size).toBe(stored - 4);
  expect(await talk.ask('KEYS *')).toBe('*1\r\n$4\r\nk996\r\n');
  expect(turns).toHaveLength(1); // Requests in between do no further part of the work.
  while (turns.length > 0) turns.shift()?.();
  expect(await talk.ask('DBSIZE', 'RANDOMKEY')).toBe(':1\r\n$4\r\nk996\r\n');
  const heard = expired(await listener.hear((bytes) => expired(bytes).length === KEYS));
  expect(new Set(heard).size).toBe(KEYS);
});

test('a TTL that is set or removed meanwhile takes effect', async () => {
  const { host, server, turns, talk } = setUp();
  talk.send(...sets.map((line) => line.replace(/PX \d+/, 'PX 60000')));
  await talk.hear((bytes) => bytes.length === 5 * KEYS);
  host.advance(60_001);
  expect(await talk.ask('SET soon v PX 5', 'SET later v PX 50', 'SET kept v PX 5', 'PERSIST kept')).toBe(
    '+OK\r\n+OK\r\n+OK\r\n:1\r\n',
  );
  while (turns.length > 0) turns.shift()?.();
  host.advance(6);
  expect([...server.db(0).entries.keys()]).toEqual(['later', 'kept']);
  host.advance(50);
  expect([...server.db(0).entries.keys()]).toEqual(['kept']);
});

test('a host without a limit, such as the lab, expires all due keys at their instants', async () => {
  const { host, server, turns, talk } = setUp({});
  talk.send(...sets);
  await talk.hear((bytes) => bytes.length === 5 * KEYS);
  host.advance(60_000 + 10 + 1);
  expect([server.db(0).size, turns.length]).toEqual([KEYS - 10, 0]);
  expect(nodeHost().expiryMicros).toBeGreaterThan(0);
});

/** The keys that are left after so many milliseconds, though nobody looks at them. */
async function leftAfter(commands: readonly string[], ms: readonly number[]): Promise<string[][]> {
  const { host, server, talk } = setUp({});
  // The timer is set after each of them.
  for (const command of commands) await talk.ask(command);
  return ms.map((each, i) => {
    host.advance(each - (ms[i - 1] ?? 0));
    return [...server.db(0).entries.keys()];
  });
}

test('the timer follows a deadline that is a millisecond earlier', async () => {
  const left = await leftAfter(['SET late v PX 1000', 'SET early v PX 999'], [999, 1000, 1001]);
  expect(left).toEqual([['late', 'early'], ['late'], []]);
});

test('the timer follows a lock that was renewed, and one that was released', async () => {
  const renewed = await leftAfter(['SET lock v PX 100', 'PEXPIRE lock 1500'], [101, 1500, 1501]);
  expect(renewed).toEqual([['lock'], ['lock'], []]);
  const released = await leftAfter(['SET lock v PX 100', 'DEL lock', 'SET next v PX 200'], [101, 200, 201]);
  expect(released).toEqual([['next'], ['next'], []]);
});

test('a stopped server runs no further turns', async () => {
  const { host, server, turns, talk } = setUp();
  talk.send(...sets);
  await talk.hear((bytes) => bytes.length === 5 * KEYS);
  host.advance(70_000);
  expect(turns).toHaveLength(1);
  server.stop();
  expect(turns).toHaveLength(0);
});

test('the wheel moves no more nodes at a time than it is allowed to, and loses none of them', () => {
  const table = new DeadlineTable();
  const wheel = new ExpiryWheel(table);
  const nodes = Array.from({ length: 5000 }, (_, name) => table.add(0, String(name)));
  for (const node of nodes) wheel.arm(node, 1_700_000_000_000 + 3_600_000 + (Number(table.key(node)) % 1000));
  const due = 1_700_000_000_000 + 3_601_000;
  let pauses = 0;
  while (!wheel.prepare(due, 100)) {
    if (pauses++ === 3) for (const node of nodes.slice(10, 20)) wheel.disarm(node);
    expect(wheel.next()).toBeLessThan(due);
  }
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(4990 / 100) - 1);
  const popped: number[] = [];
  for (let node = wheel.popDue(due); node !== NONE; node = wheel.popDue(due))
    popped.push(table.expiresAt(node));
  expect(popped).toEqual([...popped].sort((a, b) => a - b));
  expect([popped.length, wheel.size]).toEqual([4990, 0]);
});
