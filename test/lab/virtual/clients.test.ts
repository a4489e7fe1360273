/** Unmodified clients and lock libraries keep their own times exactly, on the virtual clock. */
import '../../../lab/router.ts';
import { Redlock as SesameRedlock } from '@sesamecare-oss/redlock';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient } from 'redis';
import { Mutex } from 'redis-semaphore';
import { expect, test } from 'vitest';
import { connectorTo } from '../../../lab/virtual/connector.ts';
import { LabNode } from '../../../lab/virtual/node.ts';
import { World } from '../../../lab/virtual/world.ts';
import { Redlock4, Redlock5 } from '../../clients/lock-libraries.ts';

/** A world with one node, every message exactly 1 ms under way. */
function start() {
  const world = new World({ network: { latency: 1, jitter: 0 } });
  const node = new LabNode(world, 'redis', 6379);
  const began = world.now;
  const commands: string[] = [];
  node.server.interceptor = (_client, argv) => {
    commands.push(`${world.now - began} ${argv[0]}`);
    return false;
  };
  return { world, node, commands, elapsed: () => world.now - began };
}

const ioredisMajors: readonly [string, typeof Redis][] = [
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
];

for (const [name, Client] of ioredisMajors) {
  test(`${name} retries at exactly the times of its strategy`, async () => {
    const { world, node, elapsed } = start();
    const seen: string[] = [];
    const { redis } = await world.run(() => {
      const retryStrategy = (times: number) => Math.min(times * 50, 2000);
      const redis = new Client({ host: 'redis', retryStrategy });
      for (const event of ['ready', 'close', 'error']) {
        redis.on(event, () => seen.push(`${elapsed()} ${event}`));
      }
      return { redis };
    });
    await world.advance(100);
    node.crash();
    await world.advance(710);
    node.restart();
    await world.advance(1000);
    // The reset at 101; then a delay, and a round trip of 2 ms for every refusal.
    expect(seen.slice(1).filter((line) => !line.endsWith('error'))).toEqual([
      '101 close',
      '153 close',
      '255 close',
      '407 close',
      '609 close',
      '865 ready',
    ]);
    await world.run(() => redis.disconnect());
  });

  test(`${name} waits exactly commandTimeout for a silent server, and connectTimeout for a connection`, async () => {
    const { world, node, elapsed } = start();
    const { redis } = await world.run(() => {
      const redis = new Client({
        host: 'redis',
        commandTimeout: 250,
        connectTimeout: 10_000,
        retryStrategy: () => 50,
      });
      redis.on('error', () => {});
      return { redis };
    });
    await world.advance(100);
    node.host.actor.pause();
    const failed = await world.run(() =>
      redis.get('x').then(
        () => 'answered',
        (error: Error) => `${elapsed()} ${error.message}`,
      ),
    );
    expect(failed).toBe('350 Command timed out');
    node.host.actor.resume();
    world.network.link('client', 'redis').partition();
    const closed: number[] = [];
    await world.run(() => {
      redis.on('close', () => closed.push(elapsed()));
      redis.stream.destroy();
    });
    await world.advance(21_000);
    expect(closed).toEqual([350, 10_400, 20_450]);
    await world.run(() => redis.disconnect());
  });

  test(`${name} follows a changing node through a Connector`, async () => {
    const { world, node } = start();
    const second = new LabNode(world, 'second', 6380);
    let present = { host: 'redis', port: 6379 };
    const Connector = connectorTo(world, () => present);
    const { redis } = await world.run(() => {
      const redis = new Client({ Connector: Connector as never });
      redis.on('error', () => {});
      return { redis };
    });
    expect(await world.run(() => redis.set('k', 'first'))).toBe('OK');
    present = { host: 'second', port: second.port };
    node.crash();
    expect(await world.run(() => redis.get('k'))).toBe(null);
    expect(second.server.clients.size).toBe(1);
    await world.run(() => redis.disconnect());
    await world.advance(10);
    expect(second.server.clients.size).toBe(0);
  });
}

test('node-redis measures command timeouts and retry delays in virtual time', async () => {
  const { world, node, elapsed } = start();
  const seen: string[] = [];
  const { client } = await world.run(() => {
    const client = createClient({
      socket: { host: 'redis', reconnectStrategy: (retries) => retries * 100 + 50 },
      commandOptions: { timeout: 250 },
    });
    for (const event of ['ready', 'reconnecting'] as const) {
      client.on(event, () => seen.push(`${elapsed()} ${event}`));
    }
    client.on('error', () => {});
    client.connect().catch(() => {});
    return { client };
  });
  await world.advance(100);
  expect(await world.run(() => client.set('k', 'v'))).toBe('OK');
  const crashed = elapsed();
  node.crash();
  await world.advance(10);
  // It times commands that it cannot send; once their bytes have left, it waits.
  expect(await world.run(() => client.get('k').catch(() => elapsed() - crashed))).toBe(260);
  await world.advance(140);
  node.restart();
  await world.advance(2000);
  const since = seen.slice(1).map((line) => line.replace(/^\d+/, (n) => String(Number(n) - crashed)));
  expect(since).toEqual(['1 reconnecting', '153 reconnecting', '405 reconnecting', '409 ready']);
  await world.run(() => client.destroy());
});

