/** Running functions, functions on replicas, and refusals: redis-server and ours give the same answers to the same steps. */
import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { cleanUpAfterEachTest, clientOf, type Node, ours, real } from '../../support/nodes.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

cleanUpAfterEachTest();

/** The reply to a request as JSON; the text of an error. */
async function ask(redis: Redis, ...words: string[]): Promise<string> {
  const [name = '', ...rest] = words;
  return redis.call(name, ...rest).then(
    (reply) => JSON.stringify(reply),
    (error: Error) => `-${error.message}`,
  );
}

const code = (name: string, body: string): string => `#!lua name=${name}\n${body}`;
const writing = (name: string): string =>
  `redis.register_function('${name}', function(keys, args) return redis.call('incr', keys[1]) end)`;

const ENDLESS = code(
  'endless',
  `local turns = 0
redis.register_function('keeps', function() while true do turns = turns + 1 end end)
redis.register_function('runs', function() while true do pcall(error) end end)
redis.register_function('turns', function() return turns > 0 end)
redis.register_function('adds', function(keys) redis.call('incr', keys[1]) while #redis.call('time') > 0 do end end)`,
);
const PLAIN = code('plain', "redis.register_function('spins', function() while true do end end)");

const SAME: readonly (readonly [string, () => Promise<Node>])[] = hasRedisServer
  ? [
      ['lostlock', ours],
      ['redis-server', real],
    ]
  : [['lostlock', ours]];

