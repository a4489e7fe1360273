/** The same seed makes the same trace, byte for byte, with every client and lock library: in this process, in another one, and side by side. */
import { capturedRandom } from '../support/captured.ts';
import '../../lab/router.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { contend } from '../clients/contention.ts';
import { sampleOf } from '../support/long.ts';

const SEEDS = Array.from({ length: sampleOf(1000, 5) }, (_, i) => i + 1);

async function hashes(): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (const seed of SEEDS) found.set(seed, (await contend(seed)).hash);
  return found;
}

let first: Promise<Map<number, string>> | undefined;

/** The hashes of the first run, which the other runs must repeat. */
function firstHashes(): Promise<Map<number, string>> {
  first ??= hashes();
  return first;
}

test('every contender holds the lock at some time, and the failover has an effect', async () => {
  const held = new Set<string>();
  let trace = '';
  // In a single run, chance may favour the other contenders all the time.
  for (const seed of SEEDS.slice(0, 4)) {
    const run = await contend(seed);
    for (const name of run.holds.keys()) held.add(name);
    trace += String(run.trace);
  }
  expect([...held].sort()).toEqual(['node-redis', 'redlock4', 'redlock5', 'semaphore', 'sesame', 'watchdog']);
  expect(trace).toMatch(/ redis-1>\S+ +end\b/);
  expect(trace).toContain('lost');
});

test('seeds differ, and each gives the same hash again', async () => {
  const first = await firstHashes();
  expect(new Set(first.values()).size).toBe(SEEDS.length);
  expect(await hashes()).toEqual(first);
});

test('worlds that run side by side do not disturb each other', async () => {
  const together = await Promise.all(SEEDS.map(async (seed) => [seed, (await contend(seed)).hash] as const));
  expect(new Map(together)).toEqual(await firstHashes());
});

test('a second process, which runs the seeds in another order, agrees', async () => {
  const args = ['--import', 'tsx', 'test/clients/contention-main.ts', '1', String(SEEDS.length)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const there = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  expect(new Map(there.map(([seed, hash]) => [Number(seed), hash]))).toEqual(await firstHashes());
});

test('real randomness in a handler is detected', async () => {
  const first = await contend(1, capturedRandom);
  const second = await contend(1, capturedRandom);
  expect(second.hash).not.toBe(first.hash);
  expect((await contend(1, Math.random)).hash).toBe((await contend(1, Math.random)).hash);
});
