/** The lock libraries of npm as code to explore: each acquires as its documentation shows, works, and releases. */
import { createRequire } from 'node:module';
import type { ClientSession, ExploreOptions } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';

/** A library, and what its documentation says about the safety of its lock. */
export interface Specimen {
  readonly name: string;
  /** The package to ask for its version; undefined for our own locks. */
  readonly module: string | undefined;
  /** What the documentation promises or warns of, in short. */
  readonly says: string;
  readonly topology?: ExploreOptions['topology'];
  readonly client: ExploreOptions['client'];
}

/** The lease, in milliseconds. */
const LEASE = 1000;
/** How long a client works, in milliseconds: longer than a client needs to be connected again. */
const WORK = 250;
const KEY = 'lock';

// The libraries are used without their types, as far as is needed here.
// biome-ignore lint/suspicious/noExplicitAny: the libraries are loaded by name, and some have no types
type Untyped = any; // tidy any: see above

/** Packages that are installed with the others, and not explored: they need a framework, or another client. */
const UNUSED = ['murlock', 'redislock'];

/** Loads the libraries from the folder that they were installed in. */
export function zoo(folder: string): Specimen[] {
  const load = createRequire(`${folder}/package.json`) as (name: string) => Untyped;
  // Before any world: loading is input.
  for (const name of Object.keys((load('./package.json') as { dependencies: object }).dependencies)) {
    if (!UNUSED.includes(name)) load(name);
  }
  return [...redlocks(load), ...onIoredis(load), ...onNodeRedis(load), ...onNodeRedis3(load), ...own()];
}

/** Works inside the resource. */
async function work(
  { sleep, resource }: ClientSession,
  stillHeld: () => boolean = () => true,
): Promise<void> {
  const inside = resource('stock').enter();
  await sleep(WORK);
  if (stillHeld()) inside.write();
  inside.leave();
}

function redlocks(load: (name: string) => Untyped): Specimen[] {
  const settings = { retryCount: 60, retryDelay: 50, retryJitter: 20, automaticExtensionThreshold: 300 };
  const says = 'promises strong guarantees on one or several servers, and warns of replicas that lag behind';
  const using = (Redlock: Untyped) => async (session: ClientSession) => {
    const redlock = new Redlock([...session.servers], settings);
    redlock.on('error', () => {});
    await redlock.using([KEY], LEASE, (signal: AbortSignal) => work(session, () => !signal.aborted));
  };
  const four = async (session: ClientSession) => {
    const Redlock = load('redlock4');
    const redlock = new Redlock([...session.servers], settings);
    redlock.on('clientError', () => {});
    const lock = await redlock.lock(KEY, LEASE);
    await work(session, () => lock.expiration > Date.now());
    await lock.unlock();
  };
  const universal = async (session: ClientSession) => {
    const { createLock, IoredisAdapter } = load('redlock-universal');
    const lock = createLock({
      adapter: new IoredisAdapter(session.redis),
      key: KEY,
      ttl: LEASE,
      retryAttempts: 60,
      retryDelay: 50,
    });
    await lock.using((signal: AbortSignal) => work(session, () => !signal.aborted));
  };
  const five = { primaries: 5 };
  return [
    { name: 'redlock 4', module: 'redlock4', says, client: four },
    { name: 'redlock 4, 5 servers', module: 'redlock4', says, topology: five, client: four },
    { name: 'redlock 5', module: 'redlock', says, client: using(load('redlock').default) },
    {
      name: 'redlock 5, 5 servers',
      module: 'redlock',
      says,
      topology: five,
      client: using(load('redlock').default),
    },
    {
      name: '@sesamecare-oss/redlock',
      module: '@sesamecare-oss/redlock',
      says,
      client: using(load('@sesamecare-oss/redlock').Redlock),
    },
    {
      ...{ name: 'redlock-universal', module: 'redlock-universal', client: universal },
      says: 'warns that locks can be lost in a failover of one server, and calls Redlock safe when nodes crash',
    },
  ];
}

function onIoredis(load: (name: string) => Untyped): Specimen[] {
  const semaphore = async (session: ClientSession) => {
    const { Mutex } = load('redis-semaphore');
    let lost = false;
    const mutex = new Mutex(session.redis, KEY, {
      lockTimeout: LEASE,
      acquireTimeout: 10_000,
      retryInterval: 50,
      onLockLost: () => {
        lost = true;
      },
    });
    await mutex.acquire();
    await work(session, () => !lost && mutex.isAcquired);
    await mutex.release();
  };
  const ioredisLock = (module: string) => async (session: ClientSession) => {
    const lock = load(module).createLock(session.redis, { timeout: LEASE, retries: 60, delay: 50 });
    await lock.acquire(KEY);
    await work(session);
    await lock.release();
  };
  const says = 'promises atomic acquire and release, so that there are no races';
  return [
    {
      ...{ name: 'redis-semaphore (Mutex)', module: 'redis-semaphore', client: semaphore },
      says: 'calls itself fail-safe, because every action is an atomic script',
    },
    { name: 'ioredis-lock', module: 'ioredis-lock', says, client: ioredisLock('ioredis-lock') },
    {
      name: '@microfleet/ioredis-lock',
      module: '@microfleet/ioredis-lock',
      says,
      client: ioredisLock('@microfleet/ioredis-lock'),
    },
  ];
}

