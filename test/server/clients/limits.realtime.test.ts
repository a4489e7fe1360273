/** Closed clients: slow readers by their output, idle ones by `timeout`, and those above maxclients. */
import { beforeEach, expect, test } from 'vitest';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { createNode } from '../../../server/index.ts';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { Talk } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { until } from '../../support/until.ts';

freshServerForEachTest();

let talk: Talk;

beforeEach(() => {
  talk = new Talk(server);
});

/** A connection whose client never reads. */
function mute(line: string) {
  const stream = connectInMemory(server.connections);
  const ended = { by: '' };
  stream.on('error', (error) => (ended.by = error.message));
  stream.write(`${line}\r\n`);
  return { stream, ended };
}

test('limits that name one class leave those of the other classes as they are', () => {
  const settings = { 'client-output-buffer-limit': 'pubsub 1 2 3' };
  const { settings: set } = createNode(new TestHost(), { settings });
  expect(set['client-output-buffer-limit']).toBe('normal 0 0 0 slave 268435456 67108864 60 pubsub 1 2 3');
});

test('CONFIG SET client-output-buffer-limit changes the classes it names, and refuses wrong values as Redis does', async () => {
  const set = (text: string): Promise<string> => talk.ask(`CONFIG SET client-output-buffer-limit "${text}"`);
  const why = "-ERR CONFIG SET failed (possibly related to argument 'client-output-buffer-limit') - ";
  expect(await set('normal 1mb 0')).toBe(
    `${why}Wrong number of arguments in buffer limit configuration.\r\n`,
  );
  expect(await set('master 0 0 0')).toBe(
    `${why}Invalid client class specified in buffer limit configuration.\r\n`,
  );
  expect(await set('normal 1mb 1kb -1')).toBe(
    `${why}Error in hard, soft or soft_seconds setting in buffer limit configuration.\r\n`,
  );
  expect(await set('replica 1mb 0 0 normal 5 6 7')).toBe('+OK\r\n');
  expect(await talk.ask('CONFIG GET client-output-buffer-limit')).toContain(
    'normal 5 6 7 slave 1048576 0 0 pubsub 33554432 8388608 60',
  );
});

test('a subscriber that does not read is closed at the hard limit, and other clients are not', async () => {
  await talk.ask('CONFIG SET client-output-buffer-limit "pubsub 100000 0 0"');
  const slow = mute('SUBSCRIBE news');
  const idle = mute('SUBSCRIBE other');
  await until(() => server.pubsub.channels.size === 2, { what: 'the subscriptions' });
  const text = 'x'.repeat(10_000);
  for (let i = 0; i < 11; i++) await talk.ask(`PUBLISH news ${text}`);
  host.advance(0);
  await until(() => slow.ended.by !== '', { what: 'the end of the slow subscriber' });
  expect(slow.ended.by).toBe('read ECONNRESET');
  expect(idle.ended.by).toBe('');
  expect(await talk.ask(`PUBLISH news ${text}`)).toBe(':0\r\n');
});

test('the soft limit closes a client that stays above it for its number of seconds, and not earlier', async () => {
  await talk.ask('CONFIG SET client-output-buffer-limit "normal 0 50000 10"', `SET k ${'x'.repeat(60_000)}`);
  const slow = mute('GET k');
  await until(() => slow.stream.readableLength > 60_000, { what: 'the reply' });
  host.advance(10_000);
  expect(slow.ended.by).toBe('');
  host.advance(1_000);
  host.advance(0);
  await until(() => slow.ended.by !== '', { what: 'the end' });
});

test('a reader that catches up in between is not closed by the soft limit', async () => {
  await talk.ask('CONFIG SET client-output-buffer-limit "normal 0 50000 10"', `SET k ${'x'.repeat(60_000)}`);
  const slow = mute('GET k');
  await until(() => slow.stream.readableLength > 60_000, { what: 'the reply' });
  slow.stream.read();
  host.advance(20_000);
  expect(slow.ended.by).toBe('');
  expect(slow.stream.destroyed).toBe(false);
});

test('timeout closes idle clients, but not subscribers or blocked clients', async () => {
  await talk.ask('CONFIG SET timeout 5');
  const [subscriber, waiting, silent] = [mute('SUBSCRIBE a'), mute('BLPOP l 0'), mute('PING')];
  await until(() => server.blocking.count === 1 && silent.stream.readableLength > 0, { what: 'the replies' });
  host.advance(4_000);
  expect(server.clients.size).toBe(4);
  await talk.ask('PING');
  host.advance(3_000);
  expect(server.clients.size).toBe(3);
  expect([subscriber, waiting].map(({ stream }) => stream.writableEnded)).toEqual([false, false]);
  await talk.ask('CONFIG SET timeout 0');
  host.advance(60_000);
  expect(server.clients.size).toBe(3);
});

test('timeout can be set, removed and set again, and leaves no timer behind', async () => {
  const silent = mute('PING');
  await until(() => silent.stream.readableLength > 0, { what: 'the reply' });
  expect(host.nextAt).toBeUndefined();
  await talk.ask('CONFIG SET timeout 5', 'CONFIG SET timeout 7', 'CONFIG SET timeout 0');
  expect(host.nextAt).toBeUndefined();
  await talk.ask('CONFIG SET timeout 5');
  host.advance(7_000);
  expect(server.clients.size).toBe(0);
});

test('maxmemory-clients does not count replicas, and a percentage is no limit while maxmemory is 0', async () => {
  await talk.ask(`SET k ${'x'.repeat(200_000)}`, 'CONFIG SET maxmemory-clients 50%');
  const [replica, reader] = [mute('PSYNC ? -1'), mute('GET k')];
  await until(() => [replica, reader].every(({ stream }) => stream.readableLength > 200_000), {
    what: 'the snapshot and the reply',
  });
  await talk.ask('PING');
  expect(server.stats.evictedClients).toBe(0);
  await talk.ask('CONFIG SET maxmemory-clients 128kb');
  expect(server.stats.evictedClients).toBe(1);
  host.advance(0);
  await until(() => reader.ended.by !== '', { what: 'the end of the reader' });
  expect(replica.ended.by).toBe('');
});

test('a client above maxclients is refused with an error, and counted', async () => {
  await talk.ask('CONFIG SET maxclients 1');
  const late = new Talk(server);
  expect(await late.hear()).toBe('-ERR max number of clients reached\r\n');
  expect(await talk.ask('INFO stats')).toContain('rejected_connections:1');
});

test('the heartbeat stops when the last replica disconnects', async () => {
  await talk.ask('CONFIG SET repl-backlog-ttl 0');
  const replica = mute('PSYNC ? -1');
  await until(() => server.replication.followers.size === 1, { what: 'the replica' });
  host.advance(3_000);
  expect(host.nextAt).toBeDefined();
  replica.stream.destroy();
  await until(() => server.replication.followers.size === 0, { what: 'its end' });
  host.advance(1_000);
  expect(host.nextAt).toBeUndefined();
});
