/** The lost locks that were measured on redis-server, measured again: a pair of either kind behaves alike, step by step. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { cleanUpAfterEachTest, HeldLink, type Kind, Node, start } from '../support/nodes.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

cleanUpAfterEachTest();

const KINDS: Kind[] = ['lostlock', 'redis'];
const LOCK = ['SET', 'my:lock', 'A', 'PX', '30000', 'NX'];
const READONLY = "READONLY You can't write against a read only replica.";

/** A primary and a replica that follows it over a link that can be held. */
async function pairOf(kind: Kind) {
  const [primary, replica] = [await start(kind), await start(kind)];
  const link = await new HeldLink(primary.port).listen();
  await replica.follow(link);
  await until(async () => (await primary.field('slave0'))?.includes('state=online'), { what: 'the replica' });
  await primary.ask('SET', 'before', '1');
  await replica.caughtUp(primary);
  return { primary, replica, link };
}

/** Asks on a connection on which nothing was asked before: clients introduce themselves, which counts. */
async function askFresh(port: number, line: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${line}\r\n`);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return reply.toString();
}

async function promote(node: Node): Promise<void> {
  expect(await node.ask('REPLICAOF', 'NO', 'ONE')).toBe('OK');
}

describe.skipIf(!hasRedisServer).each(KINDS)('on %s (needs redis-server)', (kind) => {
  test('S30 and S31: WAIT answers 0 and undoes nothing; the primary dies, and a second holder gets the lock', async () => {
    const { primary, replica, link } = await pairOf(kind);
    link.commands.hold();
    expect(await primary.ask(...LOCK)).toBe('OK');
    expect(await primary.ask('WAIT', '1', '100')).toBe(0);
    expect(await primary.ask('GET', 'my:lock')).toBe('A');
    await primary.stop();
    link.reset();
    await promote(replica);
    expect(await replica.ask('SET', 'my:lock', 'B', 'PX', '30000', 'NX')).toBe('OK');
    expect(await replica.ask('GET', 'before')).toBe('1');
  });

  test('S32 and S38: of two replicas, the one that WAIT did not count is promoted, and the other loses the write', async () => {
    const { primary, replica, link } = await pairOf(kind);
    const second = await start(kind);
    await second.follow(primary);
    await until(async () => (await primary.ask('WAIT', '2', '100')) === 2, { what: 'both replicas' });
    link.commands.hold();
    expect(await primary.ask(...LOCK)).toBe('OK');
    expect(await primary.ask('WAIT', '1', '0')).toBe(1);
    expect(await second.ask('GET', 'my:lock')).toBe('A');
    await primary.stop();
    link.reset();
    await promote(replica);
    await second.follow(replica);
    await second.caughtUp(replica);
    expect(await second.ask('EXISTS', 'my:lock')).toBe(0);
    expect(await replica.fields(['sync_full', 'sync_partial_ok'], 'stats')).toEqual({
      sync_full: '1',
      sync_partial_ok: '0',
    });
  });

  test('S34, S35 and S36: which writes WAIT waits for', async () => {
    const { primary, link } = await pairOf(kind);
    link.commands.hold();
    expect(await primary.ask(...LOCK)).toBe('OK');
    expect(await askFresh(primary.port, 'WAIT 1 0')).toBe(':1\r\n');
    expect(await primary.redis.multi().set('x', '1').call('WAIT', '1', '1000').exec()).toEqual([
      [null, 'OK'],
      [null, 0],
    ]);
    expect(await primary.ask('EVAL', "return redis.call('WAIT', 1, 0)", '0')).toMatch(
      /^ERR This Redis command is not allowed from script/,
    );
    const other = new Node(primary.port);
    expect(await other.ask(...LOCK)).toBe(null);
    expect(await other.ask('WAIT', '1', '100')).toBe(0);
  });

  test('S39: acknowledgements are held, but commands are not', async () => {
    const { primary, replica, link } = await pairOf(kind);
    link.acks.hold();
    expect(await primary.ask(...LOCK)).toBe('OK');
    expect(await primary.ask('WAIT', '1', '100')).toBe(0);
    await until(async () => (await replica.ask('GET', 'my:lock')) === 'A');
    link.acks.release();
    expect(await primary.ask('WAIT', '1', '0')).toBe(1);
  });

  test('S40: a demotion cuts WAIT short, and a replica refuses it', async () => {
    const { primary, replica, link } = await pairOf(kind);
    link.commands.hold();
    const waiter = new Node(primary.port);
    await waiter.ask(...LOCK);
    const waiting = waiter.ask('WAIT', '1', '0');
    await until(async () => (await primary.field('blocked_clients', 'clients')) === '1');
    await promote(replica);
    await primary.ask('REPLICAOF', '127.0.0.1', String(replica.port));
    expect(await waiting).toBe(
      'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
    );
    expect(await primary.ask('WAIT', '1', '0')).toMatch(/^ERR WAIT cannot be used with replica instances/);
  });

  test('S41 and S44: the old primary keeps running and rejoins with a higher offset: one full resync discards its writes', async () => {
    const { primary, replica, link } = await pairOf(kind);
    link.commands.hold();
    link.acks.hold();
    expect(await primary.ask(...LOCK)).toBe('OK');
    await promote(replica);
    expect(await replica.ask('SET', 'my:lock', 'B', 'NX')).toBe('OK');
    expect(await primary.ask('SET', 'late', '1')).toBe('OK');
    await primary.follow(replica);
    await primary.caughtUp(replica);
    expect([await primary.ask('GET', 'my:lock'), await primary.ask('EXISTS', 'late')]).toEqual(['B', 0]);
    expect(await replica.fields(['sync_full', 'sync_partial_ok', 'sync_partial_err'], 'stats')).toEqual({
      sync_full: '1',
      sync_partial_ok: '0',
      sync_partial_err: '1',
    });
  });

  test('S42: without good replicas writes are refused, also in scripts; reads and messages are not', async () => {
    const { primary, link } = await pairOf(kind);
    await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
    await primary.ask('CONFIG', 'SET', 'min-replicas-max-lag', '1');
    expect(await primary.ask('SET', 'k', '1')).toBe('OK');
    link.acks.hold();
    const refusal = 'NOREPLICAS Not enough good replicas to write.';
    await until(async () => (await primary.ask('SET', 'k', '1')) === refusal, { what: 'a refusal' });
    expect(await primary.ask('EVAL', "return redis.call('SET', 'k', '1')", '0')).toMatch(
      /^NOREPLICAS Not enough good replicas to write\. script: [0-9a-f]{40}, on @user_script:1\.$/,
    );
    expect([await primary.ask('GET', 'k'), await primary.ask('PUBLISH', 'c', 'm')]).toEqual(['1', 0]);
  });

  test('S48: a replica hides an expired key, but counts it', async () => {
    const { primary, replica, link } = await pairOf(kind);
    await primary.ask('SET', 'my:lock', 'A', 'PX', '400');
    await replica.caughtUp(primary);
    link.commands.hold();
    await until(async () => (await replica.ask('EXISTS', 'my:lock')) === 0);
    const asked = await Promise.all(
      [['GET'], ['PTTL'], ['TTL'], ['TYPE']].map(([name = '']) => replica.ask(name, 'my:lock')),
    );
    expect(asked).toEqual([null, -2, -2, 'none']);
    expect(await replica.ask('KEYS', '*')).toEqual(['before']);
    expect(await replica.ask('SCAN', '0')).toEqual(['0', ['before']]);
    expect(await replica.ask('DBSIZE')).toBe(2);
    link.commands.release();
    await until(async () => (await replica.ask('DBSIZE')) === 1, { what: 'the DEL' });
  });

  test('S50, S52 and S53: the other node refuses writes and does not know the scripts', async () => {
    const { primary, replica } = await pairOf(kind);
    const script = "return redis.call('DEL', KEYS[1])";
    const sha = String(await primary.ask('SCRIPT', 'LOAD', script));
    await primary.ask(...LOCK);
    await replica.caughtUp(primary);
    expect(await replica.ask(...LOCK)).toBe(READONLY);
    expect(await replica.ask('EVAL', `${script}--`, '1', 'my:lock')).toMatch(
      /^READONLY You can't write against a read only replica\. script: [0-9a-f]{40}, on @user_script:1\.$/,
    );
    await promote(replica);
    expect(await replica.ask('EVALSHA', sha, '1', 'my:lock')).toBe(
      'NOSCRIPT No matching script. Please use EVAL.',
    );
    expect(await replica.ask('EVAL', script, '1', 'my:lock')).toBe(1);
  });
});

/** Every type, small and large, with a stream whose group has read some. */
const DATA: string[][] = [
  ['SET', 'string', 'v', 'PX', '100000'],
  ['SET', 'int', '12345'],
  ['APPEND', 'raw', 'x'.repeat(5000)],
  ['SETBIT', 'bits', '100001', '1'],
  ['HSET', 'hash', 'f', '1', 'g', 'x'.repeat(100)],
  ['HSET', 'small-hash', 'f', '1'],
  ['RPUSH', 'list', ...Array.from({ length: 600 }, (_, i) => `element ${i}`)],
  ['SADD', 'ints', '1', '2', '300000'],
  ['SADD', 'set', 'a', 'b', 'x'.repeat(100)],
  ['ZADD', 'zset', '1', 'a', '-inf', 'b', '2.5', 'c'],
  ['ZADD', 'big-zset', ...Array.from({ length: 300 }, (_, i) => [String(i / 3), `m${i}`]).flat()],
  ['PFADD', 'hll', ...Array.from({ length: 50 }, (_, i) => `e${i}`)],
  ['XADD', 'stream', '1-1', 'f', 'v'],
  ['XADD', 'stream', '2-1', 'f', 'v', 'g', 'w'],
  ['XADD', 'stream', '3-1', 'f', 'v'],
  ['XDEL', 'stream', '2-1'],
  ['XGROUP', 'CREATE', 'stream', 'workers', '0'],
  ['XREADGROUP', 'GROUP', 'workers', 'w1', 'COUNT', '1', 'STREAMS', 'stream', '>'],
  ['XGROUP', 'CREATECONSUMER', 'stream', 'workers', 'idle'],
];

const READS: string[][] = [
  ...['string', 'int', 'raw', 'bits'].map((key) => ['GET', key]),
  ['PEXPIRETIME', 'string'],
  ['HGET', 'hash', 'g'],
  ['HGETALL', 'small-hash'],
  ['LRANGE', 'list', '0', '-1'],
  ['SMEMBERS', 'ints'],
  ['SMISMEMBER', 'set', 'a', 'b', 'x'.repeat(100), 'c'],
  ['ZRANGE', 'zset', '0', '-1', 'WITHSCORES'],
  ['ZRANGE', 'big-zset', '0', '-1', 'WITHSCORES'],
  ['PFCOUNT', 'hll'],
  ['XRANGE', 'stream', '-', '+'],
  ['XINFO', 'STREAM', 'stream'],
  ['XPENDING', 'stream', 'workers'],
  ['DBSIZE'],
];

test.skipIf(!hasRedisServer).each([
  ['redis', 'lostlock'],
  ['lostlock', 'redis'],
] as [Kind, Kind][])(
  '%s has every type of %s, by full resync and by the stream (needs redis-server)',
  async (follower, leader) => {
    const [primary, early, late] = [await start(leader), await start(follower), await start(follower)];
    await early.follow(primary);
    for (const words of DATA)
      expect(String(await primary.ask(...words)), words[0]).not.toMatch(/^(ERR|WRONGTYPE)/);
    await late.follow(primary);
    await primary.ask('XREADGROUP', 'GROUP', 'workers', 'w2', 'COUNT', '1', 'STREAMS', 'stream', '>');
    await primary.ask('XACK', 'stream', 'workers', '1-1');
    for (const replica of [early, late]) {
      await replica.caughtUp(primary);
      for (const words of READS) {
        expect(await replica.ask(...words), words.join(' ')).toEqual(await primary.ask(...words));
      }
    }
  },
);
