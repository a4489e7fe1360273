const { fixtures } = require('lostlock/jest'); // Before the code under test, so that its timers and sockets are the world's.
const { addCharge, startWorker } = require('./charges.js');

const lostlock = fixtures();
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

test('an order is charged once', async () => {
  const pair = await lostlock.pair();
  const payments = new Payments();
  for (const name of ['A', 'B']) await workerOf(pair, name, payments);
  await pair.actor('shop').run(() => addCharge({ url: pair.url, maxRetriesPerRequest: null }, 'o1'));
  await pair.advance(5000);
  expect(payments.asked).toBe(1);
  expect([...payments.charged.values()]).toEqual(['o1']);
}, 60_000);

test('a worker that stalls makes the job run twice, and the customer pays once', async () => {
  const pair = await lostlock.pair();
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

test('an exploration finds no way to charge twice without a stalled worker', async () => {
  await lostlock.explore({
    clients: 2,
    // Left out, because a job may then run twice: a worker that stalls, dies or is cut off, and a Redis that loses what it acknowledged.
    faults: ['script-flush'],
    promises: ['once', 'contended'],
    async client({ name, urls, sleep, resource, signal, probe }) {
      const connection = { url: urls[0], maxRetriesPerRequest: null };
      const payments = {
        async charge(order) {
          const inside = resource(order, { once: true }).enter();
          await sleep(300);
          inside.write();
          inside.leave();
        },
      };
      startWorker(connection, payments);
      if (name === 'A' && !probe) await addCharge(connection, 'o1');
      await new Promise((end) => signal.addEventListener('abort', end, { once: true })); // Workers wait for more until the world ends.
    },
    budget: { worlds: 40 },
    allow: ['unplayed'],
  });
}, 240_000); // An exploration takes real time: give it a limit.
