/** Replication over TCP: lostlock follows lostlock, a real redis-server follows lostlock, and lostlock follows it. */
import { describe, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { cleanUpAfterEachTest, type Node, ours, real } from '../../support/nodes.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { Talk } from '../../support/talk.ts';
import { until } from '../../support/until.ts';
import { Conversation } from '../../transcripts/own.ts';

cleanUpAfterEachTest();

/** Writes on the primary, waits for it on the replica, and compares what both answer. */
async function agree(primary: Node, replica: Node): Promise<void> {
  await primary.redis.set('string', 'value', 'PX', 1_000_000);
  await primary.redis.hset('hash', 'field', 'value');
  await primary.redis.multi().select(3).set('other', '1').incr('other').exec();
  await primary.redis.select(0);
  await until(async () => (await primary.redis.wait(1, 1000)) === 1, { what: 'the acknowledgement' });
  expect(await replica.redis.get('string')).toBe('value');
  expect(await replica.redis.pttl('string')).toBeGreaterThan(900_000);
  expect(await replica.redis.hgetall('hash')).toEqual({ field: 'value' });
  const offsets = await Promise.all([primary, replica].map((node) => node.field('master_repl_offset')));
  const ids = await Promise.all([primary, replica].map((node) => node.field('master_replid')));
  expect(offsets[0]).toBe(offsets[1]);
  expect(ids[0]).toBe(ids[1]);
}

const oracle = describe.skipIf(!hasRedisServer); // Needs redis-server, which is not installed here otherwise.

test('a lostlock replica copies the dataset and follows the stream', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await primary.redis.set('before', '1');
  await replica.follow(primary);
  expect(await replica.redis.get('before')).toBe('1');
  await agree(primary, replica);
  await expect(replica.redis.set('x', '1')).rejects.toThrow(
    /^READONLY You can't write against a read only replica/,
  );
  expect(((await replica.redis.call('ROLE')) as unknown[]).slice(0, 4)).toEqual([
    'slave',
    '127.0.0.1',
    primary.port,
    'connected',
  ]);
});

test('a promoted replica continues the history, so that the old primary resumes partially', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await replica.follow(primary);
  await agree(primary, replica);
  const old = await primary.field('master_replid');
  await replica.redis.call('REPLICAOF', 'NO', 'ONE');
  expect(await replica.field('master_replid2')).toBe(old);
  await primary.follow(replica);
  expect(replica.server.replication.counters).toMatchObject({ partial: 1, full: 0 });
});

test('an old primary that accepted more writes gets a full resync, and its extra writes are gone', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await replica.follow(primary);
  await agree(primary, replica);
  await replica.redis.call('REPLICAOF', 'NO', 'ONE');
  await primary.redis.set('late', '1');
  await primary.follow(replica);
  expect(await primary.redis.get('late')).toBeNull();
  expect(replica.server.replication.counters).toMatchObject({ refused: 1, full: 1 });
});

test('an expired key is hidden on the replica, and removed when the primary deletes it', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await replica.follow(primary);
  await primary.redis.set('short', '1', 'PX', 30);
  await until(async () => (await replica.redis.dbsize()) === 0 && (await primary.redis.dbsize()) === 0);
  expect(await replica.redis.exists('short')).toBe(0);
});

test('WAIT answers at once when there is no replica to wait for, and is refused on a replica', async () => {
  const [primary, replica] = [await ours(), await ours()];
  expect(await primary.redis.wait(0, 0)).toBe(0);
  await replica.follow(primary);
  await expect(replica.redis.wait(1, 10)).rejects.toThrow('WAIT cannot be used with replica instances');
  await expect(primary.redis.wait(1, -1)).rejects.toThrow('timeout is negative');
  await expect(primary.redis.call('WAITAOF', '1', '0', '10')).rejects.toThrow('appendonly is disabled');
});

