/** CONFIG RESETSTAT: it resets exactly the fields of INFO that redis-server resets. */
import { expect, test } from 'vitest';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { Beside } from '../../support/beside/beside.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { request } from '../../support/reply-text.ts';
import { until } from '../../support/until.ts';

/** Requests that raise as many figures as possible. */
const CONVERSATION = [
  ...['SET k 1', 'GET k', 'GET missing', 'LPUSH k 1', 'NOSUCH', 'EVAL "return redis.call(1)" 0'],
  ...['SADD s a b', 'SUBSCRIBE c', 'UNSUBSCRIBE c', 'BGREWRITEAOF'],
];

const FILLS = [
  ...['CONFIG SET maxmemory-policy volatile-random maxmemory 1', 'SET new 1', 'CONFIG SET maxmemory 0'],
  ...['SET v 1 EX 100', 'CONFIG SET maxmemory 1', 'SET new 1', 'SET newer 1', 'CONFIG SET maxmemory 0'],
];

type Fields = Map<string, string>;

async function fields(client: RawClient): Promise<Fields> {
  const { raw } = await client.ask('INFO', 'everything');
  const lines = raw.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** Raises the figures that need several connections. */
async function stir(admin: RawClient, connect: () => Promise<RawClient>): Promise<void> {
  // Replicas: one with everything, one that goes on, one that cannot.
  let [id = '?', offset = '-1']: string[] = [];
  for (const follow of [() => [id, offset], () => [id, `${parseInt(offset, 10) + 1}`], () => ['none', '7']]) {
    const follower = await connect();
    const [replid = '', from = ''] = follow();
    await follower.send(request('PSYNC', replid, from));
    await until(() => /^\+(FULLRESYNC|CONTINUE)/.test(follower.received), { what: 'an answer to PSYNC' });
    [, id = id, offset = offset] = /FULLRESYNC (\w+) (\d+)/.exec(follower.received) ?? [];
    follower.close();
  }
  await until(async () => (await fields(admin)).get('connected_slaves') === '0', { what: 'replicas to go' });
  // A client too many.
  await admin.ask('CONFIG', 'SET', 'maxclients', '1');
  const refused = await connect();
  await refused.ended();
  await admin.ask('CONFIG', 'SET', 'maxclients', '10000');
  // A key that ends, and a save.
  await admin.ask('SET', 'short', '1', 'PX', '1');
  await until(async () => (await admin.ask('EXISTS', 'short')).raw === ':0\r\n', { what: 'the expiry' });
  const idle = /aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/;
  await until(async () => idle.test((await admin.ask('INFO', 'persistence')).raw), { what: 'the rewrite' });
  await admin.ask('SAVE');
  await admin.ask('BGSAVE');
  await until(async () => (await fields(admin)).get('rdb_bgsave_in_progress') === '0', { what: 'the save' });
}

/** Fields that were above zero before, and are zero or missing afterwards. */
function forgotten(before: Fields, after: Fields): string[] {
  const nothing = (value: string | undefined) => value === undefined || /^0(\.0+)?$/.test(value);
  return [...before.keys()].filter((name) => !nothing(before.get(name)) && nothing(after.get(name))).sort();
}

/** Figures about time, which may be zero on a fast machine, and of C's own. */
const BY_CHANCE =
  /^(instantaneous_|latest_fork_usec|lru_clock|used_cpu|.*_eviction_exceeded_time|expire(d_stale|_cycle)|io_threaded|reply_buffer|mem_|used_memory|allocator|rss|latency_percentiles|client_recent|total_(reads|writes)_processed|total_net_repl)/;

/** Fields that the conversation must have raised on both sides, so that the comparison proves something. */
const RAISED = [
  ...[
    'aof_rewrites',
    'errorstat_ERR',
    'errorstat_OOM',
    'errorstat_WRONGTYPE',
    'evicted_keys',
    'expired_keys',
  ],
  ...['keyspace_hits', 'keyspace_misses', 'rdb_saves', 'rejected_connections', 'sync_full'],
  ...['sync_partial_err', 'sync_partial_ok', 'total_error_replies', 'total_forks'],
];

test.skipIf(!hasRedisServer)('resets what redis-server resets (needs redis-server)', async () => {
  await using both = await Beside.start(['--repl-diskless-sync-delay', '0']);
  await both.ask(...CONVERSATION, ...FILLS);
  await stir(both.theirs, () => both.connectTheirs());
  await stir(both.ours, async () => new RawClient(connectInMemory(both.server.connections)));
  const before = [await fields(both.theirs), await fields(both.ours)] as const;
  await both.ask('CONFIG RESETSTAT');
  const after = [await fields(both.theirs), await fields(both.ours)] as const;
  const [theirs, ours] = [0, 1].map((side) =>
    forgotten(before[side]!, after[side]!).filter((name) => !BY_CHANCE.test(name)),
  );
  expect(theirs).toEqual(expect.arrayContaining(RAISED));
  expect(ours).toEqual(theirs);
  // The remaining counts are RESETSTAT's and INFO's own.
  for (const name of ['total_commands_processed', 'total_connections_received', 'total_error_replies']) {
    expect([name, after[1].get(name)]).toEqual([name, after[0].get(name)]);
  }
});
