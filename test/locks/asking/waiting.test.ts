/** What wakes a waiter, what an aborted waiter leaves behind, and releases at the last moment; waiters poll once an hour only. */
import '../../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import { type LockClient, NotOwner, OutcomeUnknown } from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { HOUR, L, play, QUICK_MS, type Scene } from '../quiet.ts';

test('a waiter whose subscription is confirmed late asks again, because it may have missed the message', () =>
  play(async ({ pair, locks, time }) => {
    let confirm = (): void => {};
    const late = (client: LockClient): LockClient => ({
      ...client,
      openSubscriber(events) {
        const inner = client.openSubscriber(events);
        const subscribe = (channel: string): Promise<void> =>
          new Promise((resolve) => {
            confirm = () => void inner.subscribe(channel).then(resolve);
          });
        return {
          subscribe,
          unsubscribe: (channel) => inner.unsubscribe(channel),
          close: () => inner.close(),
        };
      },
    });
    const held = await locks('A').simple(L).acquire();
    const waiting = locks('B', { requestTimeoutMs: 100 }, late).simple(L).acquire();
    await pair.advance(1000); // By now B has looked without having subscribed, and sleeps.
    await held.release();
    await pair.advance(1000);
    expect(
      await time(async () => {
        confirm();
        await waiting;
      }),
    ).toBeLessThan(QUICK_MS);
  }));

test('when the first waiter gives up, the next one asks the server and learns when the lease of the dead holder ends', () =>
  play(async ({ pair, raw, locks, time }) => {
    const mine = locks('A');
    await raw.set(L, 'dead', 'PX', 5000);
    const first = mine
      .simple(L)
      .acquire({ waitMs: 1000 })
      .catch((error: Error) => error.message);
    await pair.advance(100);
    const second = mine.simple(L).acquire();
    expect(await time(() => second)).toBeLessThan(5000 + QUICK_MS);
    expect(await first).toContain('was not free within 1000 ms');
  }));

const noSubscriber = (client: LockClient): LockClient => ({
  ...client,
  openSubscriber() {
    throw new Error('no more connections');
  },
});

test.each<[why: string, dress: ((client: LockClient) => LockClient) | undefined]>([
  ['no message comes', undefined],
  ['there is no connection for messages', noSubscriber],
])('a waiter polls every maxSleepMs when %s', (_why, dress) =>
  play(async ({ pair, raw, locks, time }) => {
    await raw.set(L, 'somebody', 'PX', HOUR);
    const waiting = locks('A', { maxSleepMs: 500 }, dress).simple(L).acquire();
    await pair.advance(750);
    await raw.del(L); // No message is sent.
    expect(await time(() => waiting)).toBeLessThan(500 + QUICK_MS);
  }),
);

test('a new waiter sends no request while others of its process already wait', () =>
  play(async ({ pair, raw, locks }) => {
    const mine = locks('A');
    await raw.set(L, 'somebody');
    const waiting = [mine.simple(L).acquire()];
    await pair.advance(100);
    const { stats } = pair.primary.server;
    const before = stats.commands;
    waiting.push(mine.simple(L).acquire());
    await pair.advance(100);
    expect(stats.commands).toBe(before);
    mine.close();
    await Promise.allSettled(waiting);
  }));

test('a grant whose reply arrives after the lease has ended is not used', () =>
  play(async ({ pair, locks }) => {
    const mine = locks('A', { requestTimeoutMs: 10_000 });
    await (await mine.simple(L).acquire()).release();
    const replies = pair.world.network.lane('redis-1', 'A');
    replies.hold();
    const acquiring = mine.simple(L).acquire({ leaseMs: 1000 });
    await pair.advance(2000);
    replies.release();
    const held = await acquiring;
    expect(() => held.assertHeld()).not.toThrow();
  }));

test.each(formsIn('late grants'))(
  'undoing a late grant of a $name lock does not end the grant that follows it, even when a request is lost',
  ({ make }) =>
    play(async ({ pair, locks }) => {
      let losing = false;
      const losingOne = (client: LockClient): LockClient => ({
        ...client,
        async send(command) {
          if (!losing) return client.send(command);
          losing = false;
          throw new Error('lost');
        },
      });
      const mine = make(locks('A', { requestTimeoutMs: 10_000 }, losingOne), L);
      await (await mine.acquire()).release();
      const replies = pair.world.network.lane('redis-1', 'A');
      replies.hold();
      const acquiring = mine.acquire({ leaseMs: 1000 });
      await pair.advance(2000);
      losing = true; // The next request does not reach the server.
      replies.release();
      const held = await acquiring;
      await pair.advance(100);
      await held.extend();
      await held.release();
      expect(await make(locks('B'), L).tryAcquire()).not.toBeNull();
    }),
);

test.each(formsIn('late grants'))(
  'a $name lock that is granted too late to a caller that does not wait is released',
  ({ make }) =>
    play(async ({ pair, locks }) => {
      const mine = make(locks('A', { requestTimeoutMs: 10_000 }), L);
      await (await mine.acquire()).release();
      const requests = pair.world.network.lane('A', 'redis-1');
      requests.hold();
      const acquiring = mine.tryAcquire({ leaseMs: 1000 });
      await pair.advance(2000);
      requests.release();
      expect(await acquiring).toBeNull();
      await pair.advance(100);
      expect(await make(locks('B'), L).tryAcquire()).not.toBeNull();
    }),
);

test('aborting tryAcquire rejects it with the reason of the abort, even though its request got no answer', () =>
  play(async ({ pair, locks }) => {
    const mine = locks('A', {}, (client) => ({ ...client, send: () => Promise.reject(new Error('lost')) }));
    const abort = new AbortController();
    const acquiring = mine.simple(L).tryAcquire({ signal: abort.signal });
    const refused = expect(acquiring).rejects.toThrow('not any more');
    await pair.advance(5);
    abort.abort(new Error('not any more'));
    await refused;
  }));

