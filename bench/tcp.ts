/** Measures requests per second and CPU time per request over TCP, beside redis-server in the same run. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import {
  type Contestant,
  cpuOf,
  LOAD_CORE,
  median,
  pinned,
  spreadOf,
  startOurs,
  startReal,
  stop,
} from './contestants.ts';
import { type Load, SCRIPTS } from './loads/loads.ts';
import type { Row } from './report.ts';

const run = promisify(execFile);

/** How many requests each measurement sends, by the length of the pipeline. */
const REQUESTS: Readonly<Record<number, number>> = { 1: 100_000, 16: 600_000, 100: 1_000_000 };

const CONNECTIONS = 50;

/** What a measurement found. */
export interface Measured {
  /** Requests per second. */
  readonly rate: number;
  /** The 99th percentile of the latency, in milliseconds. */
  readonly p99: number;
  /** CPU time of the server per request, in microseconds; NaN where the system does not tell. */
  readonly cpu: number;
}

/** How many requests a measurement sends. @param scale the share of the usual number */
export function requestsOf(depth: number, scale: number): number {
  return Math.ceil((REQUESTS[depth] ?? 600_000) * scale);
}

/** How much is measured. */
export interface Extent {
  readonly rounds: number;
  /** The share of the usual number of requests. */
  readonly scale: number;
  /** Which rows to measure, by their names. */
  readonly wanted: (name: string) => boolean;
  /** Where Node writes a profile of our server. */
  readonly profile?: string;
}

/**
 * Sends requests with redis-benchmark.
 * @param requests how many
 * @param round the number of the round. Each round has one key less to choose from: redis-benchmark takes its random numbers
 *   from the time and its process number, so two rounds may otherwise send the same requests, and the second one of ZADD
 *   then changes nothing
 */
export async function measure(
  contestant: Contestant,
  { keys, connections = CONNECTIONS }: Pick<Load, 'keys' | 'connections'>,
  words: readonly string[],
  depth: number,
  requests: number,
  round = 0,
): Promise<Measured> {
  const range = Math.max(1, keys - round);
  const size = `-p ${contestant.port} -c ${connections} -P ${depth} -n ${requests} -r ${range} --csv`;
  const args = [...size.split(' '), ...words];
  const before = cpuOf(contestant);
  const { stdout } = await run(...pinned(LOAD_CORE, 'redis-benchmark', args), { maxBuffer: 1 << 26 });
  const cpu = (cpuOf(contestant) - before) / requests;
  const line = stdout.trim().split('\n').at(-1) ?? '';
  // "name","rps","avg",…; the name may contain commas. The columns after rps: avg, min, p50, p95, p99, max.
  const found = /","([\d.]+)","[\d.]+","[\d.]+","[\d.]+","[\d.]+","([\d.]+)","[\d.]+"$/.exec(line);
  return { rate: Number(found?.[1]), p99: Number(found?.[2]), cpu };
}

/** A client of each server, and the scripts' hashes there. */
async function prepare(contestant: Contestant) {
  const redis = new Redis(contestant.port, '127.0.0.1', { protocol: 2 });
  const shas = new Map<string, string>();
  for (const text of SCRIPTS) shas.set(text, (await redis.script('LOAD', text)) as string);
  return { contestant, redis, sha: (text: string): string => shas.get(text) ?? '' };
}

/** Runs every load on both servers in turn, in alternating order. */
export async function overTcp(loads: readonly Load[], extent: Extent): Promise<Row[]> {
  const { rounds, scale, wanted, profile } = extent;
  if (!loads.some((load) => load.depths.some((depth) => wanted(nameOf(load, depth))))) return [];
  const contestants = [await startOurs(profile), await startReal()];
  const sides = await Promise.all(contestants.map(prepare));
  try {
    const rows: Row[] = [];
    const filled = new Set<Load['fill']>();
    for (const load of loads) {
      const depths = load.depths.filter((depth) => wanted(nameOf(load, depth)));
      if (depths.length === 0 || (scale < 0.5 && load.keys > 10_000)) continue;
      if (load.fill && !filled.has(load.fill)) for (const { redis } of sides) await load.fill(redis);
      filled.add(load.fill);
      for (const depth of depths) {
        const requests = requestsOf(depth, scale * (load.scale ?? 1));
        const figures: Measured[][] = [[], []];
        for (let round = 0; round <= rounds; round++) {
          for (const i of round % 2 === 0 ? [0, 1] : [1, 0]) {
            const { contestant, sha } = sides[i]!;
            const measured = await measure(contestant, load, load.words(sha), depth, requests, round);
            // The first round warms up both servers.
            if (round > 0) figures[i]?.push(measured);
          }
        }
        rows.push(...rowsOf(nameOf(load, depth), depth, figures[0]!, figures[1]!));
      }
    }
    return rows;
  } finally {
    for (const { redis } of sides) redis.disconnect();
    await Promise.all(contestants.map(stop));
  }
}

function nameOf(load: Load, depth: number): string {
  const { connections = CONNECTIONS } = load;
  const senders = connections === 1 ? '1 connection' : `${connections} connections`;
  return `${load.name} over ${load.keys} keys, ${senders}, pipeline ${depth}`;
}

/** The rows of one of our servers beside redis-server: its rate, and the slowest answers if requests were not pipelined. */
export function rowsOf(
  name: string,
  depth: number,
  ours: readonly Measured[],
  real: readonly Measured[],
): Row[] {
  const of = (what: keyof Measured, list: readonly Measured[]): number =>
    median(list.map((each) => each[what]));
  const row: Row = {
    name,
    ours: of('rate', ours),
    other: of('rate', real),
    unit: 'requests/s',
    spread: spreadOf(ours.map(({ rate }) => rate)),
    cpu: [of('cpu', ours), of('cpu', real)],
  };
  process.stderr.write(`${name}: ${(row.ours / (row.other ?? 1)).toFixed(2)}\n`);
  if (depth > 1) return [row];
  const slowest = { ours: of('p99', ours), other: of('p99', real), unit: 'ms', lessIsBetter: true };
  return [row, { ...slowest, name: `${name}: 99th percentile of the latency` }];
}
