/** Redlock while its holder lacks some servers: attempts of waiters are granted there and undone, and must not wake waiters at once. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { startServers } from '../../../lab/pair.ts';
import { createLocks } from '../../../locks/index.ts';

const L = 'lock';
/** After a split vote a contender pauses for up to a second. */
const SPLIT_MS = 1000;

test.each([1, 2])(
  '%d waiters ask some times a second, and get the lock when it is released',
  async (count) => {
    const servers = await startServers({
      clock: 'virtual',
      seed: 1,
      primaries: 5,
      network: { latency: 1, jitter: 2 },
    });
    await servers.run(async () => {
      const world = servers.world;
      // The holder has three of five servers, and does not renew: two restarted without their data, say.
      const holder = servers.clients('holder').slice(0, 3);
      for (const client of holder) await client.set(L, 'token', 'PX', 60_000);
      // The others answer last, when three refusals have decided the attempt.
      for (const node of ['redis-4', 'redis-5']) {
        for (let index = 0; index < count; index++) world.network.lane(node, `W${index}`).delay(5);
      }
      const waiters = Array.from({ length: count }, (_, index) => createLocks(servers.clients(`W${index}`)));
      const waiting = waiters.map((locks) => locks.redlock(L).acquire());
      await world.advance(10_000);
      const [free] = servers.clients('observer').slice(4);
      const requests = Number(/cmdstat_evalsha:calls=(\d+)/.exec(await free!.info('commandstats'))?.[1]);
      expect(requests).toBeGreaterThan(10); // The free server is asked, and released, each time.
      expect(requests).toBeLessThan(100 * count);

      const released = world.elapsed();
      for (const client of holder) {
        await client.del(L);
        await client.publish(`${L}:lostlock_channel`, '0');
      }
      const held = await Promise.race(waiting);
      expect((world.elapsed() - released) / 1000).toBeLessThan(2 * SPLIT_MS);
      await held.release();
      for (const locks of waiters) locks.close();
      await Promise.allSettled(waiting);
    });
    await servers.close();
  },
);
