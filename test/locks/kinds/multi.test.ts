/** Several locks as one: leases that start together, a lock that ends during the wait for another, and the order of release. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import type { LockClient } from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { isRelease } from '../campaign/refusing.ts';
import { play, QUICK_MS } from '../quiet.ts';

test('every lease starts when the last of the locks is taken', () =>
  play(async ({ raw, locks }) => {
    await raw.set('b', 'somebody', 'PX', 1000);
    const mine = locks('A');
    const held = await mine.multi([mine.simple('b'), mine.simple('a')]).acquire({ leaseMs: 10_000 });
    for (const key of ['a', 'b']) expect(await raw.pttl(key)).toBeGreaterThan(10_000 - QUICK_MS);
    expect(held.validUntil).toBeGreaterThan(Date.now() + 9800); // Less the drift.
    await held.release();
  }));

test('a lock that ends during the wait for another is taken again', () =>
  play(async ({ pair, raw, locks }) => {
    await raw.set('b', 'somebody', 'PX', 1400);
    const mine = locks('A', { leaseMs: 3000 });
    const acquiring = mine.multi([mine.simple('a'), mine.simple('b')]).acquire();
    await pair.advance(100);
    await raw.del('a'); // The renewal notices it after a third of the lease.
    (await acquiring).assertHeld();
    expect(await raw.exists('a', 'b')).toBe(2);
  }));

test('the lock that was taken last is released first', () =>
  play(async ({ locks }) => {
    const mine = locks('A');
    const order: string[] = [];
    for (const event of ['acquired', 'released'] as const) mine.on(event, ({ lock }) => order.push(lock));
    await mine.multi(['c', 'a', 'b'].map((name) => mine.simple(name))).using(() => {});
    expect(order).toEqual(['a', 'b', 'c', 'c', 'b', 'a']);
  }));

test.each(
  formsIn('late grants').flatMap((form) =>
    [undefined, 'me'].map((owner) => ({ ...form, owner, whose: owner ?? 'nobody in particular' })),
  ),
)(
  'a refused release of a try that failed does not end what the next try has got ($name, for $whose)',
  ({ make, owner }) =>
    play(async ({ pair, raw, locks }) => {
      let refuses = true;
      const dress = (client: LockClient): LockClient => ({
        ...client,
        async send(command) {
          if (refuses && isRelease(command.map(String))) throw new Error('READONLY refused');
          return client.send(command);
        },
      });
      const mine = locks('A', { leaseMs: 20_000 }, dress);
      await raw.set('b', 'somebody');
      // The first try gives up 'a' after three seconds, because 'b' is not free.
      const acquiring = mine
        .multi([make(mine, 'a'), mine.simple('b')])
        .acquire(owner === undefined ? {} : { owner });
      await pair.advance(3500);
      await raw.del('b');
      await pair.advance(500);
      refuses = false;
      const held = await acquiring;
      await pair.advance(15_000);
      held.assertHeld();
      expect(await make(locks('B'), 'a').tryAcquire()).toBeNull();
      await held.release();
    }),
);
