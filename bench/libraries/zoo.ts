/** The lock libraries of npm as code to explore: each acquires as its documentation shows, works, and releases. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { defined } from '../../base/defined.ts';
import type { ClientSession, ExploreOptions, FaultName } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';
import { queues, readScripts } from './queues.ts';
import type { Load, Specimen, Untyped } from './specimen.ts';

/** The lease, in milliseconds. */
const LEASE = 1000;
/** How long a client works, in milliseconds: longer than a client needs to be connected again. */
const WORK = 250;
/** How long a client works that renews its lease meanwhile, and one that comes and goes while another stands still, in milliseconds. */
const [LONG_WORK, SHORT_WORK] = [1500, 50];
const KEY = 'lock';

/** Loads the libraries from the folder that they were installed in, and reads what they would read in a world. */
export async function zoo(folder: string): Promise<Specimen[]> {
  drawUuids(folder);
  const load = loader(folder);
  // Before any world: loading is input.
  for (const name of Object.keys((load('./package.json') as { dependencies: object }).dependencies))
    load(name);
  await readScripts(load);
  return [
    ...redlocks(load),
    ...onIoredis(load),
    ...onNodeRedis(load),
    ...onNodeRedis4(load, folder),
    ...onNodeRedis3(load),
    ...own(),
    ...queues(load),
  ];
}

/**
 * Bull's module for UUIDs draws random bytes for sixteen of them at once, and keeps the rest from world to world: then a world does not
 * repeat. Here each UUID is drawn when it is asked for.
 */
function drawUuids(folder: string): void {
  const load = createRequire(`${folder}/package.json`);
  const path = load.resolve(`${folder}/node_modules/bull/node_modules/uuid`);
  const uuid = load(path) as object;
  (load.cache[path] as NodeJS.Module).exports = { ...uuid, v4: () => randomUUID() };
}

/**
 * Each client is a process, and each of its lives begins with fresh modules. That matters where a module counts: version
 * 1 of a UUID depends on the one before it.
 */
function loader(folder: string): Load {
  const load = createRequire(`${folder}/package.json`);
  // The paths of a package's modules, by the packages asked for: to look for them takes longer than to load them.
  const known = new Map<string, string[]>();
  const anew = (name: string, ...also: string[]): Untyped => {
    const folders = [name, ...also].map((each) => `${folder}/node_modules/${each}/`);
    const key = folders.join();
    const loaded = (): string[] =>
      Object.keys(load.cache).filter((path) => folders.some((each) => path.startsWith(each)));
    let paths = known.get(key);
    if (paths === undefined) {
      // Another package may have removed a module that both use, so that only a fresh load shows all of them.
      for (const path of loaded()) delete load.cache[path];
      load(name);
      paths = loaded();
      known.set(key, paths);
    }
    for (const path of paths) delete load.cache[path];
    const fresh = load(name);
    // Node lists every module that was ever loaded, and with it the world in which it was used.
    const { parent } = load.cache[load.resolve(name)] ?? {};
    if (parent) parent.children.length = 0;
    return fresh;
  };
  return Object.assign((name: string) => load(name), { anew });
}

/** Works inside the resource. */
async function work(
  { sleep, resource }: ClientSession,
  stillHeld: () => boolean = () => true,
  fence?: number,
): Promise<void> {
  const inside = resource('stock').enter(fence === undefined ? {} : { fence });
  await sleep(WORK);
  if (stillHeld()) inside.write();
  inside.leave();
}

function redlocks(load: Load): Specimen[] {
  const settings = { retryCount: 60, retryDelay: 50, retryJitter: 20, automaticExtensionThreshold: 300 };
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
    { name: 'redlock 4', module: 'redlock4', client: four },
    { name: 'redlock 4, 5 servers', module: 'redlock4', topology: five, client: four },
    { name: 'redlock 5', module: 'redlock', client: using(load('redlock').default) },
    {
      name: 'redlock 5, 5 servers',
      module: 'redlock',
      topology: five,
      client: using(load('redlock').default),
    },
    {
      name: '@sesamecare-oss/redlock',
      module: '@sesamecare-oss/redlock',
      client: using(load('@sesamecare-oss/redlock').Redlock),
    },
    { name: 'redlock-universal', module: 'redlock-universal', client: universal },
  ];
}

