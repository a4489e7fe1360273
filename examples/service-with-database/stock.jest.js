const { fixtures } = require('lostlock/jest'); // Before the code under test, so that its timers and sockets are the world's.
const { StockService } = require('./stock.js');

const lostlock = fixtures();
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/**
 * Stands in for the database. In a world, a real one is refused by name: its sockets, files and threads live in real time, which
 * no virtual clock can wait for. A class with the same methods is enough.
 */
class Database {
  left = 10;
  fence = 0;
  async open() {
    const fence = ++this.fence; // UPDATE stock SET fence = fence + 1 RETURNING fence
    return {
      read: async () => this.left,
      write: async (left) => {
        await sleep(300); // What the transaction takes.
        if (fence < this.fence) return false; // WHERE fence = ?
        this.left = left;
        return true;
      },
    };
  }
}

test('three machines sell five', async () => {
  const pair = await lostlock.pair();
  const database = new Database();
  const machine = (name, sales) =>
    pair.actor(name).run(async () => {
      const stock = new StockService(pair.client(name), database);
      for (let i = 0; i < sales; i++) expect(await stock.sell()).toBe(true);
    });
  await Promise.all([machine('A', 2), machine('B', 2), machine('C', 1)]);
  expect(database.left).toBe(5);
  expect(pair.overlaps()).toEqual([]);
}, 30_000);

test('a machine that stalls loses the lock, and the database refuses its late write', async () => {
  const pair = await lostlock.pair();
  const database = new Database();
  const sell = (name) => pair.actor(name).run(() => new StockService(pair.client(name), database).sell());
  const a = sell('A');
  await pair.advance(100); // A is in its transaction.
  pair.pause('A'); // A long garbage collection, longer than the lease.
  expect(await sell('B')).toBe(true);
  pair.resume('A');
  expect(await a).toBe(false);
  expect(database.left).toBe(9); // One was sold, and one is gone.
}, 30_000);

test('an exploration finds no two sales at once', async () => {
  await lostlock.explore({
    // Failovers and a Redis that starts again without its data are among them: the fence is the database's. Left out: wrong clocks.
    faults: [
      'failover',
      'failover-behind',
      'restart-empty',
      'client-pause',
      'partition',
      'delay',
      'client-death',
      'lost-request',
      'lost-reply',
      'connection-reset',
    ],
    client: ({ redis, sleep, resource, record, store }) => {
      // The database of an exploration: a resource, which checks fences, and to which writes travel.
      const database = {
        async open() {
          const fence = (store.get('fence') ?? 0) + 1; // Clients of one world share `store`, and each world has its own.
          store.set('fence', fence);
          const inside = resource('stock').enter({ fence });
          return {
            read: async () => 10,
            async write(left) {
              await sleep(300); // Long enough for faults to strike inside.
              const sale = record('sale', left);
              const isTaken = await inside.send();
              inside.leave();
              if (isTaken) sale.ok(fence);
              else sale.failed();
              return isTaken;
            },
          };
        },
      };
      return new StockService(redis, database).sell();
    },
    budget: { worlds: 150 },
    allow: ['unplayed'], // 150 worlds are a sample. A run of 5,000 belongs in the nightly build.
  });
}, 120_000); // An exploration takes real time: give it a limit.
