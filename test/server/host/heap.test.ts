/** Collecting the heap of the process, which needs a flag of V8. */
import v8 from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';

test('code that V8 has compiled before a collection is still accepted after it', async () => {
  // Test processes have the flag from their start.
  v8.setFlagsFromString('--no-expose-gc');
  vi.stubGlobal('gc', undefined);
  vi.resetModules();
  onTestFinished(() => {
    vi.unstubAllGlobals();
    v8.setFlagsFromString('--expose-gc');
  });
  const { processHeap } = await import('../../../server/host/heap.ts');
  const before = v8.cachedDataVersionTag();
  processHeap?.collect();
  expect(v8.cachedDataVersionTag()).toBe(before);
});
