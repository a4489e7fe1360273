/** A lease that could never be held is refused, and no accepted option makes a waiter, a holder or the server spin. */

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLocks, type Locks, ServerRefused } from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { inLab, type Lab } from '../failures/lab.ts';

/** Each kind of lock, as a lock named L. */
const kinds = formsIn('short leases').map(({ name, make }) => ({
  name,
  make: (locks: Locks) => make(locks, 'L'),
}));

/** How many requests for locks the server has had. */
async function requests(lab: Lab): Promise<number> {
  const stats = await lab.raw.info('commandstats');
  const calls = [...stats.matchAll(/cmdstat_(?:eval|evalsha):calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

test.each(kinds)('$name: a lease that the drift allowance uses up is refused', ({ make }) =>
  inLab(1, async (lab) => {
    const tooShort = /acquire\.leaseMs is (1|0\.5); allowed: milliseconds from 2/;
    const locks = await lab.locks('A');
    await expect(make(locks).acquire({ leaseMs: 1 })).rejects.toThrow(tooShort);
    await expect(make(locks).tryAcquire({ leaseMs: 0.5 })).rejects.toThrow(tooShort);
    await (await make(locks).acquire({ leaseMs: 50 })).release();
    const sure = await lab.locks('B', { driftFactor: 0 });
    await expect(make(sure).acquire({ leaseMs: 0.5 })).rejects.toThrow('allowed: milliseconds from 1');
  }),
);

test.each(kinds)('$name: a lease shorter than the round trip to the server does not spin', ({ make }) =>
  inLab(1, async (lab) => {
    const locks = await lab.locks('A');
    lab.replies('A').delay(20);
    const before = await requests(lab);
    await expect(make(locks).acquire({ leaseMs: 5, waitMs: 10_000 })).rejects.toThrow('was not free');
    expect((await requests(lab)) - before).toBeLessThan(60);
  }),
);

describe.skipIf(!hasRedisServer)('on redis-server (needs redis-server)', () => {
  let server: RealRedis;
  let raw: Redis;
  beforeAll(async () => {
    server = await startRedisServer();
    raw = new Redis({ path: server.path });
  });
  afterAll(async () => {
    raw?.disconnect();
    await server?.stop();
  });

  test('fractions of a millisecond are rounded up in every option', async () => {
    const settings = { lockDelayMs: 0.5, fairWaitMs: 5000.5, placeMs: 5000.5, leaseMs: 10_000.5 };
    const locks = createLocks(raw, settings);
    for (const { name, make } of kinds) {
      await raw.flushall();
      const held = await make(locks).acquire();
      await held.extend(20_000.5);
      const options = { waitMs: 50.5, owner: 'another' };
      if (name === 'fair') expect(await make(locks).tryAcquire(options)).toBeNull();
      await held.release();
    }
    locks.close();
  });

  test.each([['eval'], ['evalsha'], ['eval', 'evalsha']])(
    'a user that may not run %s %s gets a lock that it can release, or none',
    async (...without) => {
      const denied = without.map((command) => `-${command}`);
      await raw.acl('SETUSER', 'someone', 'reset', 'on', '>pw', '~*', '&*', '+@all', ...denied);
      const client = new Redis({ path: server.path, username: 'someone', password: 'pw' });
      onTestFinished(() => client.disconnect());
      const locks = createLocks(client);
      for (const { make } of kinds) {
        await raw.flushall();
        for (const again of [1, 2]) {
          await raw.script('FLUSH');
          if (without.includes('eval')) {
            const refused = make(locks).acquire();
            await expect(refused, `try ${again}`).rejects.toThrow(/refused lock.*NOPERM.*'eval'/);
            await expect(refused).rejects.toBeInstanceOf(ServerRefused);
            expect(await raw.dbsize()).toBe(0);
            continue;
          }
          const held = await make(locks).acquire();
          await held.extend();
          await held.release();
          expect(await make(locks).tryAcquire()).not.toBeNull();
          await raw.flushall();
        }
      }
      locks.close();
    },
  );

  test('in the steady state a simple lock is one SET and one script', async () => {
    const locks = createLocks(raw);
    await locks.simple('L').using(() => {});
    await raw.config('RESETSTAT');
    for (let i = 0; i < 10; i++) await locks.simple('L').using(() => {});
    const stats = await raw.info('commandstats');
    const calls = Object.fromEntries(
      [...stats.matchAll(/cmdstat_(set|evalsha|eval):calls=(\d+)/g)].map(([, name, n]) => [name, Number(n)]),
    );
    expect(calls).toEqual({ set: 10, evalsha: 10 });
    locks.close();
  });

  test('a hold without a lease has nothing to extend', async () => {
    const locks = createLocks(raw);
    const extended: string[] = [];
    locks.on('extended', ({ lock }) => extended.push(lock));
    await locks.semaphore('S').trySetPermits(2);
    const permit = await locks.semaphore('S').acquire();
    for (const leaseMs of [undefined, 5000]) await permit.extend(leaseMs);
    expect(permit.validUntil).toBe(Number.POSITIVE_INFINITY);
    await expect(permit.extend(-1)).rejects.toThrow('option extend is -1');
    await expect(permit.extend(Number.POSITIVE_INFINITY)).rejects.toThrow('option extend is Infinity');
    await permit.release();
    await expect(permit.extend()).rejects.toThrow('not locked by current owner');
    const several = await locks.multi([locks.semaphore('S'), locks.simple('M')]).acquire({ leaseMs: 5000 });
    await several.extend();
    await several.extend(60_000);
    expect(await raw.pttl('M')).toBeGreaterThan(50_000);
    await several.release();
    expect(await raw.get('S')).toBe('2');
    expect(extended).toEqual(['M', 'M', 'M']); // By the multi lock itself too.
    locks.close();
  });
});
