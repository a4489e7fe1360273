/** Servers that are started and stopped many times leave no handle behind. */
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPair, startServer } from '../../index.ts';
import { sampleOf } from '../support/long.ts';
import { until } from '../support/until.ts';

/** The number of handles of each kind that can keep a process alive. */
function handles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

const sockets = (): number => (handles().TCPSocketWrap ?? 0) + (handles().TCPServerWrap ?? 0);

test('ten thousand starts and stops leave no handle behind', async () => {
  const before = { sockets: sockets(), timers: handles().Timeout ?? 0 };
  for (let i = 0; i < sampleOf(10_000, 300); i++) {
    const server = await startServer();
    if (i % 3 === 1) await useInMemory(server);
    if (i % 3 === 2) await useOverTcp(server.url);
    await server.stop();
  }
  await until(() => sockets() <= before.sockets, { what: 'the last socket to be gone' });
  await until(() => (handles().Timeout ?? 0) <= before.timers + 5, { what: 'the last timer to be gone' });
  expect(sockets()).toBeLessThanOrEqual(before.sockets);
});

async function useInMemory(server: { readonly connector: never | unknown }): Promise<void> {
  const redis = new Redis({ Connector: server.connector as never });
  await redis.set('k', 'v', 'PX', 60_000);
  redis.disconnect();
}

async function useOverTcp(url: string): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => null });
  redis.on('error', () => {});
  await redis.set('k', 'v', 'PX', 60_000);
  // Blocked when the server stops.
  redis.blpop('nothing', 0).catch(() => {});
  redis.disconnect();
}

test('pairs on the real clock, held, paused and crashed, leave no handle behind', async () => {
  const before = sockets();
  for (let i = 0; i < sampleOf(500, 15); i++) {
    const pair = await startPair({ clock: 'real' });
    const redis = pair.client('A', { maxRetriesPerRequest: 0 });
    await redis.set('k', 'v');
    if (i % 3 === 0) pair.link.hold();
    if (i % 3 === 1) pair.pause('redis-2');
    if (i % 3 === 2) await pair.primary.crash({ silent: i % 2 === 0 });
    await pair.close();
  }
  await until(() => sockets() <= before, { what: 'the last socket to be gone' });
  expect(sockets()).toBeLessThanOrEqual(before);
});
