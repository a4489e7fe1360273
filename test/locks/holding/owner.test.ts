/** Owners by async context: each set of locks has its own, and many sets do not slow the process. */
import { executionAsyncResource } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Owners } from '../../../locks/holding/owner.ts';

test('the owners of different sets of locks are independent', async () => {
  const [a, b] = [new Owners('a'), new Owners('b')];
  await a.run(async () => {
    const [asA, asB] = [a.choose(), b.choose()];
    await b.run(async () => {
      await turn();
      expect(a.choose()).toBe(asA);
      const inner = b.choose();
      expect(inner).not.toBe(asB);
      await a.run(async () => {
        await turn();
        expect(a.choose()).not.toBe(asA);
        expect(b.choose()).toBe(inner);
      });
      expect(a.choose()).toBe(asA);
    });
    expect(b.choose()).not.toBe(b.choose()); // Each acquisition is an owner of its own again.
  });
});

test('a hundred used sets of locks add no more to each promise than one set does', async () => {
  const stores = (): Promise<number> =>
    new Owners().run(async () => {
      await turn();
      return Object.getOwnPropertySymbols(executionAsyncResource()).length;
    });
  const one = await stores();
  for (let set = 0; set < 100; set++) await new Owners().run(() => turn());
  expect(await stores()).toBe(one);
});
