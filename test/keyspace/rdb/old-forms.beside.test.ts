/** The compact forms of earlier versions, built by hand here: redis-server 7.0 and we read the same values from them. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crc64 } from '../../../keyspace/format/crc64.ts';
import { restoreValue } from '../../../keyspace/rdb/dump.ts';
import { VALUE } from '../../../keyspace/rdb/types.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { type Oracle, startOracle } from '../oracle.ts';
import { toPlain } from './plain.ts';

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function u16(value: number): Buffer {
  return Buffer.from([value & 255, value >> 8]);
}

/** A ziplist whose entries are all strings, except those given as numbers. */
function ziplist(entries: (string | number)[]): Buffer {
  const parts: Buffer[] = [];
  let previous = 0;
  let tail = 10;
  let length = 10;
  for (const entry of entries) {
    const head =
      previous < 254 ? Buffer.from([previous]) : Buffer.concat([Buffer.from([254]), u32(previous)]);
    const part = Buffer.concat([
      head,
      typeof entry === 'number' ? ziplistInteger(entry) : ziplistString(entry),
    ]);
    tail = length;
    length += part.length;
    previous = part.length;
    parts.push(part);
  }
  return Buffer.concat([u32(length + 1), u32(tail), u16(entries.length), ...parts, Buffer.from([255])]);
}

function ziplistString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const n = bytes.length;
  if (n < 64) return Buffer.concat([Buffer.from([n]), bytes]);
  if (n < 16384) return Buffer.concat([Buffer.from([0x40 | (n >> 8), n & 255]), bytes]);
  const head = Buffer.alloc(5);
  head[0] = 0x80;
  head.writeUInt32BE(n, 1);
  return Buffer.concat([head, bytes]);
}

function ziplistInteger(value: number): Buffer {
  if (value >= 0 && value <= 12) return Buffer.from([0xf1 + value]);
  const wide = Buffer.alloc(8);
  wide.writeBigInt64LE(BigInt(value));
  const [mark, width] =
    value >= -128 && value < 128
      ? [0xfe, 1]
      : value >= -32768 && value < 32768
        ? [0xc0, 2]
        : value >= -8388608 && value < 8388608
          ? [0xf0, 3]
          : value >= -2147483648 && value < 2147483648
            ? [0xd0, 4]
            : [0xe0, 8];
  return Buffer.concat([Buffer.from([mark]), wide.subarray(0, width)]);
}

function zipmap(pairs: string[]): Buffer {
  const parts = pairs.map((text, i) => {
    const bytes = Buffer.from(text, 'latin1');
    const n = bytes.length;
    const head = n < 254 ? Buffer.from([n]) : Buffer.concat([Buffer.from([254]), u32(n)]);
    const free = i % 4 === 3 ? 2 : 0;
    if (i % 2 === 0) return Buffer.concat([head, bytes]);
    return Buffer.concat([head, Buffer.from([free]), bytes, Buffer.alloc(free)]);
  });
  return Buffer.concat([Buffer.from([Math.min(254, pairs.length / 2)]), ...parts, Buffer.from([255])]);
}

function blob(data: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0x80;
  head.writeUInt32BE(data.length, 1);
  return Buffer.concat([head, data]);
}

function payload(type: number, ...body: Buffer[]): string {
  const data = Buffer.concat([Buffer.from([type]), ...body, Buffer.from([6, 0])]);
  return Buffer.concat([data, crc64(data)]).toString('latin1');
}

const entry = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.integer(),
  fc.integer({ min: -70000, max: 70000 }),
  fc.integer({ min: -9000000, max: 9000000 }),
  fc.maxSafeInteger(),
  fc.string({ maxLength: 70 }).map((text) => `x${text.replace(/[^ -~]/g, '?')}`),
  fc.constantFrom(63, 64, 250, 300, 16384).map((n) => 'y'.repeat(n)),
);
const few = { minLength: 1, maxLength: 20 };
const distinct = { ...few, selector: ([name]: [unknown, unknown]) => String(name) };

const forms: fc.Arbitrary<string> = fc.oneof(
  fc.array(entry, few).map((items) => payload(VALUE.listZiplist, blob(ziplist(items)))),
  fc.array(fc.array(entry, few), { minLength: 1, maxLength: 5 }).map((nodes) => {
    return payload(VALUE.listQuicklist, Buffer.from([nodes.length]), ...nodes.map((n) => blob(ziplist(n))));
  }),
  fc.array(entry, few).map((items) => {
    const strings = items.map((item) => blob(Buffer.from(String(item))));
    return payload(VALUE.list, Buffer.from([strings.length]), ...strings);
  }),
  fc
    .uniqueArray(fc.tuple(entry, entry), distinct)
    .map((pairs) => payload(VALUE.hashZiplist, blob(ziplist(pairs.flat())))),
  fc
    .uniqueArray(fc.tuple(entry, entry), distinct)
    .map((pairs) => payload(VALUE.hashZipmap, blob(zipmap(pairs.flat().map(String))))),
  fc
    .uniqueArray(
      fc.tuple(entry, fc.oneof(fc.integer(), fc.constantFrom('1.5', '-inf', 'inf', '1e-7'))),
      distinct,
    )
    .map((pairs) => payload(VALUE.zsetZiplist, blob(ziplist(sortedByScore(pairs))))),
  fc.uniqueArray(fc.tuple(entry, fc.integer()), distinct).map((pairs) => {
    const body = pairs.flatMap(([member, score]) => [
      blob(Buffer.from(String(member))),
      Buffer.from([String(score).length]),
      Buffer.from(String(score)),
    ]);
    const marked = [
      blob(Buffer.from('low')),
      Buffer.from([255]),
      blob(Buffer.from('high')),
      Buffer.from([254]),
    ];
    return payload(VALUE.zsetText, Buffer.from([pairs.length + 2]), ...body, ...marked);
  }),
);

function sortedByScore(pairs: [string | number, string | number][]): (string | number)[] {
  const value = (score: string | number) => Number(String(score).replace('inf', 'Infinity'));
  return [...pairs]
    .sort((a, b) => value(a[1]) - value(b[1]) || (String(a[0]) < String(b[0]) ? -1 : 1))
    .flat();
}

describe.skipIf(!hasRedisServer)('values in old forms (needs redis-server)', () => {
  let oracle: Oracle;
  beforeAll(async () => {
    oracle = await startOracle(['--sanitize-dump-payload', 'yes']);
  });
  afterAll(() => oracle.stop());

  it('are read as redis-server reads them', async () => {
    await fc.assert(
      fc.asyncProperty(forms, async (form) => {
        expect(await oracle.call('restore', 'k', '0', form, 'replace')).toBe('OK');
        const there = restoreValue((await oracle.call('dump', 'k')) as string);
        expect(toPlain(restoreValue(form))).toEqual(toPlain(there));
      }),
      { numRuns: 300 },
    );
  });
});
