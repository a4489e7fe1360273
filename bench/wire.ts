/**
 * Measures requests per second over TCP, beside redis-server in the same run: SET, GET, lock commands, lock scripts.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { type Contestant, LOAD_CORE, median, pinned, startOurs, startReal, stop } from './contestants.ts';
import type { Row } from './report.ts';

const run = promisify(execFile);

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

interface Load {
  readonly name: string;
  /** The number of keys: locks are few, data may be many. */
  readonly keys: number;
  /** The request; `sha(text)` stands for a loaded script. */
  readonly words: (sha: (text: string) => string) => string[];
}

const LOADS: readonly Load[] = [
  { name: 'SET', keys: 1000, words: () => ['SET', 'key:__rand_int__', 'xxx'] },
  { name: 'GET', keys: 1000, words: () => ['GET', 'key:__rand_int__'] },
  {
    name: 'SET NX PX',
    keys: 1000,
    words: () => ['SET', 'lock:__rand_int__', 'token-of-twenty-byte', 'NX', 'PX', '30000'],
  },
  {
    name: 'EVALSHA unlock',
    keys: 1000,
    words: (sha) => ['EVALSHA', sha(UNLOCK), '1', 'lock:__rand_int__', 'token'],
  },
  {
    name: 'EVALSHA re-entrant lock',
    keys: 1000,
    words: (sha) => [
      'EVALSHA',
      sha(REENTRANT),
      '1',
      'rlock:__rand_int__',
      '30000',
      '0f8fad5b-d9cb-469f-a165:1',
    ],
  },
  { name: 'SET', keys: 100_000, words: () => ['SET', 'key:__rand_int__', 'xxx'] },
  {
    name: 'EVALSHA re-entrant lock',
    keys: 100_000,
    words: (sha) => [
      'EVALSHA',
      sha(REENTRANT),
      '1',
      'rlock:__rand_int__',
      '30000',
      '0f8fad5b-d9cb-469f-a165:1',
    ],
  },
];

/** The pipeline lengths, and how many requests each measurement sends. */
const PIPELINES = [
  { depth: 1, requests: 100_000 },
  { depth: 16, requests: 600_000 },
  { depth: 100, requests: 1_000_000 },
];

async function measure(port: number, load: Load, words: string[], depth: number, requests: number) {
  const size = `-p ${port} -c 50 -P ${depth} -n ${requests} -r ${load.keys} --csv`;
  const args = [...size.split(' '), ...words];
  const { stdout } = await run(...pinned(LOAD_CORE, 'redis-benchmark', args), { maxBuffer: 1 << 26 });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  // "name","rps","avg",…; the name may contain commas.
  return Number(/","([\d.]+)","[\d.]+","[\d.]+","[\d.]+","[\d.]+","[\d.]+","[\d.]+"$/.exec(line)?.[1]);
}

async function loadScripts(contestant: Contestant): Promise<(text: string) => string> {
  const redis = new Redis(contestant.port, '127.0.0.1', { protocol: 2 });
  const shas = new Map<string, string>();
  for (const text of [UNLOCK, REENTRANT]) shas.set(text, (await redis.script('LOAD', text)) as string);
  redis.disconnect();
  return (text) => shas.get(text) ?? '';
}

/** Runs every load on both servers in turn, in alternating order. */
export async function wire(rounds: number, scale: number): Promise<Row[]> {
  const contestants = [await startOurs(), await startReal()];
  try {
    const scripts = await Promise.all(contestants.map(loadScripts));
    const rows: Row[] = [];
    for (const load of LOADS) {
      for (const { depth, requests } of PIPELINES) {
        const figures: number[][] = [[], []];
        for (let round = 0; round <= rounds; round++) {
          for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) {
            const { port } = contestants[i] as Contestant;
            const words = load.words(scripts[i] as (text: string) => string);
            const rps = await measure(port, load, words, depth, Math.ceil(requests * scale));
            // The first round warms up both servers.
            if (round > 0) figures[i]?.push(rps);
          }
        }
        const [ours = 0, real = 0] = figures.map(median);
        rows.push({
          name: `${load.name} over ${load.keys} keys, 50 connections, pipeline ${depth}`,
          ours,
          other: real,
          unit: 'requests/s',
        });
        process.stderr.write(`${load.name} P${depth}: ${(ours / real).toFixed(2)}\n`);
      }
    }
    return rows;
  } finally {
    contestants.forEach(stop);
  }
}
