import { test } from 'lostlock/vitest'; // Before the code under test, so that its timers and sockets are the world's.
import { expect } from 'vitest';
import { chargerWith } from './orders.js';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

test('one charge at a time, with growing fences', async ({ pair }) => {
  const fences = [];
  const worker = (name) =>
    pair.actor(name).run(() =>
      chargerWith(pair.client(name))('o1', async (fence) => {
        pair.note(name, 'charges o1'); // A line in the story and on the timeline.
        fences.push(fence);
        await sleep(300);
      }),
    );
  await Promise.all([worker('A'), worker('B')]); // B waits until A has left.
  expect(fences).toHaveLength(2);
  expect(fences[1]).toBeGreaterThan(fences[0]);
  expect(pair.overlaps()).toEqual([]);
}, 30_000);

test('while the replica receives nothing, nobody gets a lock that a failover could lose', async ({
  pair,
}) => {
  const entered = [];
  const work = (name) =>
    pair.actor(name).run(() => chargerWith(pair.client(name))('o1', () => entered.push(name)));
  pair.link.hold(); // The replica receives nothing from now on.
  const a = work('A');
  await pair.advance(500);
  expect(entered).toEqual([]); // The primary has granted the lock, and no replica has it.
  pair.link.release();
  await a;
  expect(entered).toEqual(['A']);
  await pair.failover({ crash: true }); // The replica has what the primary had.
  expect(pair.holders('order:o1')).toEqual([]);
}, 30_000);

test('an exploration finds nothing that this lock must survive', async ({ explore }) => {
  await explore({
    // A holder that stalls or is cut off is among them, because the resource checks the fence. Left out: a Redis that starts again
    // without its data.
    faults: [
      'failover',
      'failover-behind',
      'client-pause',
      'partition',
      'client-death',
      'lost-reply',
      'connection-reset',
    ],
    client: ({ redis, sleep, resource }) =>
      chargerWith(redis)('o1', async (fence) => {
        const inside = resource('o1').enter({ fence });
        await sleep(300); // Long enough for faults to strike inside.
        await inside.send(); // A write that travels, as one to a database does.
        inside.leave();
      }),
    budget: { worlds: 150 },
    allow: ['unplayed'], // 150 worlds are a sample. A run of 5,000 belongs in the nightly build.
  });
}, 120_000); // An exploration takes real time: give it a limit.
