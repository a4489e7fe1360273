/** What transactions do beyond the transcript of redis-server 7.0 (test/transcripts/transactions.txt). */
import { beforeEach, expect, test } from 'vitest';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { recordEffects, Talk } from '../../support/talk.ts';

freshServerForEachTest();

let talk: Talk;

beforeEach(() => {
  talk = new Talk(server);
});

test("a push caused inside a RESP3 transaction follows EXEC's reply; 7.0 would write it into the reply's array", async () => {
  await talk.ask('HELLO 3');
  await talk.ask('SUBSCRIBE a');
  const replies = await talk.ask('MULTI', 'PUBLISH a 1', 'SET k v', 'PUBLISH a 2', 'EXEC');
  const message = (text: string): string => `>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\n${text}\r\n`;
  expect(replies).toBe(
    `+OK\r\n${'+QUEUED\r\n'.repeat(3)}*3\r\n:1\r\n+OK\r\n:1\r\n${message('1')}${message('2')}`,
  );
});

test('a client with CLIENT REPLY OFF gets no reply to EXEC, but still gets its messages', async () => {
  talk.send('SUBSCRIBE a', 'HELLO 3', 'RESET', 'HELLO 3', 'SUBSCRIBE a', 'CLIENT REPLY OFF');
  await talk.hear((bytes) => bytes.includes('subscribe'));
  const heard = await talk.ask('MULTI', 'SET k v', 'PUBLISH a x', 'EXEC', 'PING');
  expect(heard).toBe('>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n');
});

test('several effects of a transaction are replicated inside MULTI and EXEC, and a single one alone', async () => {
  const effects = recordEffects(server);
  await talk.ask('MULTI', 'SET a 1', 'GET a', 'HSET h f v', 'EXEC');
  await talk.ask('MULTI', 'SET b 1', 'GET a', 'EXEC');
  await talk.ask('MULTI', 'GET a', 'EXEC');
  await talk.ask('WATCH a', 'SET a 2', 'MULTI', 'SET a 3', 'EXEC');
  expect(effects).toEqual(['MULTI', 'SET a 1', 'HSET h f v', 'EXEC', 'SET b 1', 'SET a 2']);
});

test('time stands still from the first to the last command of a transaction', async () => {
  const ticking = host.clock.now();
  let ticks = 0;
  host.clock.now = () => ticking + 60 * ticks++;
  await talk.ask('SET k v PX 100');
  const replies = await talk.ask('MULTI', 'SET k 1 PX 1', 'GET k', 'GET k', 'GET k', 'EXEC');
  expect(replies).toContain('*4\r\n+OK\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n');
});

test('a watched key that expires on a replica fails the transaction, unless it had already expired at WATCH', async () => {
  server.world.expiryPolicy = 'hide';
  await talk.ask('SET k v PX 100');
  await talk.ask('WATCH k');
  host.advance(200);
  expect(await talk.ask('MULTI', 'PING', 'EXEC')).toMatch(/\*-1\r\n$/);
  await talk.ask('WATCH k');
  expect(await talk.ask('MULTI', 'PING', 'EXEC')).toMatch(/\*1\r\n\+PONG\r\n$/);
  await talk.ask('WATCH k');
  server.unit(() => {
    server.world.expiryPolicy = 'delete';
    server.expiry.expireDue();
  });
  expect(await talk.ask('MULTI', 'PING', 'EXEC')).toMatch(/\*1\r\n\+PONG\r\n$/);
});

test('the watched keys of a connection are forgotten when it closes', async () => {
  await talk.ask('WATCH k j');
  expect(server.db(0).watchers.size).toBe(2);
  talk.hangUp();
  const other = new Talk(server);
  await other.ask('PING');
  expect(server.db(0).watchers.size).toBe(0);
});

test('EXEC is refused because of its commands: writes without memory, or an error while queuing', async () => {
  await talk.ask('MULTI', 'SET k v');
  server.settings.maxmemory = 1;
  server.applySettings();
  expect(await talk.ask('EXEC')).toBe(
    "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.\r\n",
  );
  expect(await talk.ask('MULTI')).toBe('+OK\r\n');
  expect(await talk.ask('GET k')).toMatch(/^-OOM/);
  expect(await talk.ask('EXEC')).toBe('-EXECABORT Transaction discarded because of previous errors.\r\n');
  expect(await talk.ask('GET k')).toBe('$-1\r\n');
});
