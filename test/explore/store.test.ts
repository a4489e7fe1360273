/** The store that the clients of one world share: what stands in for a database. */
import { expect, test } from 'vitest';
import { type ExploreReport, explore } from '../../explore/index.ts';

/** Explores two clients that sell one seat, whose table is the store. @param seen gets the size of the store as each client finds it */
function selling(seen: number[]): Promise<ExploreReport> {
  return explore({
    name: 'seats',
    clients: 2,
    promises: ['once'],
    faults: ['client-pause'],
    budget: { worlds: 30 },
    async client({ name, redis, sleep, resource, store }) {
      while ((await redis.set('lock', name, 'PX', 500, 'NX')) !== 'OK') await sleep(50);
      seen.push(store.size);
      if (store.get('seat') === undefined) {
        await sleep(200);
        const sale = resource('sale', { once: true }).enter();
        store.set('seat', name);
        sale.write();
        sale.leave();
      }
      if ((await redis.get('lock')) === name) await redis.del('lock');
    },
  });
}

test('each world begins with an empty store, in which a second client finds what the first one has left', async () => {
  const seen: number[] = [];
  const report = await selling(seen);
  expect([...new Set(seen)].sort()).toEqual([0, 1]);
  // Every world sells its own seat.
  expect(seen.filter((size) => size === 0).length).toBeGreaterThanOrEqual(report.worlds);
  expect(report.findings.map(({ promise }) => promise)).toContain('once');
});
