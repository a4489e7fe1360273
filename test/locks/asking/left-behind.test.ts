/** What waiters and holders that end without a release leave to others, and in this process: nothing. */
import { expect, test } from 'vitest';
import { LockTimeout } from '../../../locks/index.ts';
import { play } from '../quiet.ts';

test.each([1, 2, 3, 4, 4.5, 5])(
  'a waiter that is woken and gives up passes its notification on: aborted after %d ms',
  (delay) =>
    play(async ({ pair, locks }) => {
      const [mine, other] = [locks('A').semaphore('S'), locks('B').semaphore('S')];
      await other.trySetPermits(2);
      const [held] = [await other.acquire(), await other.acquire()];
      const stop = new AbortController();
      const two = mine.acquire({ permits: 2, signal: stop.signal }).catch(() => {});
      await pair.advance(100);
      let granted = false;
      void mine.acquire().then(() => {
        granted = true;
      });
      await pair.advance(100);
      void held.release();
      await pair.advance(delay);
      stop.abort();
      await two;
      await pair.advance(60_000);
      expect(granted).toBe(true);
    }),
);

test('a waiter of a fair lock keeps its place when another one of its owner gives up', () =>
  play(async ({ pair, locks }) => {
    const [a, b, c] = [locks('A').fair('F'), locks('B').fair('F'), locks('C').fair('F')];
    const held = await c.acquire();
    const order: string[] = [];
    const impatient = expect(a.acquire({ owner: 'x', waitMs: 500 })).rejects.toThrow(LockTimeout);
    await pair.advance(50);
    const first = a.using({ owner: 'x' }, () => void order.push('a'));
    await pair.advance(50);
    const last = b.using(() => void order.push('b'));
    await impatient;
    await held.release();
    await Promise.all([first, last]);
    expect(order).toEqual(['a', 'b']);
  }));

test('holds that end with their leases are forgotten', () =>
  play(async ({ pair, locks }) => {
    const mine = locks('A');
    for (let i = 0; i < 5; i++) {
      await mine.run(() => mine.reentrant(`x${i}`).acquire({ leaseMs: 50 }));
      await mine.run(() => mine.readWrite(`y${i}`).read.acquire({ leaseMs: 50 }));
    }
    const { counted } = (mine.simple('z') as unknown as { context: { counted: Map<string, unknown> } })
      .context;
    expect(counted.size).toBe(10);
    await pair.advance(1000);
    expect(counted.size).toBe(0);
  }));