/** A node-redis client, version 6 unless another is named, that follows the primary. */
async function nodeRedis(
  load: (name: string) => Untyped,
  { urls }: ClientSession,
  version = 'redis',
): Promise<Untyped> {
  const client = load(version).createClient({ url: urls[0], maintNotifications: 'disabled' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Calls a function with a callback, and waits for it. */
function called<T>(ask: (done: (error: unknown, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => ask((error, value) => (error ? reject(error) : resolve(value))));
}

function onNodeRedis(load: (name: string) => Untyped): Specimen[] {
  const mutex = async (session: ClientSession) => {
    const { lock } = load('simple-redis-mutex');
    const unlock = await lock(await nodeRedis(load, session), KEY, {
      timeout: LEASE,
      pollingInterval: 50,
      failAfter: 10_000,
    });
    await work(session);
    await unlock();
  };
  const redisLock = async (session: ClientSession) => {
    const done = await load('redis-lock')(await nodeRedis(load, session, 'redis4'), 50)(KEY, LEASE);
    await work(session);
    await done();
  };
  const kit = async (session: ClientSession) => {
    const { Redlock } = load('@redis-kit/lock');
    const redlock = new Redlock([await nodeRedis(load, session)], { retryCount: 60, retryDelay: 50 });
    await redlock.withLock(KEY, LEASE, () => work(session));
  };
  return [
    {
      name: 'simple-redis-mutex',
      module: 'simple-redis-mutex',
      says: 'calls its time-out a safety net for crashed holders',
      client: mutex,
    },
    {
      name: 'redis-lock',
      module: 'redis-lock',
      says: 'guarantees that only one function runs at a time for the same lock',
      client: redisLock,
    },
    {
      name: '@redis-kit/lock',
      module: '@redis-kit/lock',
      says: 'says that only one process can execute the critical section',
      client: kit,
    },
  ];
}

function onNodeRedis3(load: (name: string) => Untyped): Specimen[] {
  const callbacks = (session: ClientSession): Untyped => {
    const client = load('redis3').createClient(session.urls[0], { retry_strategy: () => 50 });
    client.on('error', () => {});
    return client;
  };
  const warlock = async (session: ClientSession) => {
    const lock = load('node-redis-warlock')(callbacks(session));
    const ask = () => called<unknown>((done) => lock.lock(KEY, LEASE, done));
    let unlock = await ask();
    for (; typeof unlock !== 'function'; unlock = await ask()) await session.sleep(50);
    await work(session);
    await called((done) => (unlock as (done: unknown) => void)(done));
  };
  const nodeRedisLock = async (session: ClientSession) => {
    const Lock = load('node-redis-lock');
    const lock = new Lock({ namespace: 'locking' }, callbacks(session));
    const ask = () => called<boolean>((done) => lock.acquire(KEY, LEASE / 1000, session.name, done));
    while (!(await ask())) await session.sleep(50);
    await work(session);
    await called((done) => lock.release(KEY, session.name, done));
  };
  return [
    {
      name: 'node-redis-warlock',
      module: 'node-redis-warlock',
      says: 'calls itself battle-hardened',
      client: warlock,
    },
    {
      name: 'node-redis-lock',
      module: 'node-redis-lock',
      says: 'promises nothing about failures',
      client: nodeRedisLock,
    },
  ];
}

function own(): Specimen[] {
  const simple = (replicas: number | undefined) => async (session: ClientSession) => {
    await using locks = createLocks(session.redis, replicas === undefined ? {} : { replicas });
    const held = await locks.simple(KEY).acquire({ leaseMs: LEASE });
    const inside = session.resource('stock').enter();
    held.signal.addEventListener('abort', () => inside.leave());
    await session.sleep(WORK);
    held.assertHeld();
    inside.write();
    inside.leave();
    await held.release();
  };
  const fenced = async (session: ClientSession) => {
    await using locks = createLocks(session.redis, { replicas: 1 });
    const held = await locks.fenced(KEY, { fence: 'clock' }).acquire({ leaseMs: LEASE });
    const inside = session.resource('stock').enter({ fence: held.fence as number });
    await session.sleep(WORK);
    inside.write();
    inside.leave();
    await held.release();
  };
  const says = 'lists the failures that each setting survives (docs/locks.md)';
  return [
    { name: 'lostlock simple', module: undefined, says, client: simple(undefined) },
    { name: 'lostlock simple, replicas: 1', module: undefined, says, client: simple(1) },
    { name: "lostlock fenced, fence: 'clock', replicas: 1", module: undefined, says, client: fenced },
  ];
}