describe.each(SAME)('running functions: %s', (_name, start) => {
  async function busy(a: Redis, b: Redis, ...words: string[]): Promise<[Promise<string>]> {
    const answer = ask(a, ...words);
    await until(async () => (await ask(b, 'PING')).startsWith('-BUSY'), { what: 'BUSY' });
    return [answer];
  }

  test.each([
    ['keeps', ENDLESS],
    ['runs', ENDLESS],
    ['spins', PLAIN],
  ])('%s can be killed by FUNCTION KILL only, and STATS shows it', async (name, library) => {
    const node = await start();
    const [a, b] = [node.redis, clientOf(node.port)];
    await ask(a, 'CONFIG', 'SET', 'busy-reply-threshold', '50');
    await ask(a, 'FUNCTION', 'LOAD', library);
    const [answer] = await busy(a, b, 'FCALL', name, '1', 'k', 'v');
    const BUSY = '-BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.';
    expect(await ask(b, 'GET', 'k')).toBe(BUSY);
    expect(await ask(b, 'SCRIPT', 'KILL')).toBe(BUSY);
    expect(await ask(b, 'SHUTDOWN')).toBe(BUSY);
    expect(await ask(b, 'SHUTDOWN', 'SAVE', 'NOW')).toBe(BUSY);
    expect(await ask(b, 'FUNCTION', 'STATS')).toMatch(
      new RegExp(
        `^\\["running_script",\\["name","${name}","command",\\["FCALL","${name}","1","k","v"\\],"duration_ms",\\d+\\],"engines",`,
      ),
    );
    expect(await ask(b, 'FUNCTION', 'KILL')).toBe('"OK"');
    expect(await answer).toMatch(
      new RegExp(
        `^-ERR Script killed by user with SCRIPT KILL\\.\\.\\. script: ${name}, on @user_function:\\d\\.$`,
      ),
    );
    expect(await ask(b, 'FUNCTION', 'KILL')).toBe('-NOTBUSY No scripts in execution right now.');
    if (name === 'keeps') expect(await ask(b, 'FCALL', 'turns', '0')).toBe('1');
  });

  test('a script is not killed by FUNCTION KILL', async () => {
    const node = await start();
    const [a, b] = [node.redis, clientOf(node.port)];
    await ask(a, 'CONFIG', 'SET', 'busy-reply-threshold', '50');
    const [answer] = await busy(a, b, 'EVAL', 'while true do end', '0');
    const BUSY = '-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.';
    expect(await ask(b, 'FUNCTION', 'KILL')).toBe(BUSY);
    expect(await ask(b, 'FUNCTION', 'STATS')).toBe(BUSY);
    expect(await ask(b, 'SCRIPT', 'KILL')).toBe('"OK"');
    expect(await answer).toContain('Script killed by user');
  });

  test('a function that has written cannot be killed', async () => {
    const node = await start();
    const [a, b] = [node.redis, clientOf(node.port)];
    await ask(a, 'CONFIG', 'SET', 'busy-reply-threshold', '50');
    await ask(a, 'FUNCTION', 'LOAD', ENDLESS);
    await busy(a, b, 'FCALL', 'adds', '1', 'k');
    expect(await ask(b, 'FUNCTION', 'KILL')).toMatch(/^-UNKILLABLE Sorry the script already executed write/);
  });

  test('a library whose code does not return is aborted by a time-out', async () => {
    const { redis } = await start();
    for (const body of ['while true do end', 'local n = 0 while true do n = n + 1 end']) {
      expect(await ask(redis, 'FUNCTION', 'LOAD', code('l', body))).toBe(
        '-ERR Error registering functions: ERR FUNCTION LOAD timeout',
      );
    }
  });

  test('flags decide which functions run on a replica, on a stale replica, and without enough replicas', async () => {
    const [primary, replica] = [await start(), await start()];
    const flags = (name: string, list: string): string =>
      `redis.register_function{function_name='${name}', flags={${list}}, callback=function(keys) return redis.call('get', keys[1]) end}`;
    const functions = [
      writing('plain'),
      flags('reads', "'no-writes'"),
      flags('stale', "'no-writes', 'allow-stale'"),
      flags('pings', "'no-writes', 'allow-stale'").replace("'get', keys[1]", "'ping'"),
    ];
    await ask(primary.redis, 'FUNCTION', 'LOAD', code('lib', functions.join('\n')));
    await replica.follow(primary);
    const both = async (...words: string[]) => {
      const answers: string[] = [];
      for (const name of ['plain', 'reads', 'stale', 'pings']) {
        answers.push(await ask(replica.redis, ...words, name, '1', 'k'));
      }
      return answers;
    };
    const scripts = async () => {
      const answers: string[] = [];
      const get = "return redis.call('get', 'k')";
      for (const first of ['', '#!lua\n', '#!lua flags=no-writes\n', '#!lua flags=no-writes,allow-stale\n']) {
        answers.push((await ask(replica.redis, 'EVAL', `${first}${get}`, '0')).replace(/ script: .*/, ''));
      }
      return answers;
    };
    const refused = "-READONLY You can't write against a read only replica.";
    expect(await both('FCALL')).toEqual([refused, 'null', 'null', '"PONG"']);
    expect(await both('FCALL_RO')).toEqual([refused, 'null', 'null', '"PONG"']);
    expect(await scripts()).toEqual(['null', refused, 'null', 'null']);
    expect(await ask(replica.redis, 'FUNCTION', 'FLUSH')).toBe(
      "-READONLY You can't write against a read only replica.",
    );
    await ask(replica.redis, 'CONFIG', 'SET', 'replica-serve-stale-data', 'no');
    await ask(replica.redis, 'REPLICAOF', '127.0.0.1', '1');
    const down = "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    const old = '-ERR Can not execute the command on a stale replica';
    expect((await both('FCALL')).map((answer) => answer.replace(/ script: .*/, ''))).toEqual([
      refused,
      down,
      old,
      old,
    ]);
    expect(await scripts()).toEqual([down, refused, down, old]);
    await ask(replica.redis, 'REPLICAOF', 'NO', 'ONE');
    await ask(replica.redis, 'CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await both('FCALL')).toEqual([
      '-NOREPLICAS Not enough good replicas to write.',
      'null',
      'null',
      '"PONG"',
    ]);
    expect(await both('FCALL_RO')).toEqual([
      '-NOREPLICAS Not enough good replicas to write.',
      'null',
      'null',
      '"PONG"',
    ]);
    await ask(replica.redis, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
    expect((await both('FCALL_RO'))[0]).toBe(
      '-ERR Can not execute a script with write flag using *_ro command.',
    );
    await ask(replica.redis, 'CONFIG', 'SET', 'maxmemory', '1');
    expect(await both('FCALL')).toEqual([
      "-OOM command not allowed when used memory > 'maxmemory'.",
      'null',
      'null',
      '"PONG"',
    ]);
    const write = "return redis.call('set', 'k', 'v')";
    for (const [first, answer] of [
      ['', /^-OOM command not allowed when used memory > 'maxmemory'\./],
      ['#!lua\n', /^-OOM command not allowed when used memory > 'maxmemory'\./],
      ['#!lua flags=no-writes\n', /^-ERR Write commands are not allowed from read-only scripts\./],
      ['#!lua flags=allow-oom\n', /^"OK"/],
    ] as const) {
      expect(await ask(replica.redis, 'EVAL', `${first}${write}`, '0')).toMatch(answer);
    }
    expect(await ask(replica.redis, 'FUNCTION', 'LOAD', code('x', writing('x')))).toMatch(/^-OOM command/);
    expect(await ask(replica.redis, 'FUNCTION', 'DELETE', 'lib')).toBe('"OK"');
  });
});

