/** A pair on the real clock, over TCP: the lost lock, links, crashes and options. */
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPair, startServers } from '../../index.ts';
import { until } from '../support/until.ts';

test('the lost lock: held replication, a crash, a promotion, and a second holder', async () => {
  await using pair = await startPair({ clock: 'real' });
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('kept', '1');
  expect(await a.wait(1, 0)).toBe(1);
  pair.link.hold();
  expect(await a.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  const old = pair.primary.name;
  const { lost, from, to } = await pair.failover({ crash: true });
  expect(lost).toMatchObject([{ key: 'my:lock', holder: 'A', client: 'A' }]);
  expect([from, to]).toEqual([old, pair.primary.name]);
  expect(await b.set('my:lock', 'B', 'PX', 30_000, 'NX')).toBe('OK');
  expect(await b.get('kept')).toBe('1');
  await pair.restart(old);
  pair.link.release();
  await pair.synchronize();
  expect(await new Reader(pair.replica.port).get('my:lock')).toBe('B');
  expect(pair.lost).toEqual(lost);
});

class Reader {
  readonly port: number;
  constructor(port: number) {
    this.port = port;
  }
  async get(key: string): Promise<string | null> {
    const redis = new Redis(this.port);
    const value = await redis.get(key);
    redis.disconnect();
    return value;
  }
}

test('WAIT tells what a held, a released, a partitioned and a healed link has let through', async () => {
  await using pair = await startPair({ clock: 'real', replicas: 2 });
  const redis = pair.client('A');
  pair.link.hold();
  await redis.set('a', '1');
  expect(await redis.wait(2, 50)).toBe(1);
  pair.link.release();
  expect(await redis.wait(2, 0)).toBe(2);
  pair.link.partition();
  await redis.set('b', '1');
  expect(await redis.wait(2, 50)).toBe(1);
  pair.link.heal();
  expect(await redis.wait(2, 0)).toBe(2);
  pair.link.acks.hold();
  await redis.set('c', '1');
  expect(await redis.wait(2, 50)).toBe(1);
  await until(async () => (await new Reader(pair.replica.port).get('c')) === '1');
  pair.link.acks.release();
  expect(await redis.wait(2, 0)).toBe(2);
});

test('a failover that leaves the primary alive demotes it, and clients follow', async () => {
  await using pair = await startPair({ clock: 'real', replicas: 2 });
  const redis = pair.client('A');
  await redis.set('k', '1');
  await redis.wait(2, 0);
  const { lost, to } = await pair.failover({ to: 'redis-3' });
  expect([lost, to]).toEqual([[], 'redis-3']);
  await until(async () => (await redis.set('k', '2').catch(() => '')) === 'OK', { what: 'the new primary' });
  await pair.synchronize();
  expect(pair.primary.server.replication.counters).toMatchObject({ full: 0, partial: 2 });
});

test('a node that keeps everything comes back with it, one that keeps nothing is empty', async () => {
  await using servers = await startServers({ clock: 'real', primaries: 2 });
  const clients = servers.clients('A');
  await Promise.all(clients.map((redis) => redis.set('k', '1')));
  const [first, second] = servers.nodes;
  await first?.crash({ keep: 'everything' });
  await second?.crash();
  expect(first?.up).toBe(false);
  await Promise.all([first?.restart(), second?.restart()]);
  expect(await Promise.all(clients.map((redis) => redis.get('k')))).toEqual(['1', null]);
});

test('a wrong option is named, with its value and what is allowed', async () => {
  const refused = (options: object): Promise<unknown> => startServers(options as never);
  await expect(refused({ clock: 'lunar' })).rejects.toThrow(
    "option clock is 'lunar'; allowed: 'virtual' and 'real'",
  );
  await expect(refused({ clock: 'virtual', sed: 7 })).rejects.toThrow(
    'option startServers.sed is 7; allowed: the options clock, primaries',
  );
  await expect(refused({ clock: 'virtual', replicas: 1.5 })).rejects.toThrow(
    'option replicas is 1.5; allowed',
  );
  await expect(refused({ clock: 'real', seed: 7 })).rejects.toThrow(
    'option startServers.seed is 7; allowed: the options replicas',
  );
  await expect(refused({ clock: 'real', primaries: 0 })).rejects.toThrow(
    'option primaries is 0; allowed: an integer from 1',
  );
  await expect(startPair({ clock: 'real', primaries: 2 } as never)).rejects.toThrow(
    'option startPair.primaries is 2',
  );
  await expect(refused({ clock: 'real', settings: { port: 'x' } })).rejects.toThrow(
    "settings.port is 'x'; allowed: a number",
  );
});
