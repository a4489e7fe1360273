import { test } from 'lostlock/vitest'; // Before the code under test, so that its timers and sockets are the world's.
import { expect } from 'vitest';
import { cacheWith } from './cache.js';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

test('five clients ask, and the slow source is asked once', async ({ pair }) => {
  let loads = 0;
  const load = async () => {
    loads++;
    await sleep(300);
    return '42';
  };
  const ask = (name) => pair.actor(name).run(() => cacheWith(pair.client(name))('price', load));
  expect(await Promise.all(['A', 'B', 'C', 'D', 'E'].map(ask))).toEqual(['42', '42', '42', '42', '42']);
  expect(loads).toBe(1);
  await pair.advance(10_000); // The value ends.
  await ask('A');
  expect(loads).toBe(2);
}, 30_000);

test('a failover loses the value, and the source is asked again', async ({ pair }) => {
  let loads = 0;
  const ask = (name) =>
    pair.actor(name).run(() => cacheWith(pair.client(name))('price', async () => String(++loads)));
  pair.link.hold(); // The replica receives nothing from now on.
  expect(await ask('A')).toBe('1');
  await pair.failover({ crash: true });
  expect(await ask('B')).toBe('2'); // A cache may forget.
}, 30_000);

test('an exploration finds no two loads at once', async ({ explore }) => {
  await explore({
    // Left out, because two loads at once do no harm there: failovers, and a client that stalls for longer than its lease.
    faults: ['client-death', 'lost-request', 'lost-reply', 'connection-reset', 'script-flush'],
    client: ({ redis, sleep, resource }) =>
      cacheWith(redis, 150)('price', async () => {
        const inside = resource('source').enter();
        await sleep(300); // Long enough for faults to strike inside.
        inside.write();
        inside.leave();
        return '42';
      }),
    budget: { worlds: 150 },
    allow: ['unplayed'], // 150 worlds are a sample. A run of 5,000 belongs in the nightly build.
  });
}, 120_000); // An exploration takes real time: give it a limit.
