/** What wakes who waits, what is left of who gave up, and releases at the last moment: where nobody looks by the clock for an hour. */
import '../../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import {
  type HeldLock,
  type Lock,
  type LockClient,
  type Locks,
  NotOwner,
  OutcomeUnknown,
} from '../../../locks/index.ts';
import { HOUR, L, play, QUICK_MS, type Scene } from '../quiet.ts';

test('a subscription that is confirmed late is followed by a look: the message may have been missed', () =>
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

test('when the first in line gives up, the next one looks, and learns when the lease of the dead holder ends', () =>
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
])('where %s, a waiter looks every maxSleepMs', (_why, dress) =>
  play(async ({ pair, raw, locks, time }) => {
    await raw.set(L, 'somebody', 'PX', HOUR);
    const waiting = locks('A', { maxSleepMs: 500 }, dress).simple(L).acquire();
    await pair.advance(750);
    await raw.del(L); // And nobody is told.
    expect(await time(() => waiting)).toBeLessThan(500 + QUICK_MS);
  }),
);

test('who comes while others of the process stand in line asks the server nothing', () =>
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

test('a grant whose answer comes when its lease is over is not handed out', () =>
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

test.each(['simple', 'reentrant', 'nonReentrant', 'fair', 'queue'] as const)(
  'a %s lock that is granted too late is not taken from who asked again, whatever gets lost then',
  (kind) =>
    play(async ({ pair, locks }) => {
      let losing = false;
      const mine = locks('A', { requestTimeoutMs: 10_000 }, (client) => ({
        ...client,
        async send(command) {
          if (!losing) return client.send(command);
          losing = false;
          throw new Error('lost');
        },
      }))[kind](L);
      await (await mine.acquire()).release();
      const replies = pair.world.network.lane('redis-1', 'A');
      replies.hold();
      const acquiring = mine.acquire({ leaseMs: 1000 });
      await pair.advance(2000);
      losing = true; // The next request does not come to the server.
      replies.release();
      const held = await acquiring;
      await pair.advance(100);
      await held.extend();
      await held.release();
      expect(await locks('B')[kind](L).tryAcquire()).not.toBeNull();
    }),
);

test.each(['simple', 'reentrant', 'nonReentrant', 'fair', 'queue'] as const)(
  'a %s lock that is granted too late to who does not wait goes back',
  (kind) =>
    play(async ({ pair, locks }) => {
      const mine = locks('A', { requestTimeoutMs: 10_000 })[kind](L);
      await (await mine.acquire()).release();
      const requests = pair.world.network.lane('A', 'redis-1');
      requests.hold();
      const acquiring = mine.tryAcquire({ leaseMs: 1000 });
      await pair.advance(2000);
      requests.release();
      expect(await acquiring).toBeNull();
      await pair.advance(100);
      expect(await locks('B')[kind](L).tryAcquire()).not.toBeNull();
    }),
);

test('who aborts what has no answer and was not to wait hears of the abort', () =>
  play(async ({ pair, locks }) => {
    const mine = locks('A', {}, (client) => ({ ...client, send: () => Promise.reject(new Error('lost')) }));
    const abort = new AbortController();
    const acquiring = mine.simple(L).tryAcquire({ signal: abort.signal });
    const refused = expect(acquiring).rejects.toThrow('not any more');
    await pair.advance(5);
    abort.abort(new Error('not any more'));
    await refused;
  }));

describe('permits that come back while others want more', () => {
  /** Waiters of one process for so many permits each, in this order; what each has got. */
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

  test('two at once go to the two who are content with one', () =>
    play(async (scene) => {
      const granted = await waiters(scene, [5, 1, 1, 1]);
      const theirs = scene.locks('B').semaphore(L);
      await Promise.all([theirs.addPermits(1), theirs.addPermits(1)]);
      await scene.pair.advance(100);
      expect(granted).toEqual([false, true, true, false]);
    }));

  test('whose messages were lost are found by all, one after the other, once the connection is back', () =>
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

  test('what a request that was refused unheard has missed meanwhile is found at once', () =>
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

  test('too few for any are looked for by nobody twice', () =>
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

test('the server does not keep the requests of a semaphore for the sake of one that was never answered', () =>
  play(async ({ pair, raw, locks }) => {
    const mine = locks('A', { requestTimeoutMs: 100 }).semaphore(L);
    await mine.trySetPermits(1);
    const replies = pair.world.network.lane('redis-1', 'A');
    replies.hold();
    await expect(mine.tryAcquire()).rejects.toThrow(OutcomeUnknown);
    replies.release();
    await pair.advance(2000); // What it took has gone back.
    for (let i = 0; i < 20; i++) await mine.using(() => {});
    const [requests] = await raw.keys('lostlock_requests:*');
    expect(await raw.zcard(requests!)).toBeLessThan(5);
  }));

const kinds: Record<string, (locks: Locks) => Lock<HeldLock> | Promise<Lock<HeldLock>>> = {
  simple: (locks) => locks.simple(L),
  reentrant: (locks) => locks.reentrant(L),
  fenced: (locks) => locks.fenced(L),
  fair: (locks) => locks.fair(L),
  queue: (locks) => locks.queue(L),
  'non-reentrant': (locks) => locks.nonReentrant(L),
  semaphore: (locks) => locks.semaphore(L),
  'expirable permits': (locks) => locks.expirablePermits(L),
  read: (locks) => locks.readWrite(L).read,
  write: (locks) => locks.readWrite(L).write,
  "session's": async (locks) => (await locks.session()).lock(L),
};

test.each(Object.entries(kinds))(
  'what an aborted request took whose answer is lost goes back: %s',
  (kind, make) =>
    play(async ({ pair, locks }) => {
      const [a, b] = [locks('A', { requestTimeoutMs: 100 }), locks('B')];
      if (kind === 'semaphore') await b.semaphore(L).trySetPermits(1);
      if (kind === 'expirable permits') await b.expirablePermits(L).trySetPermits(1);
      const [mine, theirs] = [await make(a), await make(b)];
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

  test('is asked again when its request was lost, and ends the lock', () =>
    play(async (scene) => {
      await release(scene, 'request');
      expect(await scene.raw.exists(L)).toBe(0);
    }));

  test('proves nothing when its answer was lost, and the lease is over by the next one', () =>
    play(async (scene) => {
      await expect(release(scene, 'answer')).rejects.toThrow(NotOwner);
    }));
});
