/**
 * Cache-aside under load: readers that fill the cache and writers that change the data, and how often the cache is
 * wrong at the end.
 */
import { Redis } from 'ioredis';
import { createLocks, type Locks } from '../../locks/index.ts';
import { startRedisServer } from '../../test/support/redis-server.ts';

const KEYS = 300;
const AT_ONCE = 30;
const READERS = 4;
const WRITERS = 2;
const CROWD = 30;
/** When the second delete follows, and how long a slow reader waits before it writes what it has read. */
const DELETE_AGAIN_MS = 30;
const SLOW_MS = 60;
const TTL_MS = 250;

/** A database and a cache, both on Redis. The values are versions. */
interface Means {
  readonly db: Redis;
  readonly cache: Redis;
  readonly locks: Locks;
  readonly slow: boolean;
  loads: number;
}

interface Strategy {
  read(means: Means, key: string): Promise<unknown>;
  write(means: Means, key: string): Promise<unknown>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const shortPause = (): Promise<void> => pause(Math.random() * 5);

async function load(means: Means, key: string): Promise<string> {
  means.loads++;
  const value = await means.db.get(key);
  await (means.slow && Math.random() < 1 / 8 ? pause(SLOW_MS) : shortPause());
  return value!;
}

/** Reads through the cache. After a miss, loads the value and stores it with `put`. */
const through =
  (put: (means: Means, key: string, value: string) => Promise<unknown>): Strategy['read'] =>
  async (means, key) => {
    const cached = await means.cache.get(key);
    if (cached !== null) return cached;
    const value = await load(means, key);
    await put(means, key, value);
    return value;
  };

const plainRead = through(({ cache }, key, value) => cache.set(key, value));

async function change({ db }: Means, key: string): Promise<string> {
  const version = await db.incr(key);
  await shortPause();
  return String(version);
}

async function deleteAfter(means: Means, key: string): Promise<void> {
  await change(means, key);
  await means.cache.del(key);
}

/** Stores a version unless a newer one is there. */
const NEWER =
  "if tonumber(redis.call('get', KEYS[1]) or -1) < tonumber(ARGV[1]) then redis.call('set', KEYS[1], ARGV[1]) end";
const putNewer = ({ cache }: Means, key: string, version: string): Promise<unknown> =>
  cache.eval(NEWER, 1, key, version);

const strategies: Record<string, Strategy> = {
  'S114: change, then delete': { read: plainRead, write: deleteAfter },
  'S115: change, then set': {
    read: plainRead,
    write: async (means, key) => means.cache.set(key, await change(means, key)),
  },
  'delayed double delete': {
    read: plainRead,
    write: async (means, key) => {
      await deleteAfter(means, key);
      await pause(DELETE_AGAIN_MS);
      await means.cache.del(key);
    },
  },
  'read-write lock': {
    read: async (means, key) =>
      (await means.cache.get(key)) ??
      means.locks.readWrite(`lock:${key}`).read.using(() => plainRead(means, key)),
    write: (means, key) => means.locks.readWrite(`lock:${key}`).write.using(() => deleteAfter(means, key)),
  },
  'versioned set': {
    read: through(putNewer),
    write: async (means, key) => putNewer(means, key, await change(means, key)),
  },
  'TTL as the bound': {
    read: through(({ cache }, key, value) => cache.set(key, value, 'PX', TTL_MS)),
    write: deleteAfter,
  },
};

/** Runs readers and writers of one key at about the same time. True when the cache is wrong at the end. */
async function life({ read, write }: Strategy, means: Means, key: string): Promise<void> {
  await means.db.set(key, 1);
  const at = async (work: () => Promise<unknown>): Promise<void> => {
    await pause(Math.random() * 10);
    await work();
  };
  await Promise.all([
    ...Array.from({ length: READERS }, () => at(() => read(means, key))),
    ...Array.from({ length: WRITERS }, () => at(() => write(means, key))),
  ]);
}

async function stale({ db, cache }: Means): Promise<number> {
  let wrong = 0;
  for (let index = 0; index < KEYS; index++) {
    const [value, cached] = await Promise.all([db.get(`key:${index}`), cache.get(`key:${index}`)]);
    if (cached !== null && cached !== value) wrong++;
  }
  return wrong;
}

/** The result of one strategy. */
export interface CacheRun {
  readonly strategy: string;
  readonly slow: boolean;
  /** Keys that are wrong after the run, and keys that are still wrong after the TTL. */
  readonly stale: number;
  readonly staleLater: number;
  readonly perSecond: number;
}

async function race(strategy: string, means: Means): Promise<CacheRun> {
  await Promise.all([means.db.flushall(), means.cache.flushall()]);
  const startedAt = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < KEYS) await life(strategies[strategy]!, means, `key:${next++}`);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const seconds = (performance.now() - startedAt) / 1000;
  const wrong = await stale(means);
  await pause(TTL_MS);
  const perSecond = (KEYS * (READERS + WRITERS)) / seconds;
  return { strategy, slow: means.slow, stale: wrong, staleLater: await stale(means), perSecond };
}

