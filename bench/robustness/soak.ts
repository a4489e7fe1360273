/** `npm run soak`: a mixed load for ten minutes (`--minutes N`), during which memory must stay flat. */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { createLocks } from '../../locks/index.ts';
import { readPage, writePage } from './page.ts';
import { Target } from './target.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError(`--minutes ${values.minutes}: must be a number above 0`);

/** The growth from the second to the last quarter, in MB, above which memory is not flat. */
const GROWTH = 32;

// A small heap is soon full. After that only leaks make it grow, and in the end they kill the process.
const target = await Target.startWith(['--max-old-space-size=128'], ['--replicas', '1']);
const end = performance.now() + minutes * 60_000;
const running = (): boolean => performance.now() < end;
let done = 0;
let serial = 0;

function client(): Redis {
  const redis = new Redis(target.port, { lazyConnect: false });
  redis.on('error', () => {});
  return redis;
}

/** Repeats an action until the time is over, on a connection of its own. */
async function keepOn(act: (redis: Redis, round: number) => Promise<unknown>): Promise<void> {
  let redis = client();
  for (let round = 0; running(); round++) {
    // Errors are part of the load; the server has to continue.
    await act(redis, round).catch(() => {});
    done++;
    if (round % 2000 !== 1999) continue;
    redis.disconnect();
    redis = client();
  }
  redis.disconnect();
}

const text = (length: number): string => 'x'.repeat(length);
const key = (): string => `k${serial++ % 5000}`;

const LOADS: readonly ((redis: Redis, round: number) => Promise<unknown>)[] = [
  (redis) => redis.set(key(), text(serial % 500), 'PX', 1 + (serial % 3000)),
  (redis) =>
    redis
      .multi()
      .incr('n')
      .hset(`h${serial % 100}`, key(), '1')
      .del(`h${(serial + 50) % 100}`)
      .exec(),
  (redis) => redis.multi().rpush('list', text(100)).ltrim('list', -100, -1).exec(),
  (redis) => redis.multi().zadd('zset', serial, key()).zremrangebyrank('zset', 0, -500).exec(),
  (redis) => redis.multi().xadd('stream', 'MAXLEN', '~', 200, '*', 'f', text(50)).exec(),
  (redis, round) => redis.eval(`local t = {} for i = 1, 100 do t[i] = i end return #t + ${round % 300}`, 0),
  (redis) => redis.eval("return redis.call('SET', KEYS[1], ARGV[1], 'PX', 500)", 1, key(), text(50)),
  (redis, round) => redis.call('NOSUCH', `command${round}`),
  (redis) => redis.publish('news', text(200)),
  async (redis, round) => {
    if (round % 50 === 0) await redis.subscribe(`news`, `n${round}`);
    else if (round % 50 === 49) await redis.unsubscribe();
    await wait(1);
  },
  (redis) => redis.blpop(`nothing${serial++ % 100}`, 0.01),
  (redis) => redis.wait(1, 5),
];

/** Acquires, holds and releases locks all the time. */
async function contend(): Promise<void> {
  const redis = client();
  const locks = createLocks(redis);
  for (let round = 0; running(); round++) {
    const lock = locks.simple(`lock${round % 10}`);
    const claim = await lock.tryAcquire({ leaseMs: 200 }).catch(() => undefined);
    if (claim !== undefined && claim !== null) await claim.release().catch(() => {});
    done++;
  }
  locks.close();
  redis.disconnect();
}

const samples: number[] = [];
const sampling = (async () => {
  for (let n = 0; running(); n++) {
    const { now, peak } = target.memory;
    samples.push(now);
    if (n % 10 === 0)
      console.log(`${done.toLocaleString('en')} rounds, ${Math.round(now)} MB, peak ${Math.round(peak)} MB`);
    await wait(1000);
  }
})();

await Promise.all([sampling, ...LOADS.map(keepOn), contend(), contend()]);

const median = (part: readonly number[]): number => [...part].sort((a, b) => a - b)[part.length >> 1] ?? 0;
const quarter = Math.floor(samples.length / 4);
const early = median(samples.slice(quarter, 2 * quarter));
const late = median(samples.slice(-quarter));
const well =
  (await target.ask('PING')).startsWith('+PONG') &&
  !target.errors.some((line) => /Internal error/.test(line));
const outcome = `${done.toLocaleString('en')} rounds in ${minutes} min; resident memory: ${Math.round(early)} MB in the second quarter, ${Math.round(late)} MB in the last`;
console.log(outcome);
const chapter = [
  '## Soak',
  '',
  `\`npm run soak -- --minutes ${minutes}\``,
  '',
  'Writes, expiries, transactions, lists, sorted sets, streams, scripts, errors, subscriptions, blocking, WAIT on a replica, locks,',
  'and new connections all the time, on a server whose heap may take 128 MB:',
  '',
  `${outcome}.`,
];
writePage(readPage().set('Soak', chapter.join('\n')));
await target.stop();
if (!well) throw new Error(`the server is not well: ${target.errors[0] ?? 'it does not answer'}`);
if (late - early > GROWTH)
  throw new Error(`memory has grown by ${Math.round(late - early)} MB: more than ${GROWTH} MB`);
process.exit(0);