test('a watchdog that renews every 10 s renews three times in 30 s, and 180 times in half an hour', async () => {
  const { world, commands } = start();
  const { mutex, redis } = await world.run(() => {
    const redis = new Redis({ host: 'redis' });
    const mutex = new Mutex(redis as never, 'job', { lockTimeout: 30_000, refreshInterval: 10_000 });
    return { mutex, redis };
  });
  await world.run(() => mutex.acquire());
  const renewals = () => commands.filter((line) => line.endsWith('evalsha'));
  // Locked at 8 ms: the third renewal leaves at 30,008 and arrives a millisecond later.
  await world.advance(30_001);
  expect(renewals()).toEqual(['10009 evalsha', '20009 evalsha', '30009 evalsha']);
  await world.advance(1_770_000);
  expect(renewals()).toHaveLength(180);
  expect(mutex.isAcquired).toBe(true);
  await world.run(() => mutex.release());
  await world.advance(100_000);
  expect(renewals()).toHaveLength(181);
  await world.run(() => redis.disconnect());
});

test('a lock whose watchdog is paused goes to the next client at the deadline', async () => {
  const { world, elapsed } = start();
  const options = { lockTimeout: 30_000, refreshInterval: 10_000, retryInterval: 100, acquireTimeout: 1e9 };
  const lost: number[] = [];
  const a = await world.actor('A').run(async () => {
    const onLockLost = (): void => void lost.push(elapsed());
    const mutex = new Mutex(new Redis({ host: 'redis' }) as never, 'job', { ...options, onLockLost });
    await mutex.acquire();
    return mutex;
  });
  const b = await world
    .actor('B')
    .run(() => new Mutex(new Redis({ host: 'redis' }) as never, 'job', options));
  world.actor('A').pause();
  const paused = elapsed();
  await world.actor('B').run(() => b.acquire());
  expect(elapsed() - paused).toBeGreaterThan(29_900);
  expect(elapsed() - paused).toBeLessThan(30_110);
  expect([a.isAcquired, b.isAcquired, lost]).toEqual([true, true, []]);
  world.actor('A').resume();
  await world.advance(100);
  expect([a.isAcquired, lost.length]).toEqual([false, 1]);
});

test('redlock 4 and 5 and @sesamecare-oss/redlock lock, extend and release on either ioredis', async () => {
  for (const [, Client] of ioredisMajors) {
    const { world, node } = start();
    const { redis } = await world.run(() => ({ redis: new Client({ host: 'redis' }) }));
    const holder = () => node.server.db(0).peek('lock')?.read();
    const outcome = await world.run(async () => {
      const tokens: unknown[] = [];
      const four = await new Redlock4([redis]).lock('lock', 1000);
      tokens.push(holder() === four.value);
      await (await four.extend(5000)).unlock();
      tokens.push(holder());
      const five = await new Redlock5([redis]).acquire(['lock'], 1000);
      tokens.push(holder() === five.value);
      await (await five.extend(5000)).release();
      tokens.push(holder());
      const other = await new SesameRedlock([redis as never]).acquire(['lock'], 1000);
      tokens.push(holder() === other.value);
      await (await other.extend(5000)).release();
      tokens.push(holder());
      return tokens;
    });
    expect(outcome).toEqual([true, undefined, true, undefined, true, undefined]);
    await world.run(() => redis.disconnect());
  }
});

test('clients of other worlds and of real sockets are not disturbed by each other', async () => {
  const one = start();
  const two = start();
  const { redis: first } = await one.world.run(() => ({ redis: new Redis({ host: 'redis' }) }));
  const { redis: second } = await two.world.run(() => ({ redis: new Redis({ host: 'redis' }) }));
  await one.world.run(() => first.set('k', 'one'));
  await two.world.run(() => second.set('k', 'two'));
  expect(await one.world.run(() => first.get('k'))).toBe('one');
  expect(await two.world.run(() => second.get('k'))).toBe('two');
  const real = new Redis({ port: 1, retryStrategy: () => null, lazyConnect: true });
  const refused = new Promise<Error>((resolve) => real.once('error', resolve));
  await expect(real.connect()).rejects.toThrow('Connection is closed');
  expect(await refused).toMatchObject({ code: 'ECONNREFUSED', address: '127.0.0.1', port: 1 });
});
