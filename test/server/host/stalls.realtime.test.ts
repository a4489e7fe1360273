/** Stalls of the process: what counts as one, and that nobody is called silent because of it. */
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { silence } from '../../../server/host/silence.ts';
import { Stalls, stalledWithin, watchedDelay } from '../../../server/host/stalls.ts';
import { RawClient } from '../../support/raw-client.ts';

test('a late timer shows a stall, and several late timers of one stall count once', () => {
  const stalls = new Stalls();
  stalls.fired(1000, 1009);
  expect(stalls.within(10_000, 1009)).toBe(0);
  stalls.fired(1500, 3000);
  stalls.fired(1200, 3000);
  stalls.fired(2000, 3001);
  expect(stalls.within(10_000, 3001)).toBe(1801);
  stalls.fired(5000, 6000);
  expect(stalls.within(10_000, 7000)).toBe(2801);
  stalls.fired(6040, 6100); // Too soon after the last one to hear anybody in between.
  expect(stalls.within(10_000, 7000)).toBe(2901);
});

test('short stalls in quick succession leave the time between them, in which others are heard', () => {
  const stalls = new Stalls();
  for (let at = 1000; at < 2000; at += 50) stalls.fired(at + 20, at + 50);
  expect(stalls.within(1000, 2000)).toBe(600);
});

test('the time for which the task of a timer has been running is a stall, since it is not over yet', async () => {
  const stalled = await new Promise<number>((resolve) => {
    watchedDelay(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      resolve(stalledWithin(250, 1_000_000));
    }, 1);
  });
  expect(stalled).toBe(250);
});

/** Blocks the thread in turns of this length, in milliseconds, and lets timers fire in between. */
async function turns(length: number, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, length);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('turns that are shorter than the timers are apart are stalls as well, once a silence has begun to matter', async () => {
  expect(stalledWithin(100, 200)).toBeGreaterThanOrEqual(0);
  await turns(40, 25);
  expect(stalledWithin(1000, 200)).toBeGreaterThan(250);
});

test('only that part of a stall counts which lies within the age', () => {
  const stalls = new Stalls();
  stalls.fired(1000, 3000);
  expect([0, 1000, 2000, 2500, 3000, 9000].map((age) => stalls.within(age, 4000))).toEqual([
    0, 0, 1000, 1500, 2000, 2000,
  ]);
});

test('the oldest of very many stalls are forgotten', () => {
  const stalls = new Stalls();
  for (let i = 0; i < 2000; i++) stalls.fired(i * 1000, i * 1000 + 100);
  expect(stalls.within(Infinity, 2_000_000)).toBe(100_000);
});

test('silence is the time since somebody was heard, without stalls, and without any on a virtual clock', () => {
  expect(silence({}, 5000, 1000, 1)).toBe(4000);
  expect(silence({ stalledWithin: (age) => age / 4 }, 5000, 1000, 1)).toBe(3000);
  expect(silence({ stalledWithin: (age) => age + 1 }, 5000, 1000, 1)).toBe(0);
  expect(silence({ stalledWithin: () => 1 }, 1000, 5000, 1)).toBe(-4000);
});

test('a client is not closed as idle because the process stood still for longer than its timeout', async () => {
  await using server = await startServer({ settings: { timeout: 2 } });
  const client = await RawClient.connect({ port: server.port });
  await client.ask('PING');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4500);
  expect((await client.ask('PING')).raw).toBe('+PONG\r\n');
  client.close();
});
