/** The execution unit: when a batch of requests reads the clock. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { encodeRequest } from '../../protocol/encode.ts';
import type { Connection } from '../../server/host/host.ts';
import { freshServerForEachTest, host, server } from '../support/fresh.ts';

freshServerForEachTest();

/** Sends requests as one chunk of bytes, and returns the replies. */
function batch(...lines: string[]): string {
  let replies = '';
  const connection: Connection = {
    remote: '127.0.0.1:1',
    local: '127.0.0.1:2',
    pending: 0,
    send: (bytes) => {
      replies += bytes;
    },
    close: () => {},
    abort: () => {},
    pause: () => {},
    resume: () => {},
  };
  const bytes = lines.map((line) => encodeRequest(line.split(' '))).join('');
  server.connections.accept(connection)?.receive(Buffer.from(bytes, 'latin1'));
  return replies;
}

/** How often a batch reads the clock. */
function clockReads(...lines: string[]): number {
  const now = vi.spyOn(host.clock, 'now');
  batch(...lines);
  const reads = now.mock.calls.length;
  now.mockRestore();
  return reads;
}

test('a batch of quick commands reads the clock once, however long it is', () => {
  batch('SET a 1', 'HSET h f v', 'INCR a', 'ECHO a', 'KEYS *'); // The first call of each command is timed.
  const one = clockReads('GET a', 'GET a');
  expect(one - clockReads()).toBe(1); // A new client reads it too.
  expect(clockReads('SET a 1', 'GET a', 'HSET h f v', 'INCR a', 'GET a')).toBe(one);
  // The last reading comes after KEYS, which may have been slow.
  expect(clockReads('SET a 1', 'KEYS *', 'GET a', 'KEYS *', 'KEYS *')).toBe(one + 3);
  // Only commands on data count as quick.
  expect(clockReads('SET a 1', 'ECHO a', 'GET a')).toBe(one + 1);
});

test('the clock is read again after a script, unless it took few steps and ran quick commands only', () => {
  const evalsha = (text: string): string => `EVALSHA ${server.scripts.load(text).sha1} 1 a`;
  const brief = evalsha("return redis.call('SET', KEYS[1], 1)");
  const loop = evalsha('for i = 1, 1000 do end');
  const slow = evalsha("return redis.call('KEYS', '*')");
  const failing = evalsha("return redis.call('INCR', KEYS[1], 1)");
  // A function that keeps state runs in another form, which counts no steps.
  server.functions.load(
    "#!lua name=l\nlocal n = 0 redis.register_function('f', function() n = n + 1 end)",
    false,
  );
  const stateful = 'FCALL f 0';
  batch('GET a', brief, loop, slow, failing, stateful, 'MULTI', 'EXEC'); // The first call of each command is timed.
  const one = clockReads('GET a', 'GET a');
  expect(clockReads(brief, 'GET a', brief, brief, 'GET a')).toBe(one);
  for (const long of [loop, slow, failing, stateful])
    expect(clockReads(brief, long, 'GET a', brief)).toBe(one + 1);
  expect(clockReads(brief, 'KEYS *', 'GET a')).toBe(one + 1);
  batch('EVAL return 0');
  expect(clockReads('EVAL return 0', 'GET a')).toBe(one + 1);
  // MULTI, the queued commands and EXEC are no quick commands, whatever they run.
  const empty = clockReads('MULTI', 'KEYS *', 'EXEC', 'GET a');
  expect(clockReads('MULTI', brief, 'EXEC', 'GET a')).toBe(empty);
});

test('a script that must be run in its other form, and returns nil, is answered at once', () => {
  const { sha1 } = server.scripts.load('coroutine.wrap(function() coroutine.yield(1) end)()');
  server.functions.load(
    "#!lua name=l\nlocal n = 0 redis.register_function('f', function() n = n + 1 end)",
    false,
  );
  expect(batch(`EVALSHA ${sha1} 0`, 'FCALL f 0', 'PING')).toBe('$-1\r\n$-1\r\n+PONG\r\n');
});

test('the clock is read again after a command that can take long, and in the next batch', () => {
  const debug = server.commands.get('debug')!;
  const sleep = (): null => {
    host.advance(50);
    return null;
  };
  const sleeping = { ...debug, run: sleep, subcommands: undefined };
  const spy = vi
    .spyOn(server.commands, 'get')
    .mockImplementation((name) =>
      name === 'DEBUG' ? sleeping : Map.prototype.get.call(server.commands, name),
    );
  // All nodes of a dialect share the table, also those of other files.
  onTestFinished(() => spy.mockRestore());
  expect(batch('SET a 1 PX 50', 'GET a', 'DEBUG SLEEP', 'GET a', 'PTTL a')).toBe(
    '+OK\r\n$1\r\n1\r\n$-1\r\n$1\r\n1\r\n:0\r\n',
  );
  host.advance(1);
  expect(batch('GET a')).toBe('$-1\r\n');
});

test('the clock is read again after each request that an interceptor sees: it may have taken any time', () => {
  server.interceptor = () => {
    host.advance(30);
    return false;
  };
  expect(batch('SET a 1 PX 50', 'GET a', 'GET a')).toBe('+OK\r\n$1\r\n1\r\n$-1\r\n');
});
