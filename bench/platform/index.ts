/**
 * Measures what the platform itself costs, beside redis-server: no server on Node can be faster. Targets that these rows
 * do not reach are out of reach.
 */
import { join } from 'node:path';
import { type Contestant, launch, median, spreadOf, startOurs, startReal, stop } from '../contestants.ts';
import type { Load } from '../loads.ts';
import type { Row } from '../report.ts';
import { type Extent, type Measured, measure, requestsOf } from '../wire.ts';

const SET = ['SET', 'key:__rand_int__', 'xxx'];
const GET = ['GET', 'key:__rand_int__'];

const SET_NX = ['SET', 'lock:__rand_int__', 'token-of-twenty-byte', 'NX', 'PX', '30000'];

/** Requests that a bare server understands, over how many keys, and in pipelines of which lengths. */
const LOADS: readonly (Pick<Load, 'name' | 'keys' | 'depths' | 'scale'> & {
  readonly words: readonly string[];
})[] = [
  { name: 'SET', keys: 1000, depths: [1, 16, 100], words: SET },
  { name: 'GET', keys: 1000, depths: [1, 16, 100], words: GET },
  { name: 'SET NX PX', keys: 1000, depths: [16, 100], words: SET_NX },
  { name: 'SET over 100000 keys', keys: 100_000, depths: [16], words: SET },
  { name: 'SET NX PX over 100000 keys', keys: 100_000, depths: [16], words: SET_NX },
  {
    name: 'SET of 4 KiB',
    keys: 1000,
    depths: [1],
    scale: 0.3,
    words: [...SET.slice(0, 2), 'x'.repeat(4096)],
  },
  {
    name: 'SET of 32 KiB',
    keys: 1000,
    depths: [1, 16],
    scale: 0.1,
    words: [...SET.slice(0, 2), 'x'.repeat(32_768)],
  },
];

/** The length of a request as redis-benchmark sends it, in bytes. */
function lengthOf(words: readonly string[]): number {
  const lengths = words.map((word) => word.replace('__rand_int__', '0'.repeat(12)).length);
  return lengths.reduce((sum, each) => sum + `$${each}\r\n\r\n`.length + each, `*${words.length}\r\n`.length);
}

async function startBare(kind: string, ...words: string[]): Promise<Contestant> {
  const file = join(import.meta.dirname, 'bare-server.ts');
  return await launch(kind, process.execPath, (port) => [...process.execArgv, file, port, kind, ...words]);
}

/** CPU times per request of several servers, which take turns. */
async function compare(
  starts: readonly (() => Promise<Contestant>)[],
  load: Pick<Load, 'keys'> & { readonly words: readonly string[] },
  depth: number,
  requests: number,
  rounds: number,
): Promise<Measured[][]> {
  const contestants = await Promise.all(starts.map((start) => start()));
  const figures: Measured[][] = contestants.map(() => []);
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const [i, contestant] of contestants.entries()) {
        const measured = await measure(contestant, load, load.words, depth, requests);
        if (round > 0) figures[i]?.push(measured);
      }
    }
  } finally {
    await Promise.all(contestants.map(stop));
  }
  return figures;
}

/** The rows of this chapter. */
export async function platform({ rounds, scale }: Extent): Promise<Row[]> {
  const rows: Row[] = [];
  for (const load of LOADS) {
    const { name, depths, words, scale: share = 1 } = load;
    const counts = (): Promise<Contestant> => startBare('count', String(lengthOf(words)));
    const starts = [() => startReal(), counts, () => startBare('store'), () => startOurs()];
    for (const depth of depths) {
      const requests = requestsOf(depth, scale * share);
      const [real = [], ...others] = await compare(starts, load, depth, requests, rounds);
      const of = (list: readonly Measured[], what: keyof Measured): number =>
        median(list.map((each) => each[what]));
      for (const [i, kind] of ['a server that counts bytes', 'a server with a Map', 'lostlock'].entries()) {
        const figures = others[i] ?? [];
        const row: Row = {
          name: `${name}, pipeline ${depth}: ${kind}`,
          ours: of(figures, 'rate'),
          other: of(real, 'rate'),
          unit: 'requests/s',
          spread: spreadOf(figures.map(({ rate }) => rate)),
          cpu: [of(figures, 'cpu'), of(real, 'cpu')],
        };
        rows.push(row);
        if (depth === 1) {
          const slowest = {
            ours: of(figures, 'p99'),
            other: of(real, 'p99'),
            unit: 'ms',
            lessIsBetter: true,
          };
          rows.push({ ...slowest, name: `${row.name}: 99th percentile of the latency` });
        }
        process.stderr.write(`${row.name}: ${(row.cpu![1] / row.cpu![0]).toFixed(2)} of CPU\n`);
      }
    }
  }
  return rows;
}
