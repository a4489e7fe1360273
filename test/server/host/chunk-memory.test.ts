/** Chunks in reused memory begin with the block's first byte, and only short ones are kept. */
import { expect, test } from 'vitest';
import { ChunkMemory } from '../../../server/host/chunk-memory.ts';

test('a short chunk is the same Buffer each time, a long one is not', () => {
  const memory = new ChunkMemory(4096);
  memory.block.write('hello');
  expect(memory.chunk(5).toString()).toBe('hello');
  expect(memory.chunk(2).toString()).toBe('he');
  for (const bytes of [0, 5, 1023, 1024, 4096]) {
    const first = memory.chunk(bytes);
    expect(first).toHaveLength(bytes);
    expect(memory.chunk(bytes) === first).toBe(bytes < 1024);
  }
});