test('RESTORE and RESTORE-ASKING load what DUMP returns', async () => {
  const { redis } = await ours();
  await redis.hset('h', { a: '1', b: '2' });
  const payload = await redis.dumpBuffer('h');
  await redis.restore('copy', 0, payload as Buffer);
  expect(await redis.hgetall('copy')).toEqual({ a: '1', b: '2' });
  await expect(redis.restore('copy', 0, payload as Buffer)).rejects.toThrow('BUSYKEY');
  await expect(redis.restore('bad', 0, 'nonsense')).rejects.toThrow(
    'DUMP payload version or checksum are wrong',
  );
  await expect(redis.call('RESTORE-ASKING', 'again', '0', payload as Buffer, 'REPLACE')).resolves.toBe('OK');
});

test('REPLCONF, PSYNC, SYNC and SLAVEOF follow the handshake of replicas', async () => {
  const { redis } = await ours();
  expect(await redis.call('REPLCONF', 'listening-port', '1', 'capa', 'eof')).toBe('OK');
  await expect(redis.call('REPLCONF', 'nonsense', '1')).rejects.toThrow(
    'Unrecognized REPLCONF option: nonsense',
  );
  await expect(redis.call('SLAVEOF', 'host', 'port')).rejects.toThrow('Invalid master port');
  await expect(redis.call('PSYNC', '?', 'x')).rejects.toThrow('not an integer');
});

test('REPLCONF rdb-filter-only chooses the parts of the dataset, with the errors of redis-server (recorded)', async () => {
  await using server = await startServer({ seed: { somekey: 'v' } });
  const { node } = server;
  const redis = new Conversation(node);
  redis.ask('FUNCTION LOAD "#!lua name=lib\\nredis.register_function(\'f\', function() end)"');
  expect(redis.ask('REPLCONF rdb-filter-only x')).toBe('-ERR Unsupported rdb-filter-only option: x');
  expect(redis.ask("REPLCONF rdb-filter-only 'x \"'")).toBe('-ERR Missing rdb-filter-only values');
  expect(redis.ask('REPLCONF rdb-only x')).toBe('-ERR value is not an integer or out of range');
  expect(redis.ask('REPLCONF rdb-only 2')).toBe('-ERR value is out of range, value must between 0 and 1');
  expect(redis.ask('REPLCONF rdb-only 1')).toBe('+OK');
  const parts = async (filter: string): Promise<string[]> => {
    const talk = new Talk(node);
    if (filter !== '-') await talk.ask(`REPLCONF capa eof rdb-filter-only "${filter}"`);
    const rdb = await talk.ask('SYNC');
    return ['somekey', 'register_function'].filter((part) => rdb.includes(part));
  };
  expect(await parts('-')).toEqual(['somekey', 'register_function']);
  expect(await parts('FUNCTIONS')).toEqual(['register_function']);
  expect(await parts('')).toEqual([]);
});

oracle('with redis-server', () => {
  test('it follows lostlock, and resumes partially after its link was cut', async () => {
    const [primary, replica] = [await ours(), await real()];
    await primary.redis.set('before', '1');
    await replica.follow(primary);
    expect(await replica.redis.get('before')).toBe('1');
    await agree(primary, replica);
    for (const { client } of primary.server.replication.online()) client.abort();
    await primary.redis.set('while away', '1');
    await until(async () => (await replica.redis.get('while away')) === '1', { what: 'the resumed link' });
    expect(primary.server.replication.counters).toMatchObject({ full: 1, partial: 1 });
  });

  test('lostlock follows it, and resumes partially after its link was cut', async () => {
    const [primary, replica] = [await real(), await ours()];
    await primary.redis.set('before', '1');
    await replica.follow(primary);
    expect(await replica.redis.get('before')).toBe('1');
    await agree(primary, replica);
    await primary.redis.call('CLIENT', 'KILL', 'TYPE', 'replica');
    await primary.redis.set('while away', '1');
    await until(async () => (await replica.redis.get('while away')) === '1', { what: 'the resumed link' });
    expect(/sync_partial_ok:(\d+)/.exec((await primary.redis.info('stats')) as string)?.[1]).toBe('1');
  });
});
