/** Code outside of a world that mixes the world's clock with the real one is told so, once for each world, with the cure. */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Mutex } from 'redis-semaphore';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startPair } from '../../../lab/start.ts';

// Its package does not show its types to an import.
const { default: Redlock } = createRequire(import.meta.url)('redlock') as {
  default: new (
    clients: unknown[],
    options: { retryCount: number },
  ) => { acquire(keys: string[], ms: number): Promise<{ release(): Promise<unknown> }> };
};

let warned: string[] = [];
beforeEach(() => {
  warned = [];
  vi.spyOn(console, 'warn').mockImplementation((text: string) => void warned.push(text));
});
afterEach(() => vi.restoreAllMocks());

test('a lock library that has pair.client() outside of actor.run is named, with the method and the cure', async () => {
  await using pair = await startPair();
  const redlock = new Redlock([pair.client('A')], { retryCount: 0 });
  await redlock.acquire(['my:lock'], 1000).catch(() => {});
  await redlock.acquire(['other:lock'], 1000).catch(() => {});
  expect(warned).toEqual([
    expect.stringMatching(
      /^lostlock: two clocks \(LOSTLOCK_TWO_CLOCKS\): the package redlock called \w+\(\) of client\('A'\) outside .* await pair\.actor\('A'\)\.run/,
    ),
  ]);
});

test('so is another one, in each world', async () => {
  for (const name of ['A', 'B']) {
    await using pair = await startPair();
    const mutex = new Mutex(pair.client(name) as never, 'my:lock', { refreshInterval: 0 });
    await mutex.tryAcquire();
  }
  expect(warned).toHaveLength(2);
  expect(warned[1]).toContain('the package redis-semaphore called');
});

test('a library that is called inside says nothing', async () => {
  await using pair = await startPair();
  await pair.actor('A').run(async () => {
    const redlock = new Redlock([pair.client('A')], { retryCount: 0 });
    const lock = await redlock.acquire(['my:lock'], 1000);
    await lock.release();
  });
  expect(warned).toEqual([]);
});

const sleeps: [how: string, sleep: (ms: number) => Promise<unknown>][] = [
  // tidy sleeps: the loop that is to be noticed sleeps
  ['setTimeout', (ms) => new Promise((wake) => setTimeout(wake, ms))],
  ['node:timers/promises', (ms) => sleep(ms)],
];

test.each(sleeps)("a loop of one's own that sleeps in real time is told so (%s)", async (_how, wait) => {
  await using pair = await startPair();
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  const b = pair.client('B');
  for (let i = 0; i < 3; i++) {
    expect(await b.set('my:lock', 'B', 'PX', 30_000, 'NX')).toBe(null);
    await wait(5);
  }
  expect(warned).toEqual([
    expect.stringContaining("code that had slept for 5 ms of real time called set() of client('B')"),
  ]);
});

test('a test that only calls commands, moves time and once waits for something else says nothing', async () => {
  await using pair = await startPair();
  const a = pair.client('A');
  for (let i = 0; i < 60; i++) await a.incr('n');
  await pair.advance(1000);
  // tidy sleeps: that one sleep is not noticed
  await sleep(5);
  expect(await a.get('n')).toBe('60');
  expect(await a.multi().get('n').exec()).toEqual([[null, '60']]);
  // tidy sleeps: on the world's clock
  await pair.run(() => new Promise((wake) => setTimeout(wake, 60_000)));
  expect(await a.get('n')).toBe('60');
  expect(warned).toEqual([]);
});
