/** Clients of a world that are awaited outside of it: the test says why it waits, and no client reaches the real 127.0.0.1. */
import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import type { Pair } from '../../../lab/pair.ts';
import { startCluster, startPair, startServers } from '../../../lab/start.ts';

afterEach(() => vi.restoreAllMocks());

/** A queue that is made in the world, as an actor. */
async function queueIn(pair: Pair, name: string) {
  return await pair.actor(name).run(() => {
    const redis = new Redis(pair.url);
    redis.on('error', () => {});
    return { add: (job: string) => redis.rpush('jobs', job), redis };
  });
}

test('a command that is awaited outside of its world says why it waits, once, and what helps', async () => {
  const warned: string[] = [];
  const first = new Promise<void>((resolve) => {
    // Worlds that tests of other files have left in this process are told too.
    const take = (text: string): void => {
      if (text.includes('mailer')) resolve(void warned.push(text));
    };
    vi.spyOn(console, 'warn').mockImplementation(take);
  });
  await using idle = await startPair();
  await idle.synchronize();
  await using closed = await startPair();
  await queueIn(closed, 'gone');
  await closed.close();
  await using pair = await startPair();
  const queue = await queueIn(pair, 'mailer');
  const added = queue.add('one');
  await first;
  expect(await pair.until(added)).toBe(1);
  const later = await pair.actor('mailer').run(() => ({ added: queue.add('two') }));
  expect(await pair.until(later.added)).toBe(2);
  expect(warned).toEqual([
    expect.stringMatching(
      /^lostlock: nobody moves the time of this world, and in it mailer waits for redis-1\. .* await pair\.until\(promise\), or .* actor\.run/,
    ),
  ]);
  await pair.actor('mailer').run(() => queue.redis.disconnect());
});

test('a process that waits for nothing else says so when it ends', () => {
  const flags = ['--import', './test/support/loader/register.mjs'];
  const { stderr } = spawnSync(process.execPath, [...flags, 'test/lab/virtual/standing-main.ts'], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(
    /lostlock: nobody moves the time of this world, and in it worker waits for redis-1\./,
  );
});

test('the URLs of virtual nodes lead nowhere outside of their world, and what servers announce stays 127.0.0.1', async () => {
  await using pair = await startPair({ sentinels: 1 });
  await using servers = await startServers({ primaries: 2 });
  expect(pair.url).toMatch(/^redis:\/\/redis-1\.lostlock\.invalid:\d+$/);
  expect(servers.sets.map(({ url }) => new URL(url).hostname)).toEqual([
    'redis-1.lostlock.invalid',
    'redis-2.lostlock.invalid',
  ]);
  const { hostname: host, port } = new URL(pair.url);
  await expect(lookup(host)).rejects.toThrow(host);
  const socket = connect(Number(port), host);
  const failed = await new Promise<Error>((resolve) => socket.once('error', resolve));
  expect(failed.message).toContain(host);
  const inside = await queueIn(pair, 'worker');
  const replies = await pair.run(() => Promise.all([inside.redis.role(), inside.redis.info('replication')]));
  expect(JSON.stringify(replies)).toContain('127.0.0.1');
  expect(JSON.stringify(replies)).not.toContain('lostlock.invalid');
  await pair.actor('worker').run(() => inside.redis.disconnect());
});

test('a cluster of the lab announces 127.0.0.1', async () => {
  await using cluster = await startCluster({ clock: 'virtual', primaries: 3, replicas: 0 });
  const slots = await cluster.client('A').cluster('SLOTS');
  expect(JSON.stringify(slots)).toContain('127.0.0.1');
});
