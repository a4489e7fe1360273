/** The queue of bytes in which a replica keeps what it has not applied. */
import { expect, test } from 'vitest';
import { Random } from '../../../lab/time/random.ts';
import { Pieces } from '../../../server/replication/pieces.ts';

test('bytes come out in the order and in the lengths that are asked for, however they came in', () => {
  const random = new Random(1, 'pieces');
  const pieces = new Pieces();
  let [kept, next] = ['', 0];
  for (let i = 0; i < 2000; i++) {
    const bytes = Array.from({ length: Math.floor(random.next() * 7) }, () => String(next++ % 10)).join('');
    pieces.push(bytes);
    kept += bytes;
    const count = Math.floor(random.next() * 9) - 1;
    const taken = pieces.take(count);
    expect(taken).toBe(kept.slice(0, Math.max(0, count)));
    kept = kept.slice(taken.length);
    expect(pieces.length).toBe(kept.length);
  }
  expect(pieces.take(Infinity)).toBe(kept);
  expect(pieces.length).toBe(0);
});
