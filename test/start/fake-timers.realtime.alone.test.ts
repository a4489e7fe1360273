/** The server answers under the fake timers of test frameworks, and its TTLs follow the clock that the test chose. */
import { mock } from 'node:test';
import { install } from '@sinonjs/fake-timers';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';

/** The timers that can be faked under node-redis. It sends with setImmediate, so with that faked it reaches no redis-server either. */
const NOT_USED_TO_SEND = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] as const;

/** How each library installs and removes fake timers. Under all of them ioredis works with redis-server too. */
const fakes: Record<string, () => () => void> = {
  'vi.useFakeTimers()': () => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  },
  'mock.timers.enable() of node:test': () => {
    mock.timers.enable();
    return () => mock.timers.reset();
  },
  "Sinon's fake timers": () => {
    const clock = install({ toNotFake: ['nextTick', 'queueMicrotask'] });
    return () => clock.uninstall();
  },
};

let restore = () => {};
afterEach(() => restore());

describe.each(Object.entries(fakes))('under %s', (_name, fake) => {
  test.each(['over TCP', 'in memory'])(
    'an ioredis client that was connected before keeps working %s',
    async (way) => {
      const server = await startServer();
      const redis = ioredis(server, way);
      expect(await redis.set('k', 'before')).toBe('OK');
      restore = fake();
      expect(await redis.get('k')).toBe('before');
      expect(await redis.blpop('none', 0.01)).toBe(null);
      redis.disconnect();
      await server.stop();
    },
  );

  test.each(['over TCP', 'in memory'])(
    'a server and an ioredis client that start under the fakes work %s',
    async (way) => {
      restore = fake();
      const server = await startServer();
      const redis = ioredis(server, way);
      expect(await redis.set('k', 'v', 'PX', 5)).toBe('OK');
      const reply = await redis.blpop('none', 0.05); // Real time passes, though the fakes stand still.
      expect([reply, await redis.get('k')]).toEqual([null, null]);
      redis.disconnect();
      await server.stop();
    },
  );
});

test('a server that starts after fake timers were removed answers', async () => {
  const server = await startServer();
  const redis = new Redis(server.url);
  await redis.ping();
  vi.useFakeTimers();
  redis.ping().catch(() => {});
  await server.stop();
  vi.useRealTimers();
  redis.disconnect();
  await using later = await startServer();
  const second = new Redis(later.url);
  expect(await second.ping()).toBe('PONG');
  second.disconnect();
});

test.each(['before', 'after'])(
  'node-redis works when it connects %s Vitest fakes what it can do without',
  async (when) => {
    await using server = await startServer();
    const client = createClient({ url: server.url });
    const fake = () => {
      vi.useFakeTimers({ toFake: [...NOT_USED_TO_SEND] });
      restore = () => vi.useRealTimers();
    };
    if (when === 'after') fake();
    await client.connect();
    if (when === 'before') fake();
    expect(await client.set('k', 'v')).toBe('OK');
    expect(await client.get('k')).toBe('v');
    client.destroy();
  },
);

function ioredis(server: LostlockServer, way: string): Redis {
  return way === 'in memory' ? new Redis({ Connector: server.connector }) : new Redis(server.url);
}

test.each(Object.entries(fakes))(
  'a copy of the package that is loaded under %s uses real timers',
  async (_name, fake) => {
    restore = fake();
    vi.resetModules();
    const late = await import('../../index.ts');
    await using server = await late.startServer();
    const redis = new Redis(server.url);
    expect(await redis.set('k', 'v', 'PX', 5)).toBe('OK');
    expect(await redis.blpop('none', 0.05)).toBe(null);
    expect(await redis.get('k')).toBe(null);
    const [seconds] = await redis.time();
    expect(Number(seconds)).toBeGreaterThan(1_700_000_000);
    redis.disconnect();
  },
);
