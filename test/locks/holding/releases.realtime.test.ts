/** A release that failed goes on in the background: for every kind, until its outcome is known, `close()`, or the end. */
import '../../../lab/router.ts';
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  type HeldLock,
  type Locks,
  type LocksOptions,
  NotOwner,
  OutcomeUnknown,
  ServerRefused,
} from '../../../locks/index.ts';
import { ReplyError } from '../../../protocol/reply.ts';
import { type Refusal, refuseReleases } from '../campaign/refusing.ts';
import { type EveryKind, everyKind, L } from '../every-kind.ts';
import { inLab, type Lab } from '../failures/lab.ts';

interface Scene {
  readonly lab: Lab;
  readonly locks: Locks;
  readonly held: HeldLock;
  /** Releases as the holder. */
  release(): Promise<void>;
  /** All servers refuse releases until the returned function is called. */
  refuse(error: Refusal): () => void;
  /** The keys and permits that were not given back. */
  left(): Promise<string[]>;
}

/** Counters that only grow, what servers remember of requests for some time, and sessions, which are renewed. */
const STAYS = /redisson_lock_token:|lostlock_(queue_number|requests:|abandoned:|session:)/;

async function leftOn(lab: Lab): Promise<string[]> {
  const left: string[] = [];
  for (const set of lab.sets) {
    const redis = set.client('judge');
    for (const key of (await redis.keys('*')).sort()) {
      const isPool = (await redis.type(key)) === 'string' && (await redis.get(key)) === '1';
      if (!isPool && !STAYS.test(key)) left.push(key);
    }
    redis.disconnect();
  }
  return left;
}

function play(
  { acquire, primaries }: EveryKind,
  code: (scene: Scene) => Promise<void>,
  options: LocksOptions = {},
): Promise<void> {
  return inLab(
    1,
    async (lab) => {
      const locks = await lab.locks('A', options);
      const held = await lab.as('A', () => acquire(locks));
      await code({
        lab,
        locks,
        held,
        release: () => lab.as('A', () => held.release()),
        refuse(error) {
          let end = (): void => {};
          const ended = new Promise<void>((resolve) => {
            end = resolve;
          });
          for (const set of lab.sets) void refuseReleases(set, error, () => ended);
          return end;
        },
        left: () => leftOn(lab),
      });
      locks.close();
    },
    primaries,
  );
}

describe.each(everyKind)('$name', (kind) => {
  // One place decides which errors pass: it is enough to try one of them with every kind.
  const errors: readonly Refusal[] = kind.name === 'simple' ? ['MISCONF', 'BUSY', 'READONLY'] : ['MISCONF'];
  test.each(errors)('a release that is refused with %s is repeated', (error) =>
    play(kind, async ({ lab, release, refuse, left }) => {
      const end = refuse(error);
      const released = release();
      await lab.advance(2000);
      expect(await left()).not.toEqual([]);
      end();
      await released;
      await lab.advance(2000); // A Redlock's last server follows.
      if (!kind.inner) expect(await left()).toEqual([]);
    }),
  );

  test('a refused release rejects and goes on, and a second one has its outcome', () =>
    play(kind, async ({ lab, held, release, refuse, left }) => {
      const end = refuse('OOM');
      await expect(release()).rejects.toThrow(ServerRefused);
      let settled = false;
      const second = release().finally(() => {
        settled = true;
      });
      await lab.advance(5000);
      expect(settled).toBe(false);
      end();
      await second;
      await release();
      expect(() => held.assertHeld()).toThrow(NotOwner);
      if (!kind.inner) expect(await left()).toEqual([]);
    }));

  test('after close() a refused release is not repeated', () =>
    play(kind, async ({ lab, locks, release, refuse, left }) => {
      const end = refuse('OOM');
      await expect(release()).rejects.toThrow(ServerRefused);
      const second = release();
      second.catch(() => {});
      locks.close();
      await expect(second).rejects.toThrow(ServerRefused);
      end();
      await lab.advance(2000);
      expect(await left()).not.toEqual([]);
    }));
});

