/** One request of each usual command, on values of ten and of a thousand elements. They show which commands are slow. */
import type { Redis } from 'ioredis';
import type { Load } from './loads.ts';

const THOUSAND = Array.from({ length: 1000 }, (_, i) => `e${i}`);
const TEN = THOUSAND.slice(0, 10);
const MANY = THOUSAND.slice(0, 500);

/** The values that the requests read and change. */
async function fill(redis: Redis): Promise<void> {
  await redis.set('string', 'hello');
  for (const [size, items] of [
    ['10', TEN],
    ['1000', THOUSAND],
  ] as const) {
    await redis.rpush(`list:${size}`, ...items);
    await redis.sadd(`set:${size}`, ...items);
    await redis.hset(`hash:${size}`, ...items.flatMap((item) => [item, 'v']));
    await redis.zadd(`zset:${size}`, ...items.flatMap((item, i) => [i, item]));
    await redis.pfadd(`hll:${size}`, ...items);
    for (const [i, item] of items.entries()) {
      await redis.xadd(`stream:${size}`, '*', 'field', item);
      await redis.geoadd(`geo:${size}`, i / 10, i / 20, item);
      await redis.setbit(`bits:${size}`, i * 7, 1);
    }
  }
  await redis.mset(...THOUSAND.flatMap((item) => [`key:${item}`, 'v']));
}

/** @param requests how many thousands of requests are sent */
function load(requests: number, words: readonly string[], depth: number): Load {
  const name = words.length > 12 ? `${words[0]} with 500 arguments` : words.join(' ');
  return { name, keys: 1, depths: [depth], scale: requests / 600, words: () => [...words], fill };
}

/** Requests with short replies, in pipelines of 16. */
const QUICK = `
  PING
  INCR counter
  APPEND appended x
  MGET string counter missing
  MSET a 1 b 2 c 3
  GETEX string EX 100
  BITCOUNT bits:1000
  BITFIELD bits:1000 GET u8 0
  TTL string
  EXPIRE string 100
  SCAN 0
  COPY string copy REPLACE
  DUMP hash:10
  LPUSH pushed x
  RPOP pushed
  LINDEX list:1000 500
  LSET list:1000 500 other
  LRANGE list:10 0 -1
  HGET hash:1000 e500
  HSET hash:1000 e500 v
  HGETALL hash:10
  HSCAN hash:1000 0
  SISMEMBER set:1000 e500
  SMEMBERS set:10
  SRANDMEMBER set:1000
  ZADD zset:1000 5 e5
  ZSCORE zset:1000 e500
  ZRANGE zset:10 0 -1 WITHSCORES
  PFADD hll:1000 e5
  GEODIST geo:1000 e5 e6
  XLEN stream:1000
  XREAD COUNT 5 STREAMS stream:1000 0
  CONFIG GET maxmemory
  CLIENT INFO
  OBJECT ENCODING hash:1000
  MEMORY USAGE hash:10`;

/** Requests with long replies, or that look at many elements. */
const SLOW = `
  INFO
  CONFIG GET *
  KEYS key:e1*
  SCAN 0 COUNT 1000
  LRANGE list:1000 0 -1
  HGETALL hash:1000
  SMEMBERS set:1000
  SINTER set:1000 set:10
  SUNION set:1000 set:10
  ZRANGE zset:1000 0 -1
  ZUNIONSTORE stored 2 zset:1000 zset:10
  SORT list:1000 ALPHA
  XRANGE stream:1000 - +
  PFMERGE merged hll:1000 hll:10
  GEOSEARCH geo:1000 FROMLONLAT 50 25 BYRADIUS 100 km`;

const lines = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' '));

/** One request of each usual command. */
export const COMMANDS: readonly Load[] = [
  ...lines(QUICK).map((words) => load(60, words, 16)),
  ...lines(SLOW).map((words) => load(2, words, 4)),
  load(2, ['MGET', ...MANY.map((item) => `key:${item}`)], 4),
  load(2, ['RPUSH', 'pushed', ...MANY], 4),
  load(2, ['HSET', 'written', ...MANY], 4),
  load(2, ['EXISTS', ...MANY], 4),
];
