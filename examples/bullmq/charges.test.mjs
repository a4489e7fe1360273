import { test } from 'lostlock/vitest'; // Before the code under test, so that its timers and sockets are the world's.
import { expect } from 'vitest';
import { addCharge, startWorker } from './charges.js';

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** Stands in for the payment provider: charges once for a key, and counts how often it was asked. */
class Payments {
  asked = 0;
  charged = new Map();
  async charge(order, key) {
    this.asked++;
    await sleep(300);
    this.charged.set(key, order); // A second request with the same key charges nothing.
  }
}

/** Starts a worker that belongs to the actor of this name. */
const workerOf = (pair, name, payments) =>
  pair.actor(name).run(() => void startWorker({ url: pair.url, maxRetriesPerRequest: null }, payments));

test('an order is charged once', async ({ pair }) => {
  const payments = new Payments();
  for (const name of ['A', 'B']) await workerOf(pair, name, payments);
  await pair.actor('shop').run(() => addCharge({ url: pair.url, maxRetriesPerRequest: null }, 'o1'));
  await pair.advance(5000);
  expect(payments.asked).toBe(1);
  expect([...payments.charged.values()]).toEqual(['o1']);
}, 60_000);

test('a worker that stalls makes the job run twice, and the customer pays once', async ({ pair }) => {
  const payments = new Payments();
  await workerOf(pair, 'A', payments);
  await pair.actor('shop').run(() => addCharge({ url: pair.url, maxRetriesPerRequest: null }, 'o1'));
  while (payments.asked === 0) await pair.advance(10);
  pair.pause('A'); // A long garbage collection, in the middle of the charge.
  await workerOf(pair, 'B', payments);
  await pair.advance(10_000); // Longer than the job's lock.
  pair.resume('A');
  await pair.advance(2000);
  expect(payments.asked).toBe(2); // The job ran twice: no queue can prevent that.
  expect([...payments.charged.values()]).toEqual(['o1']); // The key prevented the second charge.
}, 60_000);

test('an exploration finds no way to charge twice', async ({ explore }) => {
  await explore({
    clients: 2,
    // A worker that stalls, dies or is cut off: its job runs again. To see this test red, charge without job.id in charges.js.
    faults: ['client-death', 'client-pause', 'partition'],
    promises: ['once'],
    async client({ name, urls, sleep, resource, probe }) {
      const connection = { url: urls[0], maxRetriesPerRequest: null };
      // The payment provider of this world: it charges once for each key.
      const payments = {
        async charge(order, key) {
          await sleep(200);
          const charging = resource(`charge of ${order}`, { once: true }).enter({ key });
          charging.write(); // Here the customer pays.
          charging.leave();
          await sleep(200); // The answer is on its way. A worker that dies now has charged, and its job runs again.
        },
      };
      startWorker(connection, payments);
      if (name === 'A' && !probe) await addCharge(connection, 'o1');
      await sleep(6000); // Long enough for a job that has stalled to run again: the job's lock is a second long.
    },
    budget: { worlds: 100, ms: 200_000 },
    allow: ['unplayed'], // 100 worlds are a sample. A run of 5,000 belongs in the nightly build.
  });
}, 240_000); // An exploration takes real time: give it a limit.