/** The result of a stampede. */
export interface CrowdRun {
  readonly name: string;
  /** How often the database was read for one rebuild. */
  readonly loads: number;
}

/** S116: all readers miss at once. */
async function crowd(name: string, means: Means, read: Strategy['read']): Promise<CrowdRun> {
  await means.cache.flushall();
  means.loads = 0;
  const rebuilds = 20;
  for (let i = 0; i < rebuilds; i++) {
    await means.db.set(`crowd:${i}`, 1);
    await Promise.all(Array.from({ length: CROWD }, () => read(means, `crowd:${i}`)));
  }
  return { name, loads: means.loads / rebuilds };
}

/** Runs every strategy with fast and with slow readers, and the stampede. */
export async function runCache(): Promise<{ races: CacheRun[]; crowds: CrowdRun[] }> {
  await using dbServer = await startRedisServer();
  await using cacheServer = await startRedisServer();
  const [db, cache] = [new Redis({ path: dbServer.path }), new Redis({ path: cacheServer.path })];
  const locks = createLocks(cache);
  const races: CacheRun[] = [];
  for (const strategy of Object.keys(strategies)) {
    for (const slow of [false, true]) races.push(await race(strategy, { db, cache, locks, slow, loads: 0 }));
  }
  const means = { db, cache, locks, slow: false, loads: 0 };
  const crowds = [
    await crowd('S116: every reader that misses loads', means, plainRead),
    await crowd('a lock, and a second look', means, async (all, key) => {
      const cached = await all.cache.get(key);
      return cached ?? all.locks.simple(`lock:${key}`).using(() => plainRead(all, key));
    }),
  ];
  locks.close();
  db.disconnect();
  cache.disconnect();
  return { races, crowds };
}

/** The results as a chapter of the report. */
export function cacheChapter({ races, crowds }: { races: CacheRun[]; crowds: CrowdRun[] }): string {
  const cell = ({ stale: wrong, staleLater, perSecond }: CacheRun): string => {
    const later = wrong > 0 ? `, ${staleLater} after ${TTL_MS} ms` : '';
    return `${wrong > 0 ? `**${wrong} stale**` : '0'}${later}; ${Math.round(perSecond)}/s`;
  };
  const rows = Object.keys(strategies).map((strategy) => {
    const [quick, slow] = [false, true].map(
      (isSlow) => races.find((run) => run.strategy === strategy && run.slow === isSlow)!,
    );
    return `| ${strategy} | ${cell(quick!)} | ${cell(slow!)} |`;
  });
  return `## A cache beside a database

${KEYS} keys, each with ${READERS} readers and ${WRITERS} writers at about the same time. *Stale* keys
have a cached value that differs from the database's at the end. A slow reader (every eighth load) writes what it has read after ${SLOW_MS} ms; the second delete
comes after ${DELETE_AGAIN_MS} ms.

| strategy | quick readers | some slow readers |
|---|---|---|
${rows.join('\n')}

The second delete corrects every value that was stored before it. A lock on both sides prevents stale values, and so does
a version in the value. A TTL prevents none, but limits how long they last.

${CROWD} readers miss the same key at once:

| strategy | loads per rebuild |
|---|---|
${crowds.map(({ name, loads }) => `| ${name} | ${loads.toFixed(1)} |`).join('\n')}
`;
}
