/** DEBUG, as test suites use it. */
import { beforeEach, expect, test } from 'vitest';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { Talk } from '../../support/talk.ts';
import { until } from '../../support/until.ts';

freshServerForEachTest();

let talk: Talk;

beforeEach(() => {
  talk = new Talk(server);
});

test('DEBUG SLEEP delays all clients on the clock of the host', async () => {
  const other = new Talk(server);
  await other.ask('SET k v');
  expect(await talk.ask('DEBUG SLEEP 0')).toBe('+OK\r\n');
  talk.send('DEBUG SLEEP 1.5', 'GET k');
  await new Promise((resolve) => setImmediate(resolve));
  other.send('GET k');
  await new Promise((resolve) => setImmediate(resolve));
  host.advance(1499);
  expect(talk.heard + other.heard).toBe('');
  host.advance(1);
  expect(await other.hear()).toBe('$1\r\nv\r\n');
  expect(await talk.hear()).toBe('+OK\r\n$1\r\nv\r\n');
});

test('DEBUG SET-ACTIVE-EXPIRE 0 leaves keys until they are touched', async () => {
  expect(await talk.ask('DEBUG SET-ACTIVE-EXPIRE 0')).toBe('+OK\r\n');
  await talk.ask('SET k v PX 10');
  host.advance(1000);
  expect(server.db(0).size).toBe(1);
  expect(await talk.ask('GET k')).toBe('$-1\r\n');
  await talk.ask('SET k v PX 10', 'DEBUG SET-ACTIVE-EXPIRE 1');
  host.advance(1000);
  expect(server.db(0).size).toBe(0);
});

test('DEBUG OBJECT and ERROR answer, and other subcommands are refused with the error of 7.0', async () => {
  await talk.ask('RPUSH l a');
  expect(await talk.ask('DEBUG OBJECT l')).toMatch(
    /^\+Value at:\S+ refcount:1 encoding:quicklist serializedlength:\d+ lru:/,
  );
  expect(await talk.ask('DEBUG OBJECT none')).toBe('-ERR no such key\r\n');
  expect(await talk.ask('DEBUG ERROR "MYERR x"')).toBe('-MYERR x\r\n');
  expect(await talk.ask('DEBUG JMAP')).toBe(
    "-ERR unknown subcommand or wrong number of arguments for 'JMAP'. Try DEBUG HELP.\r\n",
  );
});

test('DEBUG OBJECT reports a value as redis-server 7.0 does: serialized length, idle time, reference count', async () => {
  await talk.ask('SET s 1', 'RPUSH l 1 2 3', 'HSET h a 1', 'ZADD z 1 a', 'SADD t a b', 'SET text hello');
  host.advance(3500);
  const told = async (key: string) => {
    const answer = await talk.ask(`DEBUG OBJECT ${key}`);
    return /refcount:(\d+) encoding:(\w+) serializedlength:(\d+) .*lru_seconds_idle:(\d+)/
      .exec(answer)
      ?.slice(1);
  };
  expect(await told('s')).toEqual(['2147483647', 'int', '2', '3']);
  expect(await told('l')).toEqual(['1', 'quicklist', '16', '3']);
  expect(await told('h')).toEqual(['1', 'listpack', '13', '3']);
  expect(await told('z')).toEqual(['1', 'listpack', '13', '3']);
  expect(await told('t')).toEqual(['1', 'hashtable', '5', '3']);
  await talk.ask('GET text');
  expect((await told('text'))?.at(-1)).toBe('0');
  expect(await talk.ask('DEBUG QUICKLIST l')).toBe('+Quicklist structure printed on stdout\r\n');
  expect(await talk.ask('DEBUG QUICKLIST s')).toBe('-ERR Not a quicklist encoded object.\r\n');
});

test('DEBUG SLEEP in a transaction keeps it open, and every other client waits', async () => {
  const other = new Talk(server);
  await other.ask('CONFIG SET slowlog-log-slower-than 100000');
  await talk.ask('SET k v PX 100', 'DEBUG SET-ACTIVE-EXPIRE 0');
  talk.send('MULTI', 'SET l v', 'DEBUG SLEEP 0.2', 'GET k', 'EXEC');
  await until(() => talk.heard.includes('QUEUED'), { what: 'the transaction' });
  other.send('EXISTS k l');
  await new Promise((resolve) => setImmediate(resolve));
  expect(other.heard).toBe('');
  host.advance(200);
  // Time stands still in the transaction, and has passed after it.
  expect(await talk.hear((bytes) => bytes.includes('*3'))).toContain('*3\r\n+OK\r\n+OK\r\n$1\r\nv\r\n');
  expect(await other.hear()).toBe(':1\r\n');
  expect(await talk.ask('SLOWLOG LEN')).toBe(':1\r\n');
  expect(await talk.ask('SLOWLOG GET 1')).toContain('$5\r\nDEBUG\r\n$5\r\nSLEEP\r\n$3\r\n0.2');
});

test('a client that waits for a list is not served one that expires while the transaction sleeps', async () => {
  const other = new Talk(server);
  other.send('BRPOP list 0');
  await until(() => server.blocking.count === 1, { what: 'the blocked client' });
  talk.send('MULTI', 'RPUSH list v', 'PEXPIRE list 100', 'DEBUG SLEEP 0.2', 'EXEC');
  await until(() => talk.heard.includes('QUEUED'), { what: 'the transaction' });
  host.advance(200);
  await talk.hear((bytes) => bytes.includes('*3'));
  expect(server.blocking.count).toBe(1);
  expect(await talk.ask('EXISTS list')).toBe(':0\r\n');
});

test('DEBUG RELOAD NOFLUSH is refused when a library exists already', async () => {
  await talk.ask(`FUNCTION LOAD "#!lua name=lib\\nredis.register_function('f', function() end)"`);
  expect(await talk.ask('FUNCTION LIST')).toContain('lib');
  expect(await talk.ask('DEBUG RELOAD NOFLUSH')).toBe('-ERR Error trying to load the RDB dump\r\n');
});

test.each(['x', '-1', '1 p x', '1 p -1', '1 p 99999999999999999999'])(
  'DEBUG POPULATE %s is refused as all servers refuse it',
  async (words) => {
    expect(await talk.ask(`DEBUG POPULATE ${words}`)).toBe(
      '-ERR value is out of range, must be positive\r\n',
    );
    expect(await talk.ask('DBSIZE')).toBe(':0\r\n');
  },
);