function onIoredis(load: Load): Specimen[] {
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
  // A works for longer than its lease, and leaves as soon as it is told that its lock is lost.
  const longWork = (module: string) => async (session: ClientSession) => {
    const { Mutex } = load(module);
    const redis = new (load('ioredis').Redis)(session.urls[0]);
    redis.on('error', () => {});
    let leave = (): void => {};
    const timing = { lockTimeout: LEASE, acquireTimeout: 10_000, retryInterval: 50 };
    const mutex = new Mutex(redis, KEY, { ...timing, onLockLost: () => leave() });
    await mutex.acquire();
    const inside = session.resource('stock').enter();
    leave = () => inside.leave();
    await session.sleep(session.name === 'A' ? LONG_WORK : SHORT_WORK);
    if (mutex.isAcquired) inside.write();
    inside.leave();
    await mutex.release();
  };
  const ioredisLock = (module: string) => async (session: ClientSession) => {
    const lock = load
      .anew(module, 'uuid')
      .createLock(session.redis, { timeout: LEASE, retries: 60, delay: 50 });
    await lock.acquire(KEY);
    await work(session);
    await lock.release();
  };
  return [
    { name: 'redis-semaphore (Mutex)', module: 'redis-semaphore', client: semaphore },
    {
      name: 'redis-semaphore (Mutex), long work',
      module: 'redis-semaphore',
      client: longWork('redis-semaphore'),
    },
    {
      name: 'redis-semaphore 5.3.0 (Mutex), long work',
      module: 'redis-semaphore53',
      client: longWork('redis-semaphore53'),
    },
    { name: 'ioredis-lock', module: 'ioredis-lock', client: ioredisLock('ioredis-lock') },
    {
      name: '@microfleet/ioredis-lock',
      module: '@microfleet/ioredis-lock',
      client: ioredisLock('@microfleet/ioredis-lock'),
    },
  ];
}

