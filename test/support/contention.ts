/** A world in which every lock library contends for one lock through every client, across a crash; one seed decides it. */
import '../../lab/router.ts';
import { Redlock as SesameRedlock } from '@sesamecare-oss/redlock';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient } from 'redis';
import { Mutex } from 'redis-semaphore';
import { connectorTo } from '../../lab/connector.ts';
import { World } from '../../lab/world.ts';
import { LabNode } from './lab-node.ts';
import { Redlock4, Redlock5 } from './lock-libraries.ts';

const LOCK = 'mutex:job';
const quiet = (): void => {};

/** Everybody who wants the lock: takes it, keeps it for a while, gives it back, again and again. */
type Contender = (note: (what: string) => void, stopped: () => boolean) => Promise<void>;

async function hold(note: (what: string) => void): Promise<void> {
  note('holds');
  await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 100));
  note('leaves');
}

function semaphore(redis: Redis): Contender {
  return async (note, stopped) => {
    const options = { lockTimeout: 500, acquireTimeout: 60_000, retryInterval: 40, onLockLost: quiet };
    while (!stopped()) {
      const mutex = new Mutex(redis as never, 'job', options);
      if (!(await mutex.tryAcquire())) continue;
      await hold(note);
      await mutex.release();
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

/** What a run leaves behind. */
export interface Run {
  readonly hash: string;
  readonly trace: string;
  /** How often each contender held the lock. */
  readonly holds: ReadonlyMap<string, number>;
}

/** The lock, contended for three virtual seconds, with a crash after one. Different seeds differ, equal ones do not. */
export async function contend(seed: number, unseeded: () => number = () => 0): Promise<Run> {
  const world = new World({ seed });
  const node = new LabNode(world, 'redis', 6379);
  const holds = new Map<string, number>();
  const clients: { close(): void }[] = [];
  const running: Promise<void>[] = [];
  let over = false;

  const join = (name: string, contender: () => Contender) =>
    world.actor(name).run(() => {
      const note = (what: string): void => {
        world.trace.note(name, what, String(unseeded()));
        if (what === 'holds') holds.set(name, (holds.get(name) ?? 0) + 1);
      };
      running.push(contender()(note, () => over));
      return {};
    });
  const keep = <T extends Redis | Redis5>(redis: T): T => {
    redis.on('error', quiet);
    clients.push({ close: () => redis.disconnect() });
    return redis;
  };
  const viaConnector = () => {
    const Connector = connectorTo(world, () => ({ host: 'redis', port: 6379 }));
    return keep(new Redis({ Connector: Connector as never, commandTimeout: 400 }));
  };
  const viaNodeRedis = (): NodeRedis => {
    const client = createClient({ socket: { host: 'redis' }, RESP: 3, commandOptions: { timeout: 400 } });
    client.on('error', quiet);
    client.connect().catch(quiet);
    clients.push({ close: () => client.destroy() });
    return client as unknown as NodeRedis;
  };

  await join('semaphore', () => semaphore(keep(new Redis({ host: 'redis' }))));
  await join('redlock4', () => redlock4(keep(new Redis5({ host: 'redis', commandTimeout: 400 }))));
  await join('redlock5', () => redlock5(viaConnector()));
  await join('sesame', () => sesame(viaConnector()));
  await join('node-redis', () => plain(viaNodeRedis()));
  await world.advance(1000);
  await world.run(() => node.crash());
  await world.advance(300);
  await world.run(() => node.restart());
  await world.advance(1700);
  over = true;
  await world.until(Promise.all(running), 120_000);
  await world.run(() => {
    for (const client of clients) client.close();
  });
  await world.advance(5000);
  world.close();
  return { hash: world.trace.hash(), trace: world.trace.toString(), holds };
}
