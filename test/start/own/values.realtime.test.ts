/** Values of types that a user's commands define. */
import { describe, expect, test } from 'vitest';
import type { OwnCommands, OwnType } from '../../../start/own/own-command.ts';
import { json } from './json.ts';
import { error, serve } from './serve.ts';

describe('a value of a type of its own', () => {
  test('is stored and read by its commands, and has its word', async () => {
    const { send } = await serve();
    expect(await send('JSON.SET', 'doc', '$', '{"a":1,"ä":["x"]}')).toBe('OK');
    expect(await send('json.get', 'doc')).toBe('{"a":1,"ä":["x"]}');
    expect(await send('json.get', 'doc', '$.a')).toBe('1');
    expect(await send('json.get', 'none')).toBeNull();
    expect(await send('type', 'doc')).toBe('ReJSON-RL');
    expect(await send('object', 'encoding', 'doc')).toBe('raw');
    expect(await send('exists', 'doc')).toBe(1);
    expect(await send('memory', 'usage', 'doc')).toBeGreaterThan(20);
  });

  test('is of the wrong type for other commands, and theirs for it', async () => {
    const { send } = await serve();
    await send('json.set', 'doc', '$', '1');
    await send('set', 'text', 'x');
    for (const request of [
      ['get', 'doc'],
      ['lpush', 'doc', 'a'],
      ['hget', 'doc', 'a'],
      ['sadd', 'doc', 'a'],
      ['zadd', 'doc', '1', 'a'],
      ['xadd', 'doc', '*', 'a', 'b'],
      ['append', 'doc', 'a'],
      ['json.get', 'text'],
      ['json.set', 'text', '$', '1'],
    ])
      expect(await error(send(...request)), request.join(' ')).toMatch(/^WRONGTYPE /);
    expect(await send('set', 'doc', 'x')).toBe('OK');
    expect(await send('type', 'doc')).toBe('string');
  });

  test('is found by SCAN TYPE in any case', async () => {
    for (const dialect of ['redis-7.0', 'redis-8.2', 'redis-8.6', 'valkey-9'] as const) {
      const { send } = await serve({ dialect });
      await send('json.set', 'doc', '$', '1');
      await send('set', 'text', 'x');
      expect(await send('scan', '0', 'type', 'rejson-rl'), dialect).toEqual(['0', ['doc']]);
      expect(await send('scan', '0', 'type', 'string'), dialect).toEqual(['0', ['text']]);
    }
  });

  test('is copied, renamed, dumped and restored, in every dialect', async () => {
    for (const dialect of ['redis-7.0', 'redis-8.2', 'valkey-9'] as const) {
      const { redis, send } = await serve({ dialect });
      await send('json.set', 'doc', '$', '{"a":1}');
      expect(await send('copy', 'doc', 'two')).toBe(1);
      await send('json.set', 'two', '$.a', '2');
      expect(await send('json.get', 'doc', '$.a')).toBe('1');
      expect(await send('rename', 'two', 'three')).toBe('OK');
      const payload = (await redis.dumpBuffer('three')) as Buffer;
      expect(await redis.restore('four', 0, payload)).toBe('OK');
      expect(await send('json.get', 'four')).toBe('{"a":2}');
      const digests = await send('debug', 'digest-value', 'doc', 'three', 'four').catch(() => undefined);
      if (digests === undefined) continue;
      const [one, three, four] = digests as string[];
      expect(three).toBe(four);
      expect(one).not.toBe(three);
    }
  });

  test('keeps its TTL only if its command says so', async () => {
    const { send } = await serve();
    await send('json.set', 'doc', '$', '{"a":1}');
    await send('expire', 'doc', '100');
    await send('json.set', 'doc', '$.a', '2');
    expect(await send('ttl', 'doc')).toBeGreaterThan(0);
    await send('json.set', 'doc', '$', '{"a":1}');
    expect(await send('ttl', 'doc')).toBe(-1);
  });

  test('is a new one each time: to change it without storing it changes nothing', async () => {
    const commands: OwnCommands = {
      ...json,
      'json.forget': {
        arity: 2,
        keys: 1,
        type: 'ReJSON-RL',
        run: ([key = ''], { value }) => {
          (value<number[]>(key) as number[]).push(4);
        },
      },
    };
    const { send } = await serve({ commands });
    await send('json.set', 'doc', '$', '[1]');
    expect(await send('json.forget', 'doc')).toBeNull();
    expect(await send('json.get', 'doc')).toBe('[1]');
  });

  test('may be of a class, with a form of its own', async () => {
    class Filter {
      readonly bits: Uint8Array;
      constructor(bits: Uint8Array) {
        this.bits = bits;
      }
    }
    const type: OwnType<Filter> = {
      name: 'MBbloom--',
      encode: ({ bits }) => bits,
      decode: (data) => new Filter(new Uint8Array(data)),
    };
    const place = (item: string) => [...item].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 256, 7);
    const commands: OwnCommands = {
      'bf.add': {
        arity: 3,
        keys: 1,
        type: type as OwnType,
        run([key = '', item = ''], { value, store }) {
          const { bits } = value<Filter>(key) ?? new Filter(new Uint8Array(256));
          const isNew = bits[place(item)] === 0;
          bits[place(item)] = 255;
          store(key, new Filter(bits));
          return isNew;
        },
      },
    };
    const { send } = await serve({ commands });
    expect(await send('bf.add', 'f', 'x')).toBe(1);
    expect(await send('bf.add', 'f', 'x')).toBe(0);
    expect(await send('type', 'f')).toBe('MBbloom--');
  });

  test('must be plain where JSON keeps it', async () => {
    const values: unknown[] = [new Map(), new Date(), { a: [1n] }, Number.NaN, () => 1];
    const commands: OwnCommands = {
      'x.put': {
        arity: 3,
        keys: 1,
        run: ([key = '', at = ''], { store }) => store(key, values[Number(at)]) as undefined,
      },
    };
    const { send } = await serve({ commands });
    for (const at of values.keys())
      expect(await error(send('x.put', 'k', String(at)))).toMatch(
        /^ERR a value of the type x has .*JSON does not keep/,
      );
    expect(await error(send('x.put', 'k', '2'))).toContain('1n at .a[0]');
    expect(await send('exists', 'k')).toBe(0);
  });

  test('is part of a dump, and of a seed', async () => {
    const { server, send } = await serve();
    await send('json.set', 'doc', '$', '[1,2]');
    const dump = await server.dump();
    expect(dump).toMatchObject([{ key: 'doc', type: 'own' }]);
    const other = await serve({ seed: dump });
    expect(await other.send('json.get', 'doc')).toBe('[1,2]');
  });
});