/** A node-redis client, version 6 unless another is named, that follows the primary. */
async function nodeRedis(load: Load, { urls }: ClientSession, version = 'redis'): Promise<Untyped> {
  const client = load(version).createClient({ url: urls[0], maintNotifications: 'disabled' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Calls a function with a callback, and waits for it. */
function called<T>(ask: (done: (error: unknown, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => ask((error, value) => (error ? reject(error) : resolve(value))));
}

function onNodeRedis(load: Load): Specimen[] {
  const acquired = async (session: ClientSession): Promise<Untyped> =>
    await load('simple-redis-mutex').lock(await nodeRedis(load, session), KEY, {
      timeout: LEASE,
      pollingInterval: 50,
      failAfter: 10_000,
    });
  const mutex = async (session: ClientSession) => {
    const unlock = await acquired(session);
    await work(session);
    await unlock();
  };
  const fencedMutex = async (session: ClientSession) => {
    const unlock = await acquired(session);
    await work(session, undefined, unlock.fencingToken);
    await unlock();
  };
  const kit = async (session: ClientSession) => {
    const { Redlock } = load('@redis-kit/lock');
    const redlock = new Redlock([await nodeRedis(load, session)], { retryCount: 60, retryDelay: 50 });
    await redlock.withLock(KEY, LEASE, () => work(session));
  };
  return [
    { name: 'simple-redis-mutex', module: 'simple-redis-mutex', client: mutex },
    {
      name: 'simple-redis-mutex, fencing token checked',
      module: 'simple-redis-mutex',
      client: fencedMutex,
    },
    { name: '@redis-kit/lock', module: '@redis-kit/lock', client: kit },
  ];
}

function onNodeRedis4(load: Load, folder: string): Specimen[] {
  const redisLock = async (session: ClientSession) => {
    const done = await load('redis-lock')(await nodeRedis(load, session, 'redis4'), 50)(KEY, LEASE);
    await work(session);
    await done();
  };
  // The library reads its scripts when it starts, and a world has no disk: it gets the same text without one.
  const scripts = new Map(
    ['lock', 'unlock'].map((name) => {
      const path = `${folder}/node_modules/murlock/dist/lua/${name}.lua`;
      return [path, readFileSync(path, 'utf8')];
    }),
  );
  const disk = load('node:fs/promises');
  const fromDisk = disk.readFile;
  disk.readFile = (path: string, ...rest: unknown[]) =>
    scripts.has(path) ? Promise.resolve(scripts.get(path)) : fromDisk(path, ...rest);
  // One for all clients: Node looks at every async storage that there ever was whenever something asynchronous begins.
  const { AsyncStorageManager } = load('murlock/dist/als/als-manager.js');
  const { AsyncStorageService } = load('murlock/dist/als/als.service.js');
  const storage = new AsyncStorageService(new AsyncStorageManager());
  const murlock = async (session: ClientSession) => {
    const service = new (load('murlock').MurLockService)(
      { redisOptions: { url: session.urls[0] }, wait: 50, maxAttempts: 60, logLevel: 'error' },
      storage,
    );
    await service.onModuleInit();
    await service.runWithLock(KEY, LEASE, 50, () => work(session));
  };
  return [
    { name: 'redis-lock', module: 'redis-lock', client: redisLock },
    { name: 'murlock', module: 'murlock', client: murlock },
  ];
}

function onNodeRedis3(load: Load): Specimen[] {
  const callbacks = (session: ClientSession): Untyped => {
    const client = load('redis3').createClient(session.urls[0], { retry_strategy: () => 50 });
    client.on('error', () => {});
    return client;
  };
  const warlock = async (session: ClientSession) => {
    const lock = load.anew('node-redis-warlock')(callbacks(session));
    const ask = () => called<unknown>((done) => lock.lock(KEY, LEASE, done));
    let unlock = await ask();
    for (; typeof unlock !== 'function'; unlock = await ask()) await session.sleep(50);
    await work(session);
    await called((done) => (unlock as (done: unknown) => void)(done));
  };
  const nodeRedisLock = async (session: ClientSession) => {
    const Lock = load('node-redis-lock');
    const lock = new Lock({ namespace: 'locking' }, callbacks(session));
    const ask = () =>
      called<boolean>((done) => lock.acquire(KEY, LEASE / 1000, session.name, done)).catch((error: Error) => {
        if (error.message !== 'Locked.') throw error;
        return false;
      });
    while (!(await ask())) await session.sleep(50);
    await work(session);
    await called((done) => lock.release(KEY, session.name, done));
  };
  const redislock = async (session: ClientSession) => {
    const lock = load
      .anew('redislock', 'uuid')
      .createLock(callbacks(session), { timeout: LEASE, retries: 60, delay: 50 });
    await lock.acquire(KEY);
    await work(session);
    await lock.release();
  };
  return [
    { name: 'node-redis-warlock', module: 'node-redis-warlock', client: warlock },
    { name: 'node-redis-lock', module: 'node-redis-lock', client: nodeRedisLock },
    { name: 'redislock', module: 'redislock', client: redislock },
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
  return [
    { name: 'lostlock simple', module: undefined, client: simple(undefined) },
    { name: 'lostlock simple, replicas: 1', module: undefined, client: simple(1) },
    { name: "lostlock fenced, fence: 'clock', replicas: 1", module: undefined, client: fenced },
  ];
}

/** Which promises a queue is held to: what is a lock to others has no meaning where clients wait for jobs. */
const OF_QUEUES = ['mutual-exclusion', 'once', 'everyone-served'] as const;

/** How a library is explored with all default faults and promises. What no lease can keep is told apart from what is a defect. */
export function optionsOf({ name, client, topology, isQueue }: Specimen): ExploreOptions {
  return {
    ...{ name, client, clients: 2, accept: ['lease-limits'] },
    ...(isQueue === true && { promises: OF_QUEUES }),
    ...defined({ topology }),
  };
}

/** The longest of bounded faults, in milliseconds: half a lease. */
export const BOUND = LEASE / 2;

/** Faults that a lock with a lease should survive: none is longer than half a lease, and none loses data or sets the servers' clocks. */
const BOUNDED: readonly FaultName[] = [
  ...(['node-pause', 'client-pause', 'client-death', 'partition', 'delay', 'lost-request'] as const),
  ...([
    'lost-reply',
    'connection-reset',
    'client-clock-jump',
    'restart-disk',
    'script-flush',
    'busy',
  ] as const),
  ...(['out-of-memory', 'misconf'] as const),
];

/** How a library is explored with faults of bounded strength. */
export function boundedOptionsOf(specimen: Specimen): ExploreOptions {
  return { ...optionsOf(specimen), faults: BOUNDED.map((kind) => ({ kind, longest: BOUND })) };
}

/** How a world of the page is played again, by its outcome: what the page lists as a limit of leases is a broken promise then. */
export function replayOptionsOf(specimen: Specimen, outcome: string): ExploreOptions {
  const options = outcome.includes('bounded') ? boundedOptionsOf(specimen) : optionsOf(specimen);
  return { ...options, accept: [] };
}
