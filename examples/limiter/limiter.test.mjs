import { test } from 'lostlock/vitest'; // Before the code under test, so that its timers and sockets are the world's.
import { expect } from 'vitest';
import { limiterWith } from './limiter.js';

test('three calls a minute, from several machines together', async ({ pair }) => {
  const call = (name) => pair.actor(name).run(() => limiterWith(pair.client(name))('ann'));
  const answers = [await call('A'), await call('B'), await call('A'), await call('B')];
  expect(answers).toEqual([true, true, true, false]);
  await pair.advance(60_000); // A minute, in no real time.
  expect(await call('B')).toBe(true);
}, 30_000);

test('a failover before the replica has the counter allows more', async ({ pair }) => {
  const call = (name) => pair.actor(name).run(() => limiterWith(pair.client(name))('ann'));
  pair.link.hold(); // The replica receives nothing from now on.
  for (let i = 0; i < 3; i++) expect(await call('A')).toBe(true);
  await pair.failover({ crash: true });
  // For a limiter this may be good enough. Where it is not, count where the resource is.
  expect(await call('A')).toBe(true);
}, 30_000);

/** A promise of one's own: in no window did more calls succeed than the limit allows. */
function keepsTheLimit({ operations }) {
  const allowed = operations.filter(({ output }) => output === true).length;
  if (allowed > 3) return `${allowed} calls were allowed`;
}

test('an exploration finds no fourth call', async ({ explore }) => {
  await explore({
    // Left out, because they lose the counter: failovers, and a Redis that starts again without its data.
    faults: ['client-pause', 'client-death', 'lost-request', 'lost-reply', 'connection-reset', 'delay'],
    promises: [keepsTheLimit, 'contended'],
    async client({ redis, sleep, record }) {
      const isAllowed = limiterWith(redis, 3, 600_000); // One window for the whole world.
      for (let i = 0; i < 3; i++) {
        const call = record('call');
        call.ok(await isAllowed('ann'));
        await sleep(20);
      }
    },
    budget: { worlds: 150 },
    allow: ['unplayed'], // 150 worlds are a sample. A run of 5,000 belongs in the nightly build.
  });
}, 120_000); // An exploration takes real time: give it a limit.
