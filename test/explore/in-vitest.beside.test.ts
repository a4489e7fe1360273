/** Vitest's own fixture reads the time limit of its test. */
import '../../lab/router.ts';
import { expect } from 'vitest';
import { withServer } from '../../runners/vitest.ts';

withServer()('an exploration ends before the limit of its test', { timeout: 8000 }, async ({ explore }) => {
  const exploring = explore({
    ...{ clients: 3, topology: { replicas: 0 }, budget: { worlds: 1_000_000 } },
    async client({ name, redis, resource, sleep }) {
      // So many moments that no limit leaves time for a fault at each.
      for (let round = 0; round < 20; round++) {
        while ((await redis.set('lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(5);
        resource('stock').enter().leave();
        await redis.del('lock');
      }
    },
    promises: ['mutual-exclusion'],
    accept: ['lease-limits'],
    faults: ['client-pause', 'node-pause', 'connection-reset'],
  });
  await expect(exploring).rejects.toThrow(/unplayed: \d+ of \d+ worlds with one fault were played|is broken/);
});
