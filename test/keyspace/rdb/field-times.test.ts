/** Hashes with field TTLs in RDB files and in DUMP payloads. */
import { expect, test } from 'vitest';
import { defaultLimits } from '../../../keyspace/collections/encoding.ts';
import { HashValue } from '../../../keyspace/collections/hash.ts';
import { dumpValue, restoreValue } from '../../../keyspace/rdb/dump.ts';
import { readRdb, writeRdb } from '../../../keyspace/rdb/file.ts';

const FAR = 4_102_444_800_123;

test.each([
  ['listpackex', 512],
  ['hashtable', 1],
])('expiry times of fields are restored from a file and from DUMP (%s)', (encoding, hashMaxEntries) => {
  const limits = { ...defaultLimits(), hashMaxEntries };
  const hash = new HashValue(limits);
  for (const field of ['a', 'b', 'c']) hash.set(field, `value of ${field}`);
  hash.expireAt('c', FAR);
  hash.expireAt('a', FAR + 7);
  expect(hash.encoding()).toBe(encoding);
  const entries = [
    { key: 'h', value: hash, expiresAt: FAR },
    { key: 's', value: 'x' },
  ];
  const items = [...readRdb(writeRdb([{ index: 0, entries }]), limits)];
  const values = items.flatMap((item) => (item.kind === 'entry' ? [item.value] : []));
  for (const read of [values[0], restoreValue(dumpValue(hash), limits)]) {
    if (!(read instanceof HashValue)) throw new Error('no hash');
    expect([...read.entries()].sort()).toEqual([...hash.entries()].sort());
    expect([...(read.times?.entries() ?? [])]).toEqual([
      { member: 'c', score: FAR },
      { member: 'a', score: FAR + 7 },
    ]);
    expect(read.encoding()).toBe(encoding);
  }
  expect(values[1]).toBe('x');
});

test('files keep version 10: expiry times are an auxiliary field beside a plain hash', () => {
  const hash = new HashValue();
  hash.set('f', 'v');
  hash.expireAt('f', FAR);
  const file = writeRdb([{ index: 0, entries: [{ key: 'h', value: hash }] }]);
  expect(file.slice(0, 9)).toBe('REDIS0010');
  expect(file).toContain('\xfa\x14lostlock-field-times');
});

test('payloads of later servers are refused, except hashes with field TTLs', () => {
  const hash = new HashValue();
  hash.set('f', 'v');
  const plain = dumpValue(hash);
  hash.expireAt('f', FAR);
  const timed = dumpValue(hash);
  expect(plain.charCodeAt(plain.length - 10)).toBe(10);
  expect(timed.charCodeAt(timed.length - 10)).toBe(12);
});
