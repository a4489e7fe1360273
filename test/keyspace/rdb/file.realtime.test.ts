/** Whole RDB files: written and read back, and exchanged with redis-server 7.0. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RdbError } from '../../../keyspace/format/errors.ts';
import { type RdbItem, readRdb, writeRdb } from '../../../keyspace/rdb/file.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { startOracle } from '../oracle.ts';
import { anyPlain, createCommand, type Plain, toPlain, toValue } from './plain.ts';

const FAR = 4_102_444_800_123;

/** Every entry, as `database/key`, with its deadline and plain value. */
function plainEntries(
  items: Iterable<RdbItem>,
): Map<string, { plain: Plain; expiresAt: number | undefined }> {
  const found = new Map<string, { plain: Plain; expiresAt: number | undefined }>();
  for (const item of items) {
    if (item.kind !== 'entry') continue;
    const { database, key, value, expiresAt } = item;
    found.set(`${database}/${key}`, { plain: toPlain(value), expiresAt });
  }
  return found;
}

const samples: Plain[] = fc.sample(anyPlain, { numRuns: 120, seed: 7 });

describe('an RDB file', () => {
  it('restores databases, deadlines, auxiliary fields and libraries', () => {
    const databases = [0, 3, 15].map((index) => ({
      index,
      entries: samples.map((plain, i) => ({
        key: `key ${i}`,
        value: toValue(plain),
        expiresAt: i % 3 === 0 ? FAR + i : undefined,
      })),
    }));
    const aux: [string, string][] = [
      ['redis-ver', '7.0.15'],
      ['repl-offset', '12345'],
    ];
    const file = writeRdb(databases, { aux, libraries: ['#!lua name=x\nreturn 1'] });
    const items = [...readRdb(file)];
    expect(items.filter((item) => item.kind === 'aux').map((item) => [item.name, item.value])).toEqual(aux);
    expect(items.filter((item) => item.kind === 'library')).toEqual([
      { kind: 'library', code: '#!lua name=x\nreturn 1' },
    ]);
    const entries = plainEntries(items);
    expect(entries.size).toBe(samples.length * 3);
    for (const [i, plain] of samples.entries()) {
      expect(entries.get(`15/key ${i}`)).toEqual({
        plain: toPlain(toValue(plain)),
        expiresAt: i % 3 === 0 ? FAR + i : undefined,
      });
    }
  });

  it('reports where it ends, because more data may follow', () => {
    const file = writeRdb([{ index: 0, entries: [{ key: 'k', value: 'v' }] }]);
    const reader = readRdb(`${file}and more`);
    let step = reader.next();
    while (!step.done) step = reader.next();
    expect(step.value).toBe(file.length);
  });

  it('is refused if a bit is wrong or the end is missing', () => {
    const file = writeRdb([{ index: 0, entries: [{ key: 'key', value: 'a value', expiresAt: FAR }] }]);
    for (let i = 0; i < file.length; i++) {
      const wrong = file.slice(0, i) + String.fromCharCode(file.charCodeAt(i) ^ 1) + file.slice(i + 1);
      expect(() => [...readRdb(wrong)]).toThrow(RdbError);
      expect(() => [...readRdb(file.slice(0, i))]).toThrow(RdbError);
    }
    expect(() => [...readRdb('REDIS0099\xff')]).toThrow('RDB version 99');
  });
});

describe.skipIf(!hasRedisServer)('between us and redis-server (needs redis-server)', () => {
  it('we read what it saves', async () => {
    const oracle = await startOracle(['--dbfilename', 'dump.rdb']);
    try {
      for (const [i, plain] of samples.entries()) {
        await oracle.call('select', String(i % 3));
        await oracle.call(...createCommand(`key ${i}`, plain));
        if (i % 4 === 0) await oracle.call('pexpireat', `key ${i}`, String(FAR + i));
      }
      await oracle.call('function', 'load', "#!lua name=lib\nredis.register_function('f', function() end)");
      await oracle.call('save');
      const items = [...readRdb(readFileSync(join(oracle.server.dir, 'dump.rdb')))];
      expect(items.filter((item) => item.kind === 'aux').map((item) => item.name)).toContain('redis-ver');
      expect(items.filter((item) => item.kind === 'library')).toHaveLength(1);
      const entries = plainEntries(items);
      expect(entries.size).toBe(samples.length);
      for (const [i, plain] of samples.entries()) {
        const expected = { plain: toPlain(toValue(plain)), expiresAt: i % 4 === 0 ? FAR + i : undefined };
        expect(entries.get(`${i % 3}/key ${i}`)).toEqual(expected);
      }
    } finally {
      await oracle.stop();
    }
  });

  it('it starts from what we write, and saves the same', async () => {
    const entries = samples.map((plain, i) => {
      return { key: `key ${i}`, value: toValue(plain), expiresAt: i % 5 === 0 ? FAR + i : undefined };
    });
    const library = "#!lua name=lib\nredis.register_function('f', function() return 'called' end)";
    const file = writeRdb(
      [0, 9].map((index) => ({ index, entries })),
      {
        aux: [['redis-ver', '7.0.15']],
        libraries: [library],
      },
    );
    const fresh = await startFrom(file);
    try {
      expect(await fresh.call('dbsize')).toBe(samples.length);
      expect(await fresh.call('fcall', 'f', '0')).toBe('called');
      await fresh.call('save');
      const saved = plainEntries(readRdb(readFileSync(join(fresh.server.dir, 'dump.rdb'))));
      expect(saved).toEqual(plainEntries(readRdb(file)));
    } finally {
      await fresh.stop();
    }
  });
});

/** A redis-server that has loaded the file: it is put where DEBUG RELOAD looks for it. */
async function startFrom(file: string): ReturnType<typeof startOracle> {
  const oracle = await startOracle(['--enable-debug-command', 'yes', '--dbfilename', 'dump.rdb']);
  writeFileSync(join(oracle.server.dir, 'dump.rdb'), Buffer.from(file, 'latin1'));
  await oracle.call('debug', 'reload', 'nosave', 'noflush');
  return oracle;
}
