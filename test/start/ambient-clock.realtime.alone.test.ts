/** `clock: 'ambient'`: a server whose time is the test's, faked or not. */
import { mock } from 'node:test';
import { install } from '@sinonjs/fake-timers';
import { Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { Talk } from '../support/talk.ts';
import { until } from '../support/until.ts';

let restore = () => {};
afterEach(() => restore());

/** What each library's fakes can do. */
interface Fake {
  advance(ms: number): void;
  restore(): void;
}

const fakes: Record<string, () => Fake> = {
  'vi.useFakeTimers()': () => {
    vi.useFakeTimers();
    return { advance: (ms) => vi.advanceTimersByTime(ms), restore: () => vi.useRealTimers() };
  },
  'mock.timers.enable() of node:test': () => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: Date.now() });
    return { advance: (ms) => mock.timers.tick(ms), restore: () => mock.timers.reset() };
  },
  "Sinon's fake timers": () => {
    const clock = install({ now: Date.now(), toNotFake: ['nextTick', 'queueMicrotask'] });
    return { advance: (ms) => clock.tick(ms), restore: () => clock.uninstall() };
  },
};

/** A server on the ambient clock, and a client that is subscribed to expired keys. */
async function setUp(): Promise<{ server: LostlockServer; redis: Redis; expired: string[] }> {
  const server = await startServer({ clock: 'ambient', settings: { 'notify-keyspace-events': 'Ex' } });
  const redis = new Redis(server.url);
  const listener = new Redis({ Connector: server.connector });
  const expired: string[] = [];
  listener.on('message', (_channel, key) => expired.push(key));
  await listener.subscribe('__keyevent@0__:expired');
  const stop = server.stop.bind(server);
  // tidy patches: the test's own clients end with the server
  server.stop = () => {
    redis.disconnect();
    listener.disconnect();
    return stop();
  };
  return { server, redis, expired };
}

test.each(Object.entries(fakes))('keys expire when %s is advanced', async (_name, install) => {
  const { server, redis, expired } = await setUp();
  const fake = install();
  restore = fake.restore;
  await redis.set('long', 'v', 'PX', 60_000);
  await redis.set('short', 'v', 'PX', 30_000);
  fake.advance(30_000);
  expect(await redis.get('short')).toBe('v'); // A key ends one millisecond after its deadline, as in Redis.
  fake.advance(1);
  expect(await redis.get('short')).toBe(null);
  expect(await redis.pttl('long')).toBe(29_999);
  fake.advance(60_000);
  await until(() => expired.length === 2, { what: 'both keys to end' });
  expect(expired).toEqual(['short', 'long']);
  await server.stop();
});

test("an expiry fires at its own time, in order with the test's timers", async () => {
  const { server, redis, expired } = await setUp();
  vi.useFakeTimers();
  restore = () => vi.useRealTimers();
  await redis.set('k', 'v', 'PX', 10_000);
  const sizes: number[] = [];
  const size = () => void sizes.push(server.node.db(0).size);
  setTimeout(size, 10_000);
  setTimeout(size, 10_002);
  vi.advanceTimersByTime(20_000);
  expect(sizes).toEqual([1, 0]);
  await until(() => expired.length === 1);
  await server.stop();
});

test('TTLs that were set before the fakes were installed or that outlive them expire', async () => {
  const { server, redis, expired } = await setUp();
  await redis.set('before', 'v', 'PX', 3_600_000);
  vi.useFakeTimers();
  restore = () => vi.useRealTimers();
  vi.setSystemTime(Date.now() + 3_600_001);
  await until(() => expired.length === 1, { what: "'before' to end", limitMs: 5000 });
  await redis.set('behind', 'v', 'PX', 3_600_050);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.useRealTimers();
  await redis.pexpire('behind', 5);
  await until(() => expired.length === 2, { what: "'behind' to end", limitMs: 5000 });
  expect(expired).toEqual(['before', 'behind']);
  await server.stop();
});

test('TIME and blocked clients also follow the fakes', async () => {
  const { server, redis } = await setUp();
  vi.useFakeTimers({ now: 1_000_000_000_000 });
  restore = () => vi.useRealTimers();
  expect((await redis.time()).map(Number)).toEqual([1_000_000_000, 0]);
  const blocked = redis.blpop('none', 60);
  await until(() => server.node.blocking.count === 1);
  vi.advanceTimersByTime(60_000);
  expect(await blocked).toBe(null);
  await server.stop();
});

test('without this option the fakes do not affect TTLs', async () => {
  await using server = await startServer();
  const talk = new Talk(server.node);
  await talk.ask('SET k v PX 60000');
  vi.useFakeTimers();
  restore = () => vi.useRealTimers();
  vi.advanceTimersByTime(120_000);
  expect(await talk.ask('GET k')).toBe('$1\r\nv\r\n');
});

test('an unknown clock is refused', async () => {
  await expect(startServer({ clock: 'faked' as never })).rejects.toThrow(
    "option clock is 'faked'; allowed: 'real' or 'ambient'",
  );
});
