/** A waiter that joins its process' line without asking the server is woken, handed the lock, refused or closed like any other. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { startServers } from '../../../lab/pair.ts';
import { createLocks, type LockClient, LocksClosed } from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { HOUR, L, play, QUICK_MS, type Scene } from '../quiet.ts';

/** A task of the process holds the lock and had to wait for it, so a new waiter does not ask the server. */
async function heldAfterWaiting({ pair, locks }: Scene, name = 'A') {
  const mine = locks(name);
  const first = await mine.simple(L).acquire();
  const second = mine.simple(L).acquire();
  await pair.advance(20);
  await first.release();
  return { mine, held: await second };
}

test('a closed set of locks refuses new waiters at once, while one of its locks is still held', () =>
  play(async (scene) => {
    const { mine } = await heldAfterWaiting(scene);
    mine.close();
    const waiting = [mine.simple(L).acquire(), mine.simple(L).acquire()];
    const ms = await scene.time(() =>
      Promise.all(waiting.map((each) => expect(each).rejects.toThrow(LocksClosed))),
    );
    expect(ms).toBeLessThan(QUICK_MS);
  }));

test('a waiter whose hand-over is refused late still has the full time-out for its own request', () =>
  play(async (scene) => {
    const { pair, raw } = scene;
    const { mine, held } = await heldAfterWaiting(scene);
    const heard: unknown[] = [];
    mine.on('acquired', ({ attempts }) => heard.push(attempts));
    const third = mine.simple(L).acquire({ leaseMs: 1000 });
    await pair.advance(20);
    await raw.del(L);
    const replies = pair.world.network.lane('redis-1', 'A');
    replies.hold();
    const released = held.release().catch(() => {});
    await pair.advance(2500);
    replies.release();
    await released;
    (await third).assertHeld();
    expect(heard).toEqual([1]);
  }));

test('a waiter whose subscription hangs gets a handed-over lock at once', () =>
  play(async ({ pair, locks, time }) => {
    const hanging = (client: LockClient): LockClient => ({
      ...client,
      openSubscriber: () => ({
        subscribe: () => new Promise(() => {}),
        unsubscribe: async () => {},
        close: () => {},
      }),
    });
    const mine = locks('A', { requestTimeoutMs: 60_000 }, hanging);
    await (await mine.simple(L).acquire()).release(); // The server knows the scripts from now on.
    const held = await mine.simple(L).acquire();
    const waiting = mine.simple(L).acquire();
    await pair.advance(20);
    expect(await time(() => Promise.all([held.release(), waiting]))).toBeLessThan(QUICK_MS);
  }));

test('a Redlock waiter that got no majority is woken by the release', async () => {
  await using servers = await startServers({
    clock: 'virtual',
    seed: 1,
    primaries: 3,
    patience: 10 * HOUR,
    network: { latency: 1, jitter: 0 },
  });
  await servers.run(async () => {
    const clients = servers.clients('A');
    await Promise.all(clients.map((client) => client.ping()));
    const locks = createLocks(clients, { maxSleepMs: HOUR, leaseMs: HOUR });
    await (await locks.redlock(L).acquire()).release();
    const { network } = servers.world;
    network.partition(['A'], [servers.nodes[0]!.name, servers.nodes[1]!.name]);
    const waiting = [locks.redlock(L).acquire(), locks.redlock(L).acquire()];
    await servers.world.advance(4000);
    network.heal();
    const begun = servers.world.elapsed();
    await Promise.all(waiting.map(async (each) => (await each).release()));
    expect((servers.world.elapsed() - begun) / 1000).toBeLessThan(60_000);
    locks.close();
  });
});

test.each(formsIn('waits of one owner'))(
  'an owner that waits for a $name lock several times gets all its holds at once, without a release in between',
  ({ make }) =>
    play(async ({ pair, locks, time }) => {
      const [mine, theirs] = [make(locks('A'), L), make(locks('B'), L)];
      const held = await theirs.acquire();
      const waiting = Array.from({ length: 3 }, () => mine.acquire({ owner: 'me' }));
      await pair.advance(100);
      expect(await time(() => Promise.all([held.release(), ...waiting]))).toBeLessThan(QUICK_MS);
    }),
);

test.each<[how: string, options: { leaseMs?: number }, most: number]>([
  ['renewed, within a third of the lease', {}, 1000],
  ['not renewed, with its lease', { leaseMs: 2000 }, 2000],
])(
  'a waiter that relies on a holder in its process finds out that the server has lost that hold: %s',
  (_how, options, most) =>
    play(async ({ pair, raw, locks, time }) => {
      const mine = locks('A', { leaseMs: 3000 }).simple(L);
      const first = await mine.acquire();
      const second = mine.acquire(options);
      await pair.advance(20);
      await first.release();
      const lost = await second;
      const third = mine.acquire();
      await raw.del(L);
      expect(await time(() => third)).toBeLessThan(most + QUICK_MS);
      await expect(lost.release()).rejects.toThrow();
      await (await third).release();
    }),
);
