/** DUMP payloads in the format of each real server: the same bytes, and the same ones refused. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HashValue } from '../../../keyspace/collections/hash.ts';
import { crc64 } from '../../../keyspace/format/crc64.ts';
import { RdbError } from '../../../keyspace/format/errors.ts';
import { ListpackBuilder } from '../../../keyspace/format/listpack.ts';
import { RdbWriter } from '../../../keyspace/format/writer.ts';
import { dumpValue, restoreValue } from '../../../keyspace/rdb/dump.ts';
import { readRdb, writeRdb } from '../../../keyspace/rdb/file.ts';
import {
  FORMATS,
  type RdbFormat,
  REDIS_7_0,
  REDIS_7_2,
  REDIS_7_4,
  VALKEY_9,
} from '../../../keyspace/rdb/formats.ts';
import { realServers } from '../../support/oracles.ts';
import { type Oracle, startOracle } from '../oracle.ts';
import { anyPlain, createCommand, toPlain, toValue } from './plain.ts';

const FAR = 4_102_444_800_123;
const DRAFT_HASH = 22;

/** A payload of any version, with the right checksum. */
function seal(body: Uint8Array, version: number): string {
  const data = Buffer.concat([body, Buffer.from([version, 0])]);
  return Buffer.concat([data, crc64(data)]).toString('latin1');
}

/** The bytes that `write` writes after the number of the type. */
function body(type: number, write: (out: RdbWriter) => void): Buffer {
  const out = new RdbWriter();
  out.byte(type);
  write(out);
  return Buffer.from(out.data());
}

function listpack(...elements: (string | number)[]): Buffer {
  const builder = new ListpackBuilder();
  for (const each of elements) {
    if (typeof each === 'number') builder.addInteger(each);
    else builder.add(each);
  }
  return builder.finish();
}

/** One value of each form that some servers do not have. */
const BODIES: Record<string, Buffer> = {
  string: body(0, (out) => out.string('x')),
  'set as a listpack': body(20, (out) => out.blob(listpack('a', 'b'))),
  'hash of a release candidate of 7.4': body(DRAFT_HASH, (out) => {
    out.size(2);
    for (const part of [FAR, 'f', 'v', 0, 'g', 'w']) {
      if (typeof part === 'number') out.size(part);
      else out.string(part);
    }
  }),
  'hash of Valkey 9': body(DRAFT_HASH, (out) => {
    out.size(2);
    out.string('f');
    out.string('v');
    out.int64(FAR);
    out.string('g');
    out.string('w');
    out.int64(-1);
  }),
  'packed hash of a release candidate of 7.4': body(23, (out) =>
    out.blob(listpack('f', 'v', FAR, 'g', 'w', 0)),
  ),
  'value of a module': body(7, (out) => out.size(2n ** 63n)),
  'unknown form': body(28, (out) => out.string('x')),
};

function outcome(payload: string, format: RdbFormat): string {
  try {
    restoreValue(payload, undefined, format);
    return 'OK';
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    return error.kind === 'checksum'
      ? 'ERR DUMP payload version or checksum are wrong'
      : 'ERR Bad data format';
  }
}

const servers = realServers();

describe.skipIf(servers.length === 0).each(servers)(
  'in the format of %s (needs it installed)',
  (name, program) => {
    let oracle: Oracle;
    let format: RdbFormat;
    const ask = (...words: string[]): Promise<unknown> =>
      oracle.call(...words).catch((error: Error) => error.message);

    beforeAll(async () => {
      oracle = await startOracle(['--rdbcompression', 'no', '--sanitize-dump-payload', 'yes'], program);
      await oracle.call('set', 'k', 'x');
      const payload = (await oracle.call('dump', 'k')) as string;
      const version = payload.charCodeAt(payload.length - 10);
      format = FORMATS.find((each) => each.version === version) as RdbFormat;
      expect(format, name).toBeDefined();
    });
    afterAll(() => oracle.stop());

    test('values become the same bytes', async () => {
      await fc.assert(
        fc.asyncProperty(anyPlain, async (plain) => {
          // Since 7.2 a large sorted set keeps a score of -0. In 7.0 it has become 0 while the set was a listpack.
          fc.pre(plain.type !== 'zset' || !plain.scores.some(([, score]) => Object.is(score, -0)));
          const value = toValue(plain);
          await oracle.call('del', 'k');
          await oracle.call(...createCommand('k', plain));
          const theirs = (await oracle.call('dump', 'k')) as string;
          expect(toPlain(restoreValue(theirs, undefined, format))).toEqual(toPlain(value));
          const ours = dumpValue(value, format);
          expect(await oracle.call('restore', 'k', '0', ours, 'replace')).toBe('OK');
          // Hash tables have no order, and we keep no sets in listpacks.
          const encoding = typeof value === 'string' ? '' : value.encoding();
          if (encoding !== 'hashtable') expect(ours).toBe(theirs);
        }),
        { numRuns: 60, seed: 4 },
      );
    });

    test('streams with groups become the same bytes', async () => {
      await oracle.call('del', 's');
      for (let i = 1; i <= 5; i++) await oracle.call('xadd', 's', `${i}-1`, 'field', `${i}`);
      await oracle.call('xgroup', 'create', 's', 'g', '0');
      await oracle.call('xreadgroup', 'group', 'g', 'ann', 'count', '2', 'streams', 's', '>');
      await oracle.call('xreadgroup', 'group', 'g', 'bob', 'count', '1', 'streams', 's', '>');
      await oracle.call('xgroup', 'createconsumer', 's', 'g', 'idle');
      await oracle.call('xack', 's', 'g', '1-1');
      const payload = (await oracle.call('dump', 's')) as string;
      expect(dumpValue(restoreValue(payload, undefined, format), format)).toBe(payload);
    });

    test('hashes with field TTLs become the same bytes, if the server has them', async () => {
      await oracle.call('hset', 'h', 'a', '1', 'b', '2', 'c', '3');
      const known = await ask('hpexpireat', 'h', `${FAR}`, 'fields', '1', 'b');
      expect(Array.isArray(known)).toBe(format.fieldTimes !== 'beside');
      const theirs = async (): Promise<string> => (await oracle.call('dump', 'h')) as string;
      const read = (payload: string): HashValue => restoreValue(payload, undefined, format) as HashValue;
      const packed = await theirs();
      // Valkey keeps it in a table, which has no order.
      if (format === VALKEY_9) expect(read(dumpValue(read(packed), format))).toEqual(read(packed));
      else expect(dumpValue(read(packed), format)).toBe(packed);
      await oracle.call('hset', 'h', 'long', 'x'.repeat(65));
      const table = read(await theirs());
      expect([...(table.times?.entries() ?? [])]).toEqual(
        format.fieldTimes === 'beside' ? [] : [{ member: 'b', score: FAR }],
      );
      expect(await oracle.call('restore', 'h', '0', dumpValue(table, format), 'replace')).toBe('OK');
      expect(read(await theirs())).toEqual(table);
      // Redis may still report a time for a field that no longer expires.
      await ask('hpersist', 'h', 'fields', '1', 'b');
      expect(read(await theirs()).times?.size ?? 0).toBe(0);
    });

    test.each(Object.keys(BODIES))('a %s of any version is accepted or refused as there', async (kind) => {
      for (const version of [5, 9, 10, 11, 12, 13, 79, 80, 81]) {
        const payload = seal(BODIES[kind]!, version);
        const theirs = await ask('restore', 'k', '0', payload, 'replace');
        expect([version, outcome(payload, format)]).toEqual([version, theirs]);
      }
    });
  },
);

