/** The same seed makes the same trace, byte for byte, with every client and lock library: in this process, in another one, and side by side. */
import { capturedRandom } from '../support/captured.ts';
import '../../lab/router.ts';
import { execFile } from 'node:child_process'; // tidy suffixes: one difference between two processes is a bug; no retry may hide it
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { contend } from '../clients/contention.ts';
import { sampleOf } from '../support/long.ts';

const FIRST = 3;
const SEEDS = Array.from({ length: sampleOf(1000, 2) }, (_, i) => FIRST + i);

/** What the tests need of a run. Traces are too large to keep a thousand of them. */
interface Run {
  readonly hash: string;
  readonly holders: readonly string[];
  readonly brokeConnections: boolean;
  readonly lostWrites: boolean;
}

async function runs(): Promise<Run[]> {
  const found: Run[] = [];
  for (const seed of SEEDS) {
    const { hash, holds, trace } = await contend(seed);
    const text = String(trace);
    const brokeConnections = / redis-1>\S+ +end\b/.test(text);
    found.push({ hash, holders: [...holds.keys()], brokeConnections, lostWrites: text.includes('lost') });
  }
  return found;
}

function hashesOf(found: readonly { readonly hash: string }[]): string[] {
  return found.map(({ hash }) => hash);
}

let first: Promise<Run[]> | undefined;

/** The first run of each seed, which the other runs must repeat. */
function firstRuns(): Promise<Run[]> {
  first ??= runs();
  return first;
}

test('every contender holds the lock at some time, and the failover has an effect', async () => {
  const first = await firstRuns();
  // In a single run, chance may favour the other contenders all the time.
  const holders = new Set(first.flatMap((run) => run.holders));
  expect([...holders].sort()).toEqual([
    'node-redis',
    'redlock4',
    'redlock5',
    'semaphore',
    'sesame',
    'watchdog',
  ]);
  expect(first.some((run) => run.brokeConnections)).toBe(true);
  expect(first.some((run) => run.lostWrites)).toBe(true);
});

test('seeds differ, and each gives the same hash again', async () => {
  const first = hashesOf(await firstRuns());
  expect(new Set(first).size).toBe(SEEDS.length);
  expect(hashesOf(await runs())).toEqual(first);
});

test('worlds that run side by side do not disturb each other', async () => {
  const together = await Promise.all(SEEDS.map((seed) => contend(seed)));
  expect(hashesOf(together)).toEqual(hashesOf(await firstRuns()));
});

test('a second process, which runs the seeds in another order, agrees', async () => {
  // With the flags of this process: it loads the same sources, and the same ioredis.
  const args = [...process.execArgv, 'test/clients/contention-main.ts', String(FIRST), String(SEEDS.at(-1))];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const there = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const hashes = new Map(there.map(([seed, hash]) => [Number(seed), hash]));
  expect(SEEDS.map((seed) => hashes.get(seed))).toEqual(hashesOf(await firstRuns()));
});

test('real randomness in a handler is detected', async () => {
  const first = await contend(1, capturedRandom);
  const second = await contend(1, capturedRandom);
  expect(second.hash).not.toBe(first.hash);
  expect((await contend(1, Math.random)).hash).toBe((await contend(1, Math.random)).hash);
});