describe.each([
  ['lostlock follows lostlock', ours, ours, true],
  ['redis-server follows lostlock', ours, real, hasRedisServer],
  ['lostlock follows redis-server', real, ours, hasRedisServer],
] as const)('%s', (_name, first, second, possible) => {
  // Needs redis-server, which is not installed here otherwise.
  test.skipIf(!possible)('existing and new libraries are replicated (needs redis-server)', async () => {
    const [primary, replica] = [await first(), await second()];
    const listed = (node: Node): Promise<string> => ask(node.redis, 'FUNCTION', 'LIST', 'WITHCODE');
    await ask(primary.redis, 'FUNCTION', 'LOAD', code('before', writing('before')));
    await ask(replica.redis, 'FUNCTION', 'LOAD', code('own', writing('own')));
    await replica.follow(primary);
    expect(await listed(replica)).toBe(await listed(primary));
    expect(await listed(replica)).toContain('"before"');
    await ask(primary.redis, 'FUNCTION', 'LOAD', 'REPLACE', code('before', writing('later')));
    await ask(primary.redis, 'FCALL', 'later', '1', 'k');
    await until(async () => (await primary.redis.wait(1, 1000)) === 1, { what: 'the acknowledgement' });
    expect(await listed(replica)).toBe(await listed(primary));
    expect(await replica.redis.get('k')).toBe('1');
    await ask(primary.redis, 'FUNCTION', 'FLUSH');
    await until(async () => (await primary.redis.wait(1, 1000)) === 1, { what: 'the acknowledgement' });
    expect(await listed(replica)).toBe('[]');
    await ask(replica.redis, 'REPLICAOF', 'NO', 'ONE');
    await primary.redis.flushall();
    const payload = await primary.redis.callBuffer('FUNCTION', 'DUMP');
    expect(await replica.redis.call('FUNCTION', 'RESTORE', payload as Buffer)).toBe('OK');
  });

  test.skipIf(!possible)('each restores what the other dumps (needs redis-server)', async () => {
    const [one, other] = [await first(), await second()];
    const long = code('long', `${writing('long')}${' '.repeat(5000)}`);
    for (const library of [code('a', writing('fa')), code('b', writing('fb')), long]) {
      await ask(one.redis, 'FUNCTION', 'LOAD', library);
    }
    const payload = (await one.redis.callBuffer('FUNCTION', 'DUMP')) as Buffer;
    expect(await other.redis.call('FUNCTION', 'RESTORE', payload)).toBe('OK');
    for (const name of ['a', 'b', 'long']) {
      const [mine, theirs] = await Promise.all(
        [one, other].map(({ redis }) => ask(redis, 'FUNCTION', 'LIST', 'LIBRARYNAME', name, 'WITHCODE')),
      );
      expect(theirs).toBe(mine);
    }
  });
});