/** A hash with two fields, one of which has a TTL. */
function timed(): HashValue {
  const hash = new HashValue();
  hash.set('f', 'v');
  hash.set('g', 'w');
  hash.expireAt('f', FAR);
  return hash;
}

test.each(FORMATS.map((format) => [`${format.magic} ${format.version}`, format] as const))(
  'a file of the format %s comes back whole',
  (_name, format) => {
    const entries = [{ key: 'h', value: timed(), expiresAt: FAR }];
    const file = writeRdb([{ index: 3, entries }], { libraries: ['#!lua name=x\nreturn 1'] }, format);
    expect(file).toMatch(new RegExp(`^${format.magic}0*${format.version}\\xfa?`));
    expect(file.length).toBeGreaterThan(9);
    const items = [...readRdb(file)];
    const read = items.flatMap((item) => (item.kind === 'entry' ? [item] : []));
    expect(read).toMatchObject([{ key: 'h', expiresAt: FAR, database: 3 }]);
    const value = read[0]!.value as HashValue;
    expect([...(value.times?.entries() ?? [])]).toEqual([{ member: 'f', score: FAR }]);
    expect(value.get('g')).toBe('w');
  },
);

test('field TTLs are stored in the hash for a server that has them, and beside the hash for others', () => {
  const typeIn = (format: RdbFormat): number => dumpValue(timed(), format).charCodeAt(0);
  expect([REDIS_7_0, REDIS_7_2, REDIS_7_4, VALKEY_9].map(typeIn)).toEqual([25, 25, 25, 22]);
  const fileOf = (format: RdbFormat): string =>
    writeRdb([{ index: 0, entries: [{ key: 'h', value: timed() }] }], {}, format);
  const beside = [REDIS_7_0, REDIS_7_2, REDIS_7_4, VALKEY_9].map((format) =>
    fileOf(format).includes('lostlock-field-times'),
  );
  expect(beside).toEqual([true, true, false, false]);
});

test('Valkey 9 accepts payloads of Redis up to 7.2 and its own, and no others', () => {
  const answers = [9, 11, 12, 79, 80, 81].map((version) => outcome(seal(BODIES.string!, version), VALKEY_9));
  const refused = 'ERR DUMP payload version or checksum are wrong';
  expect(answers).toEqual(['OK', 'OK', refused, refused, 'OK', refused]);
  expect(outcome(seal(BODIES['hash of Valkey 9']!, 80), VALKEY_9)).toBe('OK');
});

/** The number that stands for a module's type in RDB. */
function moduleId(name: string): bigint {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  let id = 0n;
  for (const letter of name) id = (id << 6n) | BigInt(letters.indexOf(letter));
  return (id << 10n) | 1n;
}

test.each([
  [7, "a value of the module type 'ReJSON-RL'", '\x03key'],
  [247, "data of the module type 'ReJSON-RL'", ''],
  [6, "a value of the module type 'ReJSON-RL'", '\x03key'],
])('what modules write (%i) is refused by its name', (type, words, key) => {
  const out = new RdbWriter();
  out.raw('REDIS0012');
  out.byte(type);
  out.raw(key);
  out.size(moduleId('ReJSON-RL'));
  expect(() => [...readRdb(Buffer.from(out.data()))]).toThrow(words);
});

test.each([
  [243, 'unknown section 243: metadata that modules attach to keys'],
  [246, 'unknown section 246: functions of a release candidate of Redis 7.0'],
])('section %i is refused by its name', (section, words) => {
  const data = Buffer.concat([Buffer.from('REDIS0012'), Buffer.from([section])]);
  expect(() => [...readRdb(data)]).toThrow(words);
});
