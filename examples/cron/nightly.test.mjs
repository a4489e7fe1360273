import { test } from 'lostlock/vitest'; // Before the code under test, so that its timers and sockets are the world's.
import { expect } from 'vitest';
import { runNightly } from './nightly.js';

test('one of three machines runs it, also when a clock is late', async ({ pair }) => {
  const ran = [];
  await pair.advance(3_600_000); // The world begins at midnight: now it is one o'clock.
  pair.world.actor('C').clock.jump(-60_000); // A minute late.
  const machine = (name) =>
    pair.actor(name).run(async () => {
      const midnight = Math.ceil(Date.now() / 86_400_000) * 86_400_000;
      await new Promise((wake) => setTimeout(wake, midnight - Date.now())); // Hours, in no real time.
      await runNightly(pair.client(name), new Date(midnight).toISOString().slice(0, 10), name, () =>
        ran.push(name),
      );
    });
  const all = ['A', 'B', 'C'].map(machine);
  await pair.advance(86_400_000 + 120_000); // A day and two minutes.
  await Promise.all(all);
  expect(ran).toHaveLength(1);
}, 30_000);

test('a failover before the replica has the key makes it run twice', async ({ pair }) => {
  const ran = [];
  const machine = (name) =>
    pair.actor(name).run(() => runNightly(pair.client(name), '2031-05-06', name, () => ran.push(name)));
  pair.link.hold(); // The replica receives nothing from now on.
  await machine('A');
  await pair.failover({ crash: true });
  await machine('B');
  // No key in Redis prevents this. A job that must not run twice writes its date where its result is, in one transaction.
  expect(ran).toEqual(['A', 'B']);
}, 30_000);

test('an exploration finds no other way to run it twice', async ({ explore }) => {
  await explore({
    // Left out, because they lose the key: failovers, and a Redis that starts again without its data. A machine that dies in the
    // middle has not run the job, and nobody else does: that is what this code chooses.
    faults: ['client-pause', 'client-clock-jump', 'delay', 'lost-request', 'lost-reply', 'connection-reset'],
    promises: ['once', 'contended'],
    client: ({ name, redis, sleep, resource }) =>
      runNightly(redis, '2031-05-06', name, async () => {
        const inside = resource('report', { once: true }).enter();
        await sleep(300);
        inside.write();
        inside.leave();
      }),
    budget: { worlds: 150 },
    allow: ['unplayed'], // 150 worlds are a sample. A run of 5,000 belongs in the nightly build.
  });
}, 120_000); // An exploration takes real time: give it a limit.
