/** Access control that no transcript can show: the log, replicas that log in, closed connections, the extent of a check. */
import { beforeEach, expect, test } from 'vitest';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { Talk } from '../../support/talk.ts';
import { until } from '../../support/until.ts';
import { Conversation } from '../../transcripts/own.ts';

freshServerForEachTest();

let a: Conversation;

beforeEach(() => {
  a = new Conversation(server);
});

test('ACL LOG merges a refusal with one of the ten newest, as all servers do', () => {
  a.ask('ACL SETUSER u on >p');
  const b = new Conversation(server);
  b.ask('AUTH u p');
  const others = ['TTL', 'PTTL', 'TYPE', 'STRLEN', 'LLEN', 'SCARD', 'HLEN', 'ZCARD', 'PERSIST', 'DUMP'];
  const countAfter = (between: number): string | undefined => {
    a.ask('ACL LOG RESET');
    for (const command of ['GET', ...others.slice(0, between), 'GET']) b.ask(`${command} k`);
    return /"count" :(\d+)/.exec(a.ask('ACL LOG 1'))?.[1];
  };
  expect([countAfter(9), countAfter(10)]).toEqual(['2', '1']);
});

test('ACL LOG merges equal refusals within a minute, newest first, and says what was refused and where', () => {
  a.ask('ACL SETUSER u on >p +get +multi +eval ~k*');
  const b = new Conversation(server);
  b.ask('AUTH u wrong');
  b.ask('AUTH u p');
  b.ask('DEL k');
  host.advance(1500);
  b.ask('DEL k');
  b.ask('GET x');
  b.ask("EVAL \"return redis.call('get', 'y')\" 0");
  b.ask('MULTI');
  b.ask('DEL k');
  host.advance(500);
  const entries = a.ask('ACL LOG');
  const what = [...entries.matchAll(/"count" :(\d+) "reason" "(\w+)" "context" "(\w+)" "object" "(\w+)"/g)];
  expect(what.map((match) => match.slice(1).join(' '))).toEqual([
    '1 command multi del',
    '1 key lua y',
    '1 key toplevel x',
    '2 command toplevel del',
    '1 auth toplevel AUTH',
  ]);
  expect(entries).toContain('"username" "u" "age-seconds" "0.5" "client-info" "id=2 ');
  expect(a.ask('ACL LOG 1')).toContain('multi');
  host.advance(61_000);
  b.ask('DEL k');
  expect(a.ask('ACL LOG').match(/"object" "del"/g)).toHaveLength(3);
  a.ask('CONFIG SET acllog-max-len 1');
  b.ask('DISCARD');
  expect(a.ask('ACL LOG').match(/"count"/g)).toHaveLength(1);
  expect(a.ask('ACL LOG RESET')).toBe('+OK');
  expect(a.ask('ACL LOG')).toBe('[]');
});

test('a subscriber that logged in as a user without channels stays connected until that user loses a channel', () => {
  a.ask('ACL SETUSER u on nopass +@all resetchannels');
  const listener = new Conversation(server);
  listener.ask('HELLO 3');
  listener.ask('SUBSCRIBE news');
  listener.ask('AUTH u x');
  a.ask('ACL SETUSER u on');
  a.ask('ACL SETUSER u &sports');
  expect(server.clients.size).toBe(2);
  a.ask('ACL SETUSER u on');
  expect(server.clients.size).toBe(1);
});

test('a subscriber is closed when its channels are no longer allowed, and a client when its user is deleted', () => {
  a.ask('ACL SETUSER u on nopass +@all allchannels');
  const [listener, other] = [new Conversation(server), new Conversation(server)];
  for (const each of [listener, other]) each.ask('AUTH u x');
  listener.ask('SUBSCRIBE news');
  expect(server.clients.size).toBe(3);
  a.ask('ACL SETUSER u resetchannels &weather');
  expect(server.clients.size).toBe(2);
  other.ask('ACL DELUSER u');
  expect([...server.clients.values()].filter(({ closing }) => !closing)).toHaveLength(1);
});

test('permissions are checked only for users with restrictions', () => {
  const state = (): number => [...server.clients.values()].at(-1)!.state;
  expect(state()).toBe(0);
  a.ask('ACL SETUSER default -debug');
  expect(state()).not.toBe(0);
  expect(a.ask('DEBUG SLEEP 0')).toBe("-NOPERM this user has no permissions to run the 'debug' command");
  expect(a.ask('SET k v')).toBe('+OK');
  a.ask('ACL SETUSER default +@all');
  expect(state()).toBe(0);
});

test('CLIENT KILL USER selects by user, and CLIENT LIST shows users', () => {
  a.ask('ACL SETUSER u on nopass +@all');
  const b = new Conversation(server);
  b.ask('HELLO 3 AUTH u x SETNAME me');
  expect(b.ask('CLIENT INFO')).toContain(' user=u ');
  expect(a.ask('CLIENT KILL USER nosuch')).toBe("-ERR No such user 'nosuch'");
  expect(a.ask('CLIENT KILL USER u')).toBe(':1');
  expect(server.clients.size).toBe(1);
});

test('generated passwords differ with the seed of the host, and have the requested length', () => {
  expect(a.ask('ACL GENPASS')).toMatch(/^"[0-9a-f]{64}"$/);
  expect(a.ask('ACL GENPASS 5')).toMatch(/^"[0-9a-f]{2}"$/);
  expect(a.ask('ACL GENPASS')).not.toBe(a.ask('ACL GENPASS'));
});

test.each(['ACL DELUSER u', 'CLIENT KILL USER u SKIPME no'])(
  'a transaction that kills its own client by %s runs to its end, and its reply stops there',
  async (ending) => {
    a.ask('ACL SETUSER u on nopass +@all ~*');
    const talk = new Talk(server);
    await talk.ask('AUTH u x');
    for (const line of ['MULTI', 'SET k 1', ending, 'SET k 2']) await talk.ask(line);
    expect(await talk.ask('EXEC')).toBe('*3\r\n+OK\r\n:1\r\n');
    await until(() => server.clients.size === 1);
    expect(a.ask('GET k')).toBe('"2"');
  },
);
