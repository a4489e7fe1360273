/** A pair on which every lock library contends for one lock through every client, across a failover; one seed decides it. */
import '../../lab/router.ts';
import { Redlock as SesameRedlock } from '@sesamecare-oss/redlock';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient } from 'redis';
import { Mutex } from 'redis-semaphore';
import { startPair } from '../../lab/pair.ts';
import type { Trace } from '../../lab/time/trace.ts';
import { connectorTo } from '../../lab/virtual/connector.ts';
import { Redlock4, Redlock5 } from './lock-libraries.ts';

const LOCK = 'mutex:job';
const quiet = (): void => {};

/** One contender: takes the lock, keeps it for a while and releases it, again and again. */
type Contender = (note: (what: string) => void, stopped: () => boolean) => Promise<void>;

async function hold(note: (what: string) => void, longest = 120): Promise<void> {
  note('holds');
  await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * (longest - 20)));
  note('leaves');
}

function semaphore(redis: Redis, lockTimeout = 500, longest = 120): Contender {
  return async (note, stopped) => {
    const options = { lockTimeout, acquireTimeout: 60_000, retryInterval: 40, onLockLost: quiet };
    while (!stopped()) {
      const mutex = new Mutex(redis as never, 'job', options);
      if (!(await mutex.tryAcquire().catch(quiet))) continue;
      await redis.call('dice').catch(quiet);
      await hold(note, longest);
      await mutex.release().catch(quiet);
    }
  };
}

function redlock4(redis: Redis5): Contender {
  const redlock = new Redlock4([redis], { retryCount: 5, retryDelay: 50, retryJitter: 30 });
  redlock.on('clientError', quiet);
  return async (note, stopped) => {
    while (!stopped()) {
      const lock = await Promise.resolve(redlock.lock(LOCK, 500)).catch(() => undefined);
      if (lock === undefined) continue;
      await hold(note);
      await lock.unlock().catch(quiet);
    }
  };
}

function redlock5(redis: Redis): Contender {
  const redlock = new Redlock5([redis], { retryCount: 5, retryDelay: 50, retryJitter: 30 });
  redlock.on('error', quiet);
  return async (note, stopped) => {
    while (!stopped()) await redlock.using([LOCK], 600, () => hold(note)).catch(quiet);
  };
}

function sesame(redis: Redis): Contender {
  const redlock = new SesameRedlock([redis as never], { retryCount: 5, retryDelay: 50, retryJitter: 30 });
  redlock.on('error', quiet);
  return async (note, stopped) => {
    while (!stopped()) await redlock.using([LOCK], 600, () => hold(note)).catch(quiet);
  };
}

interface NodeRedis {
  set(key: string, value: string, options: object): Promise<unknown>;
}

function plain(client: NodeRedis): Contender {
  return async (note, stopped) => {
    while (!stopped()) {
      const taken = await client
        .set(LOCK, 'N', { condition: 'NX', expiration: { type: 'PX', value: 200 } })
        .catch(quiet);
      if (taken === 'OK') await hold(note);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  };
}

/** The result of a run. */
export interface Run {
  readonly hash: string;
  readonly trace: Trace;
  /** How often each contender held the lock. */
  readonly holds: ReadonlyMap<string, number>;
}

/** A command whose handler answers with a given value; a test plants real randomness there. */
const dice = (roll: () => number) => ({ dice: { arity: 1, run: () => String(roll()) } });

/**
 * The default scenario: five contenders and a watchdog, the replication link held, the primary lost, a promotion, and
 * the old primary's return. Different seeds differ, equal ones do not.
 * @param roll what the nodes' command DICE answers
 */
export async function contend(seed: number, roll: () => number = () => 0): Promise<Run> {
  const pair = await startPair({ clock: 'virtual', seed, commands: dice(roll) });
  const { world } = pair;
  const random = world.stream('scenario');
  const holds = new Map<string, number>();
  const clients: { close(): void }[] = [];
  const running: Promise<void>[] = [];
  let over = false;

  const join = (name: string, contender: () => Contender) =>
    world.actor(name).run(() => {
      const note = (what: string): void => {
        world.trace.note(name, what);
        if (what === 'holds') holds.set(name, (holds.get(name) ?? 0) + 1);
      };
      running.push(contender()(note, () => over));
      return {};
    });
  const Connector = connectorTo(world, () => pair.primary.address) as never;
  const keep = <T extends Redis | Redis5>(redis: T): T => {
    redis.on('error', quiet);
    clients.push({ close: () => redis.disconnect() });
    return redis;
  };
  const open = () => keep(new Redis({ Connector, commandTimeout: 400 }));
  const viaNodeRedis = (): NodeRedis => {
    const client = createClient({ socket: { host: 'redis-1' }, RESP: 3, commandOptions: { timeout: 400 } });
    client.on('error', quiet);
    client.connect().catch(quiet);
    clients.push({ close: () => client.destroy() });
    return client as unknown as NodeRedis;
  };

  await join('semaphore', () => semaphore(keep(new Redis({ Connector }))));
  // redis-semaphore leaves a failed renewal unhandled: its client must not give up.
  await join('watchdog', () => semaphore(keep(new Redis({ Connector })), 300, 1200));
  await join('redlock4', () => redlock4(keep(new Redis5({ Connector, commandTimeout: 400 }))));
  await join('redlock5', () => redlock5(open()));
  await join('sesame', () => sesame(open()));
  await join('node-redis', () => plain(viaNodeRedis()));
  await pair.advance(800 + random.between(0, 400));
  pair.link.hold();
  await pair.advance(random.between(50, 1500));
  await pair.failover({ crash: true, after: random.between(0, 300) });
  await pair.advance(700);
  pair.restart('redis-1');
  await pair.advance(800);
  over = true;
  await pair.until(Promise.all(running), 120_000);
  await pair.run(() => {
    for (const client of clients) client.close();
  });
  await pair.advance(3000);
  await pair.close();
  return { hash: pair.trace.hash(), trace: pair.trace, holds };
}
