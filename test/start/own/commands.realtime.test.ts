/** Commands of a user's own: every place where a command of the server's appears, and how mistakes are refused. */
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startCluster, startPair, startServer } from '../../../index.ts';
import type { OwnCommandContext, OwnCommands } from '../../../start/own/own-command.ts';
import type { StartOptions } from '../../../start/start-options.ts';
import { RawClient } from '../../support/raw-client.ts';
import { json } from './json.ts';
import { error, serve } from './serve.ts';

describe("a command of one's own", () => {
  test('is in COMMAND INFO, DOCS, GETKEYS, LIST and COUNT', async () => {
    const { send } = await serve();
    const plain = await serve({ commands: {} });
    expect(await send('command', 'count')).toBe(((await plain.send('command', 'count')) as number) + 2);
    const [info] = (await send('command', 'info', 'json.set')) as unknown[][];
    expect(info?.slice(0, 7)).toEqual([
      'json.set',
      -4,
      ['module', 'write', 'denyoom'],
      1,
      1,
      1,
      ['@write', '@slow', '@json'],
    ]);
    expect(await send('command', 'getkeys', 'json.set', 'doc', '$', '1')).toEqual(['doc']);
    expect(await send('command', 'getkeysandflags', 'json.get', 'doc')).toEqual([['doc', ['RO', 'access']]]);
    expect(await send('command', 'list', 'filterby', 'pattern', 'json.*')).toEqual(['json.set', 'json.get']);
    const docs = (await send('command', 'docs', 'json.set')) as unknown[];
    expect(docs[0]).toBe('json.set');
    expect(docs[1]).toEqual(
      expect.arrayContaining(['summary', 'Stores a JSON document.', 'since', '1.0.0', 'group', 'module']),
    );
    await send('json.get', 'x');
    expect(await send('info', 'commandstats')).toContain('cmdstat_json.get:calls=1');
  });

  test('finds its keys by positions, by a count and by a function', async () => {
    const run = () => null;
    const { send } = await serve({
      commands: {
        'k.range': { arity: -4, keys: [1, -1, 2], run },
        'k.count': { arity: -3, keys: { count: 1 }, run },
        'k.any': { arity: -2, keys: (words) => [words.indexOf('KEY') + 1], run },
        'k.none': { arity: 1, run },
      },
    });
    expect(await send('command', 'getkeys', 'k.range', 'a', '1', 'b', '2')).toEqual(['a', 'b']);
    expect(await send('command', 'getkeys', 'k.count', '2', 'a', 'b', 'c')).toEqual(['a', 'b']);
    expect(await send('command', 'getkeys', 'k.any', 'x', 'KEY', 'a')).toEqual(['a']);
    expect(await error(send('command', 'getkeys', 'k.none'))).toBe('ERR The command has no key arguments');
  });

  test('has a number of words', async () => {
    const { send } = await serve();
    expect(await error(send('json.set', 'doc'))).toBe("ERR wrong number of arguments for 'json.set' command");
  });

  test("has ACL categories: Redis' and its own", async () => {
    const { send, server } = await serve({
      users: { reader: 'on >r ~* +@json -@write', keyless: 'on >k ~other +@all' },
    });
    expect(await send('acl', 'cat')).toEqual(expect.arrayContaining(['json', 'read']));
    expect(await send('acl', 'cat', 'json')).toEqual(['json.set', 'json.get']);
    expect(await send('acl', 'cat', 'write')).toContain('json.set');
    expect(await error(send('acl', 'setuser', 'x', '+@jason'))).toContain('Unknown command or category');
    const reader = new Redis({ port: server.port, username: 'reader', password: 'r' });
    onTestFinished(() => reader.disconnect());
    expect(await reader.call('json.get', 'doc')).toBeNull();
    expect(await error(reader.call('json.set', 'doc', '$', '1'))).toMatch(/^NOPERM .*'json.set'/);
    const keyless = new Redis({ port: server.port, username: 'keyless', password: 'k' });
    onTestFinished(() => keyless.disconnect());
    expect(await error(keyless.call('json.get', 'doc'))).toMatch(/^NOPERM .*key/);
  });

  test('runs in scripts, functions and transactions', async () => {
    const { redis, send } = await serve();
    expect(
      await redis.eval(
        "redis.call('json.set', KEYS[1], '$', ARGV[1]); return redis.call('json.get', KEYS[1])",
        1,
        'doc',
        '{"a":1}',
      ),
    ).toBe('{"a":1}');
    expect(
      await error(redis.eval_ro("return redis.call('json.set', KEYS[1], '$', '1')", 1, 'doc')),
    ).toContain('Write commands are not allowed from read-only scripts');
    expect(await redis.multi().call('json.set', 'doc', '$', '[1]').call('json.get', 'doc').exec()).toEqual([
      [null, 'OK'],
      [null, '[1]'],
    ]);
    const other = redis.duplicate();
    onTestFinished(() => other.disconnect());
    await other.watch('doc');
    await send('json.set', 'doc', '$', '[2]');
    expect(await other.multi().get('x').exec()).toBeNull();
  });

  test('sends an event for a write', async () => {
    const { server, send } = await serve({ settings: { 'notify-keyspace-events': 'KEA' } });
    const heard: string[] = [];
    const listener = new Redis({ port: server.port });
    onTestFinished(() => listener.disconnect());
    await listener.psubscribe('__key*');
    const done = new Promise<void>((resolve) => {
      listener.on('pmessage', (_, channel: string, text: string) => {
        heard.push(`${channel} ${text}`);
        if (heard.length === 2) resolve();
      });
    });
    await send('json.set', 'doc', '$', '1');
    await done;
    expect(heard).toEqual(['__keyspace@0__:doc json.set', '__keyevent@0__:json.set doc']);
  });

  test('answers every kind of reply in both protocols', async () => {
    const replies = [
      'text',
      Buffer.from([0xff, 0]),
      7,
      1.5,
      true,
      null,
      undefined,
      2n ** 62n,
      { ok: 'DONE' },
      ['a', [1]],
      new Set(['x']),
      new Map([['k', 1]]),
      new Error('CODE it is\r\nwrong'),
    ] as const;
    const { server } = await serve({
      commands: { reply: { arity: 2, run: ([at]) => replies[Number(at)] } },
    });
    const client = await RawClient.connect({ port: server.port });
    onTestFinished(() => client.close());
    const repliesIn = async (version: string) => {
      await client.ask('hello', version);
      const all: string[] = [];
      for (const at of replies.keys()) all.push((await client.ask('reply', String(at))).raw);
      return all;
    };
    const same = {
      before: ['$4\r\ntext\r\n', '$2\r\n\xff\0\r\n', ':7\r\n'],
      number: ':4611686018427387904\r\n',
      status: '+DONE\r\n',
      array: '*2\r\n$1\r\na\r\n*1\r\n:1\r\n',
      error: '-CODE it is wrong\r\n',
    };
    expect(await repliesIn('2')).toEqual([
      ...[...same.before, '$3\r\n1.5\r\n', ':1\r\n', '$-1\r\n', '$-1\r\n', same.number, same.status],
      ...[same.array, '*1\r\n$1\r\nx\r\n', '*2\r\n$1\r\nk\r\n:1\r\n', same.error],
    ]);
    expect(await repliesIn('3')).toEqual([
      ...[...same.before, ',1.5\r\n', '#t\r\n', '_\r\n', '_\r\n', same.number, same.status],
      ...[same.array, '~1\r\n$1\r\nx\r\n', '%1\r\n$1\r\nk\r\n:1\r\n', same.error],
    ]);
  });

  test('answers an error that it throws, and says when it is no answer', async () => {
    const lines: string[] = [];
    const commands: OwnCommands = {
      plain: {
        arity: 1,
        run: () => {
          throw new Error('no such thing');
        },
      },
      coded: {
        arity: 1,
        run: () => {
          throw new Error('BUSYGROUP there is one');
        },
      },
      bug: { arity: 1, run: () => (undefined as unknown as { a: string }).a },
      later: { arity: 1, run: () => Promise.resolve(1) as never },
      other: { arity: 1, run: () => ({ a: 1 }) as never },
      inner: {
        arity: 1,
        run: (_, { call }) => call('lpush', 'text', 'x'),
      },
    };
    const { send } = await serve({ commands, log: (_, text) => lines.push(text) });
    await send('set', 'text', 'x');
    expect(await error(send('plain'))).toBe('ERR no such thing');
    expect(await error(send('coded'))).toBe('BUSYGROUP there is one');
    expect(await error(send('bug'))).toMatch(/^ERR Cannot read properties/);
    expect(lines.join('\n')).toContain('The command bug threw TypeError');
    expect(await error(send('later'))).toContain('has returned a promise');
    expect(await error(send('other'))).toContain('a command has returned { a: 1 }');
    expect(await error(send('inner'))).toMatch(/^WRONGTYPE/);
  });

  test('answers the error of its function for keys, also where ACL rules ask for keys', async () => {
    const keys = () => {
      throw new Error('NOKEYS in this request');
    };
    const commands: OwnCommands = {
      'k.throws': { arity: 1, keys, run: () => 'run' },
      'k.none': { arity: 1, keys: (() => undefined) as never, run: () => 'run' },
    };
    const { server, send } = await serve({ commands, users: { limited: 'on >l ~x +@all' } });
    const limited = new Redis({ port: server.port, username: 'limited', password: 'l' });
    onTestFinished(() => limited.disconnect());
    for (const ask of [send, (name: string) => limited.call(name)]) {
      expect(await error(ask('k.throws'))).toBe('NOKEYS in this request');
      expect(await error(ask('k.none'))).toContain('is not iterable');
    }
  });

  test('works until its function returns: what it was given is of no use later', async () => {
    const kept: OwnCommandContext[] = [];
    const commands: OwnCommands = {
      keep: {
        arity: 1,
        run: (_, context) => {
          kept.push(context);
        },
      },
    };
    const { send } = await serve({ commands });
    await send('keep');
    for (const late of kept.flatMap(({ call, value, store }) => [
      () => call('set', 'k', 'v'),
      () => value('k'),
      () => store('k', 1),
    ]))
      expect(late).toThrow('lostlock: the command keep has ended');
    expect(await send('dbsize')).toBe(0);
  });

  test('is told which key or word is none', async () => {
    const commands: OwnCommands = {
      value: { arity: 1, run: (_, { value }) => value(undefined as never) as undefined },
      store: { arity: 1, run: (_, { store }) => store({} as never, 1) as undefined },
      word: { arity: 1, run: (_, { call }) => call('get', {} as never) },
    };
    const { send } = await serve({ commands });
    expect(await error(send('value'))).toBe('ERR a key is undefined, not text or bytes');
    expect(await error(send('store'))).toBe('ERR a key is {}, not text or bytes');
    expect(await error(send('word'))).toBe('ERR a word for call is {}, not text or bytes');
  });

  test('calls other commands, by the rules of scripts and with the rights of its client', async () => {
    const commands: OwnCommands = {
      'x.count': { arity: 2, keys: 1, run: ([key = ''], { call }) => call('incr', key) },
      'x.peek': {
        arity: 2,
        keys: 1,
        flags: ['readonly'],
        run: ([key = ''], { call }) => call('incr', key),
      },
      'x.twice': {
        arity: 2,
        keys: 1,
        run: ([key = ''], { call }) => [call('x.count', key), call('x.count', key)],
      },
      'x.block': { arity: 1, run: (_, { call }) => call('subscribe', 'c') },
    };
    const { send, server } = await serve({ commands, users: { weak: 'on >w ~* +x.count' } });
    expect(await send('x.count', 'n')).toBe(1);
    expect(await send('x.twice', 'n')).toEqual([2, 3]);
    expect(await error(send('x.peek', 'n'))).toContain('Write commands are not allowed from read-only');
    expect(await error(send('x.block'))).toContain('not allowed from script');
    const weak = new Redis({ port: server.port, username: 'weak', password: 'w' });
    onTestFinished(() => weak.disconnect());
    expect(await error(weak.call('x.count', 'n'))).toMatch(/NOPERM|ACL failure|can't run/);
    expect(await send('get', 'n')).toBe('3');
  });
});

describe('wrong commands', () => {
  const run = () => null;
  const wrong: readonly [unknown, string][] = [
    [[], 'commands is []'],
    [{ get: { arity: 2, run } }, "commands['get']"],
    [{ 'a b': { arity: 1, run } }, "commands['a b']"],
    [{ 'x.a': { arity: 1, run }, 'X.A': { arity: 1, run } }, "commands['X.A']"],
    [{ x: null }, "commands['x']"],
    [{ x: { run } }, "commands['x'].arity is undefined"],
    [{ x: { arity: 0, run } }, "commands['x'].arity is 0"],
    [{ x: { arity: 1 } }, "commands['x'].run is undefined"],
    [{ x: { arity: 1, run: async () => null } }, 'not async'],
    [{ x: { arity: 1, run, handler: run } }, "commands['x'].handler"],
    [{ x: { arity: 1, run, flags: ['writes'] } }, "commands['x'].flags[0] is 'writes'"],
    [{ x: { arity: 1, run, flags: ['write', 'readonly'] } }, "commands['x'].flags"],
    [{ x: { arity: 1, run, categories: ['@json'] } }, "commands['x'].categories[0] is '@json'"],
    [{ x: { arity: 1, run, keys: 1 } }, 'no keys with arity 1'],
    [{ x: { arity: 2, run, keys: 2 } }, "commands['x'].keys is 2"],
    [{ x: { arity: -3, run, keys: [2, 1, 1] } }, "commands['x'].keys[1] is 1"],
    [{ x: { arity: -3, run, keys: [1, -1] } }, "commands['x'].keys is [ 1, -1 ]"],
    [{ x: { arity: -3, run, keys: [1, -1, 0] } }, "commands['x'].keys[2] is 0"],
    [{ x: { arity: -3, run, keys: { counts: 1 } } }, "commands['x'].keys.counts"],
    [{ 'string.x': { arity: 1, run } }, "commands['string.x'].type is 'string'"],
    [{ x: { arity: 1, run, type: { name: 'y', encode: String } } }, 'both encode and decode'],
    [{ x: { arity: 1, run, type: { name: 'y', encode: 1, decode: 1 } } }, "commands['x'].type.encode is 1"],
  ];

  test('are refused by name, by every function that starts servers', async () => {
    for (const [commands, text] of wrong) {
      const starts = [
        () => startServer({ commands } as StartOptions),
        () => startPair({ commands } as object),
        () => startCluster({ clock: 'virtual', commands } as { clock: 'virtual' }),
        () => startCluster({ commands } as object),
      ];
      for (const start of starts) {
        const failure = await error(start());
        expect(failure).toMatch(/^lostlock: option commands/);
        expect(failure).toContain(text);
      }
    }
  });

  test('are those that a thread cannot have, or that the dialect has', async () => {
    expect(await error(startServer({ thread: true, commands: json } as never))).toContain(
      'no value with thread',
    );
    const vadd = { vadd: { arity: 1, run } };
    const { send } = await serve({ dialect: 'redis-7.0', commands: vadd });
    expect(await send('vadd')).toBeNull();
    expect(await error(startServer({ dialect: 'redis-8.2', commands: vadd }))).toContain(
      'redis-8.2 has vadd',
    );
  });

  test('are calls without end, and promises that reject; the server goes on', async () => {
    const rejected: unknown[] = [];
    const note = (reason: unknown): number => rejected.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const { send } = await serve({
      commands: {
        endless: { arity: 1, run: (_, { call }) => call('endless') },
        down: { arity: 2, run: ([n], { call }) => (n === '1' ? 'end' : call('down', String(Number(n) - 1))) },
        rejects: { arity: 1, run: (() => Promise.reject(new Error('late'))) as never },
      },
    });
    const deep = 'ERR commands of your own call each other more than 200 deep';
    expect(await error(send('endless'))).toBe(deep);
    expect(await error(send('eval', "return redis.call('endless')", '0'))).toContain(deep);
    expect([await send('down', '200'), await error(send('down', '201'))]).toEqual(['end', deep]);
    expect(await error(send('rejects'))).toContain('has returned a promise');
    await new Promise((resolve) => setImmediate(resolve));
    expect([await send('ping'), rejected]).toEqual(['PONG', []]);
  });

  test('may be renamed, and the same object serves many servers', async () => {
    const { send } = await serve({ renamedCommands: [['json.get', 'j']] });
    expect(await send('j', 'doc')).toBeNull();
    expect(await error(send('json.get', 'doc'))).toContain('unknown command');
  });
});