describe.each(everyKind.filter(({ leased, inner }) => leased && !inner))('$name', (kind) => {
  test('a release that is refused until the lease is over ends as not held', () =>
    play(
      kind,
      async ({ lab, release, refuse }) => {
        refuse('OOM');
        await expect(release()).rejects.toThrow(ServerRefused);
        const second = release();
        second.catch(() => {});
        await lab.advance(5000);
        await expect(second).rejects.toThrow(NotOwner);
      },
      { leaseMs: 2000 },
    ));
});

const semaphore = everyKind.find(({ name }) => name === 'semaphore') as EveryKind;

test('a permit whose release gets no answer for ten minutes is given back once', () =>
  play(semaphore, async ({ lab, release, left }) => {
    lab.replies('A').hold();
    const first = release();
    first.catch(() => {});
    await lab.advance(600_000);
    await expect(first).rejects.toThrow(OutcomeUnknown);
    const second = release();
    lab.replies('A').release();
    await lab.advance(20_000);
    await second;
    expect(await lab.raw.get(L)).toBe('1');
    expect(await left()).toEqual([]);
  }));

test('a permit that a request took unnoticed is given back, although the server refuses that at first', () =>
  inLab(1, async (lab) => {
    const locks = await lab.locks('A', { requestTimeoutMs: 100 });
    await lab.as('A', async () => {
      await locks.semaphore(L).trySetPermits(1);
      await locks.semaphore(L).using(() => {});
    });
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    void refuseReleases(lab.pair, 'OOM', () => ended);
    lab.replies('A').hold();
    const acquiring = lab.as('A', () => locks.semaphore(L).tryAcquire());
    acquiring.catch(() => {});
    await lab.advance(2000);
    await expect(acquiring).rejects.toThrow(OutcomeUnknown);
    lab.replies('A').release();
    await lab.advance(60_000);
    expect(await lab.raw.get(L)).toBe('0');
    end();
    await lab.advance(20_000);
    expect(await lab.raw.get(L)).toBe('1');
    locks.close();
  }));

test('units of a stock that a request has taken in vain are put back, although the server refuses that at first', () =>
  inLab(1, async (lab) => {
    const locks = await lab.locks('A');
    const stock = locks.segmented(L, { segments: 2 });
    await lab.as('A', () => stock.trySetStock(4));
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    void refuseReleases(lab.pair, 'OOM', () => ended);
    expect(await lab.as('A', () => stock.take(5))).toBeNull();
    expect(await lab.as('A', () => stock.stock())).toBe(0);
    end();
    await lab.advance(20_000);
    expect(await lab.as('A', () => stock.stock())).toBe(4);
    locks.close();
  }));

test('closing a session goes on when it is refused, and a second call has the outcome', () =>
  inLab(1, async (lab) => {
    const locks = await lab.locks('A');
    const session = await lab.as('A', () => locks.session());
    await lab.as('A', () => session.lock(L).acquire());
    const { server } = lab.pair.primary;
    server.interceptor = (client, argv) => {
      if (argv[2] !== '3' || !/^eval/i.test(argv[0] ?? '')) return false;
      client.reply(new ReplyError('NOPERM not today'));
      return true;
    };
    await expect(lab.as('A', () => session.close())).rejects.toThrow(ServerRefused);
    const second = lab.as('A', () => session.close());
    server.interceptor = undefined;
    await second;
    expect(await lab.raw.exists(L, session.key)).toBe(0);
    locks.close();
  }));

test('a release in the background does not keep the process alive', () => {
  const code = `
    import { createLocks } from './locks/index.ts';
    const refuse = () => Promise.reject(Object.assign(new Error('OOM'), { name: 'ReplyError' }));
    let refuses = false;
    const client = {
      cluster: false, sharded: false, sendAll: refuse, openSubscriber: refuse,
      send: () => (refuses ? refuse() : Promise.resolve(null)),
    };
    const held = await createLocks(client).semaphore('s').acquire();
    refuses = true;
    await held.release().catch((error) => console.log(error.name));
    held.release();
  `;
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', code],
    { encoding: 'utf8', timeout: 120_000 },
  );
  expect({ stdout, status }).toEqual({ stdout: 'ServerRefused\n', status: 0 });
});
