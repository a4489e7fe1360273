/** The requests that the bench sends with redis-benchmark, and the data that they need. */
import type { Redis } from 'ioredis';

const UNLOCK =
  "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

/**
 * A re-entrant lock in Redisson's layout: grants and renews a free or own lock; for another owner's lock, returns its
 * remaining time.
 */
const REENTRANT = `
if (redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`;

/** The scripts, which are loaded before the measurements. */
export const SCRIPTS = [UNLOCK, REENTRANT];

const OWNER = '0f8fad5b-d9cb-469f-a165:1';
/** Long enough for locks to live until the end of a measurement. */
const LEASE = '600000';

/** A kind of request. */
export interface Load {
  readonly name: string;
  /** How many keys or members redis-benchmark chooses from. */
  readonly keys: number;
  /** The request; `sha(text)` stands for a loaded script. */
  readonly words: (sha: (text: string) => string) => string[];
  /** Lengths of pipelines. */
  readonly depths: readonly number[];
  /** How many connections send the requests; default 50. */
  readonly connections?: number;
  /** How many of the usual number of requests are sent; default 1. */
  readonly scale?: number;
  /** Creates the data that the request needs. Loads that share a function share its data. */
  readonly fill?: (redis: Redis) => Promise<void>;
}

/** A number as redis-benchmark writes it. */
const padded = (i: number): string => String(i).padStart(12, '0');

/** Runs `step` for 0 to count - 1 in pipelines. */
async function inBatches(
  redis: Redis,
  count: number,
  step: (batch: ReturnType<Redis['pipeline']>, i: number) => void,
): Promise<void> {
  for (let from = 0; from < count; from += 10_000) {
    const batch = redis.pipeline();
    for (let i = from; i < Math.min(count, from + 10_000); i++) step(batch, i);
    await batch.exec();
  }
}

function reentrant(keys: number, depths: readonly number[], live = false): Load {
  return {
    name: `EVALSHA re-entrant lock${live ? ', all live' : ''}`,
    keys,
    depths,
    words: (sha) => ['EVALSHA', sha(REENTRANT), '1', 'rlock:__rand_int__', LEASE, OWNER],
    ...(live && {
      fill: (redis) =>
        inBatches(redis, keys, (batch, i) => {
          batch.hset(`rlock:${padded(i)}`, OWNER, 1);
          batch.pexpire(`rlock:${padded(i)}`, LEASE);
        }),
    }),
  };
}

const set = (keys: number): Load => ({
  name: 'SET',
  keys,
  depths: [1, 16, 100],
  words: () => ['SET', 'key:__rand_int__', 'xxx'],
});
const get = (keys: number): Load => ({
  name: 'GET',
  keys,
  depths: [1, 16, 100],
  words: () => ['GET', 'key:__rand_int__'],
  fill: (redis) => inBatches(redis, keys, (batch, i) => batch.set(`key:${padded(i)}`, 'xxx')),
});
const setNx = (keys: number): Load => ({
  name: 'SET NX PX',
  keys,
  depths: [1, 16, 100],
  words: () => ['SET', 'lock:__rand_int__', 'token-of-twenty-byte', 'NX', 'PX', '30000'],
});

/** What locks and caches send. */
export const WIRE: readonly Load[] = [
  set(1000),
  get(1000),
  setNx(1000),
  {
    name: 'EVALSHA unlock',
    keys: 1000,
    depths: [1, 16, 100],
    words: (sha) => ['EVALSHA', sha(UNLOCK), '1', 'lock:__rand_int__', 'token'],
  },
  reentrant(1000, [1, 16, 100]),
  set(100_000),
  get(100_000),
  setNx(100_000),
  reentrant(10_000, [16], true),
  reentrant(100_000, [1, 16, 100], true),
  reentrant(1_000_000, [16], true),
];

/** How many KiB, in pipelines of which lengths, and how many of the usual number of requests. */
const LARGE = [
  [1, [16], 0.5],
  [4, [1, 16], 0.3],
  [32, [1, 16], 0.1],
  [64, [16], 0.05],
] as const;

/** Larger values. */
export const SIZES: readonly Load[] = LARGE.flatMap(([kib, depths, scale]) => [
  {
    name: `SET of ${kib} KiB`,
    keys: 100,
    depths,
    scale,
    words: () => ['SET', 'big:__rand_int__', 'x'.repeat(kib * 1024)],
  },
  {
    name: `GET of ${kib} KiB`,
    keys: 100,
    depths,
    scale,
    words: () => ['GET', 'big:__rand_int__'],
    fill: (redis) =>
      inBatches(redis, 100, (batch, i) => batch.set(`big:${padded(i)}`, 'x'.repeat(kib * 1024))),
  },
]);

/** Other numbers of connections than 50. */
export const CONNECTIONS: readonly Load[] = [1, 10, 200, 1000].flatMap((connections) => [
  // One connection waits for each answer, so it takes ten times as long.
  { ...get(1000), depths: [1], connections, scale: connections === 1 ? 0.2 : 1 },
  { ...reentrant(1000, [1]), connections, scale: connections === 1 ? 0.2 : 1 },
]);

const sortedSet = (members: number): Load[] => {
  const fill = (redis: Redis): Promise<void> =>
    inBatches(redis, members, (batch, i) => batch.zadd(`z${members}`, i, `m:${padded(i)}`));
  const common = { keys: members, depths: [16], scale: 0.3, fill };
  const key = `z${members}`;
  return [
    { ...common, name: 'ZADD', words: () => ['ZADD', key, '__rand_int__', 'm:__rand_int__'] },
    { ...common, name: 'ZRANK', words: () => ['ZRANK', key, 'm:__rand_int__'] },
    {
      ...common,
      name: 'ZRANGEBYSCORE, ten members',
      words: () => ['ZRANGEBYSCORE', key, '__rand_int__', '+inf', 'LIMIT', '0', '10'],
    },
  ];
};

/** Other structures. */
export const STRUCTURES: readonly Load[] = [
  ...[1000, 100_000, 1_000_000].flatMap(sortedSet),
  {
    name: 'XADD to a stream of 10,000',
    keys: 1,
    depths: [16],
    scale: 0.3,
    words: () => ['XADD', 'stream', 'MAXLEN', '~', '10000', '*', 'field', 'value'],
  },
];
