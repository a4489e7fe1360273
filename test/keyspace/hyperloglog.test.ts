/** HyperLogLogs: the bytes and estimates of redis-server for many elements, and ranks that occur in no transcript. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { countRegisters, HyperLogLog, REGISTERS } from '../../keyspace/hyperloglog/hyperloglog.ts';
import { toBuffer } from '../../protocol/bytes.ts';

/** Recorded from redis-server 7.0.15: PFADD of `element 1` to `element n`, then PFCOUNT; the value's length and SHA-1. */
const RECORDED = [
  [100, 100, 287, 'f4ddf5fc5e26dc89a3ffe1ef26004a81f29fd34f'],
  [1000, 1003, 1910, '2cdc550d0341e09069d6fbf95d928aa0e1f96dff'],
  [2000, 1988, 12304, 'c4f6e3e575a3f67835b174adc95f84b93fb65be7'],
  [5000, 4980, 12304, 'd398be02aa7c2dfddcc8da22250b86ebae312b6e'],
  [20000, 19988, 12304, 'ed7b6b566b4fe16bdc99513db230972dfa317d95'],
] as const;

test.each(RECORDED)('%i elements give the same bytes as in redis-server', (elements, count, length, sha1) => {
  const hll = HyperLogLog.empty();
  for (let i = 1; i <= elements; i++) hll.add(`element ${i}`, 3000);
  const counted = hll.count() ?? -1;
  hll.cache(counted);
  const bytes = hll.bytes();
  expect([counted, bytes.length, createHash('sha1').update(toBuffer(bytes)).digest('hex')]).toEqual([
    count,
    length,
    sha1,
  ]);
});

test('a rank that is too high for a run changes the form to dense', () => {
  const hll = HyperLogLog.empty();
  expect(hll.raise(5, 32, 3000)).toBe('changed');
  expect(hll.dense).toBe(false);
  expect(hll.raise(6, 33, 3000)).toBe('changed');
  expect(hll.dense).toBe(true);
  expect(hll.registers().slice(4, 8)).toEqual([0, 32, 33, 0]);
});

test('truncated runs are reported, and nothing beyond them is read', () => {
  const cut = HyperLogLog.read('HYLL\x01\0\0\0\0\0\0\0\0\0\0\0\x7f');
  expect(cut?.add('a', 3000)).toBe('corrupt');
  expect(cut?.toDense()).toBe(false);
  expect(cut?.count()).toBeUndefined();
});

/** A dense HyperLogLog with all ranks that 6 bits have, in an order that depends on the step. */
function denseWith(step: number): HyperLogLog {
  const hll = HyperLogLog.empty();
  hll.toDense();
  for (let i = 0; i < REGISTERS; i++) hll.raise(i, (i * step) % 64, 3000);
  return hll;
}

test('all registers of a dense one are raised at once as one by one', () => {
  const [once, each, other] = [denseWith(7919), denseWith(7919), denseWith(612)];
  once.raiseTo(other);
  for (const [i, rank] of other.registers().entries()) each.raise(i, rank, 3000);
  expect(once.bytes()).toBe(each.bytes());
  const max = new Uint8Array(REGISTERS);
  expect(once.mergeInto(max)).toBe(true);
  expect([...max]).toEqual(once.registers());
  expect(once.count()).toBe(countRegisters(max));
  const sparse = HyperLogLog.empty();
  sparse.takeRegisters(once);
  expect(sparse.bytes()).toBe(once.bytes());
});

test('a sparse one gives its ranks, and counts as they do', () => {
  const sparse = HyperLogLog.empty();
  for (let i = 0; i < 500; i++) sparse.add(`e${i}`, 3000);
  const [max, dense] = [new Uint8Array(REGISTERS), HyperLogLog.empty()];
  expect(sparse.mergeInto(max)).toBe(true);
  dense.raiseAll(max, 0);
  expect([...max]).toEqual(dense.registers());
  expect(sparse.count()).toBe(countRegisters(max));
});

test('a dense one that is read from its string has the same registers before it is copied', () => {
  const dense = denseWith(7919);
  const text = dense.bytes();
  for (const [i, rank] of dense.registers().entries()) {
    const held = HyperLogLog.read(text)!;
    expect(held.raise(i, rank, 3000)).toBe('same');
    if (rank < 63) expect(held.raise(i, rank + 1, 3000)).toBe('changed');
  }
});