describe('permits that are returned while other waiters want more', () => {
  /** Waiters of one process, in this order, each for so many permits; tells which of them were granted. */
  async function waiters(
    { pair, locks }: Scene,
    demands: readonly number[],
    dress?: (client: LockClient) => LockClient,
  ): Promise<boolean[]> {
    const mine = locks('A', {}, dress).semaphore(L);
    await mine.trySetPermits(0);
    const granted = demands.map(() => false);
    demands.forEach((permits, index) => {
      mine.acquire({ permits }).then(
        () => (granted[index] = true),
        () => {}, // The set was closed.
      );
    });
    await pair.advance(100);
    return granted;
  }

  test('two returned permits go to the two waiters that want one each', () =>
    play(async (scene) => {
      const granted = await waiters(scene, [5, 1, 1, 1]);
      const theirs = scene.locks('B').semaphore(L);
      await Promise.all([theirs.addPermits(1), theirs.addPermits(1)]);
      await scene.pair.advance(100);
      expect(granted).toEqual([false, true, true, false]);
    }));

  test('all waiters get permits whose messages were lost, once the connection is back', () =>
    play(async (scene) => {
      let reconnected = (): void => {};
      const granted = await waiters(scene, [1, 1, 1], (client) => ({
        ...client,
        openSubscriber(events) {
          reconnected = events.reconnected;
          return client.openSubscriber({ ...events, message() {} });
        },
      }));
      await scene.locks('B').semaphore(L).addPermits(3);
      await scene.pair.advance(100);
      expect(granted).toEqual([false, false, false]);
      reconnected();
      await scene.pair.advance(100);
      expect(granted).toEqual([true, true, true]);
    }));

  test('a permit that was added while the reply to a refusal got lost is found at once', () =>
    play(async ({ locks, time }) => {
      const theirs = locks('B').semaphore(L);
      await theirs.trySetPermits(0);
      let losing = true;
      const mine = locks('A', {}, (client) => ({
        ...client,
        async send(command) {
          const reply = await client.send(command);
          if (!losing) return reply;
          losing = false;
          await theirs.addPermits(1);
          throw new Error('lost');
        },
      }));
      expect(await time(() => mine.semaphore(L).acquire())).toBeLessThan(100);
    }));

  test('permits that are too few for every waiter cause no further requests', () =>
    play(async (scene) => {
      const granted = await waiters(scene, [2, 2, 2]);
      const { stats } = scene.pair.primary.server;
      await scene.locks('B').semaphore(L).addPermits(1);
      await scene.pair.advance(100);
      const before = stats.commands;
      await scene.pair.advance(1000);
      expect(stats.commands).toBe(before);
      expect(granted).toEqual([false, false, false]);
    }));
});

test('one unanswered request does not make the server remember all later requests of a semaphore', () =>
  play(async ({ pair, raw, locks }) => {
    const mine = locks('A', { requestTimeoutMs: 100 }).semaphore(L);
    await mine.trySetPermits(1);
    const replies = pair.world.network.lane('redis-1', 'A');
    replies.hold();
    await expect(mine.tryAcquire()).rejects.toThrow(OutcomeUnknown);
    replies.release();
    await pair.advance(2000); // The permits that it took are back.
    for (let i = 0; i < 20; i++) await mine.using(() => {});
    const [requests] = await raw.keys('lostlock_requests:*');
    expect(await raw.zcard(requests!)).toBeLessThan(5);
  }));

test.each(formsIn('aborted requests'))(
  'an aborted request whose reply is lost is undone: $name',
  ({ open, setUp }) =>
    play(async ({ pair, locks }) => {
      const [a, b] = [locks('A', { requestTimeoutMs: 100 }), locks('B')];
      await setUp?.(b, L, 1);
      const [mine, theirs] = [await open(a, L), await open(b, L)];
      await (await mine.acquire()).release();
      const replies = pair.world.network.lane('redis-1', 'A');
      replies.hold();
      const abort = new AbortController();
      const acquiring = mine.acquire({ signal: abort.signal });
      await pair.advance(50);
      abort.abort(new Error('not any more'));
      await expect(acquiring).rejects.toThrow('not any more');
      await pair.advance(200);
      replies.release();
      await pair.advance(2000);
      expect(await theirs.tryAcquire()).not.toBeNull();
    }),
);

describe('a release in the last moments of the lease', () => {
  /** Holds a lock whose lease is all but over, and loses the next request, or its answer. */
  async function release({ pair, locks }: Scene, what: 'request' | 'answer'): Promise<void> {
    let losing = false;
    const mine = locks('A', {}, (client) => ({
      ...client,
      async send(command) {
        const lost = losing;
        losing = false;
        if (lost && what === 'request') throw new Error('lost');
        const reply = await client.send(command);
        if (lost) throw new Error('lost');
        return reply;
      },
    }));
    await (await mine.simple(L).acquire()).release(); // The server knows the scripts from now on.
    const held = await mine.simple(L).acquire({ leaseMs: 100_000 });
    await pair.advance(held.validUntil - Date.now() - 5);
    losing = true;
    await held.release();
  }

  test('is sent again when the request was lost, and ends the lock', () =>
    play(async (scene) => {
      await release(scene, 'request');
      expect(await scene.raw.exists(L)).toBe(0);
    }));

  test('rejects with NotOwner when the reply was lost and the lease ends before the next try', () =>
    play(async (scene) => {
      await expect(release(scene, 'answer')).rejects.toThrow(NotOwner);
    }));
});
