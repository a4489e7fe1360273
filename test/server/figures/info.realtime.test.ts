/** INFO's figures: the deterministic ones equal redis-server's after the same conversation. */
import { expect, test } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { Listener } from '../../../server/host/tcp.ts';
import { createNode } from '../../../server/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { request } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

/** What INFO everything says, field by field. */
async function fields(client: RawClient): Promise<Map<string, string>> {
  await client.send(request('INFO', 'everything'));
  const lines = (await client.read()).raw.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

const CONVERSATION = [
  ['CONFIG', 'RESETSTAT'],
  ['SET', 'a', '1'],
  ['GET', 'a'],
  ['GET', 'missing'],
  ['LPUSH', 'a', '1'],
  ['NOSUCH'],
  ['GET'],
  ['CONFIG', 'NOSUCH'],
  ['CONFIG', 'GET'],
  ['EVAL', "redis.call('ping') redis.call('ping') return 1", '0'],
  ['MULTI'],
  ['PING'],
  ['PING'],
  ['EXEC'],
  ['BLPOP', 'empty', '0.01'],
  ['SET', 'b', '1', 'EX', '100'],
];

/** Fields whose figures depend on the requests only. */
const DETERMINED =
  /^(total_(commands|reads|writes)_processed|total_error_replies|keyspace_(hits|misses)|expired_keys|evicted_\w+|rejected_connections|connected_clients|blocked_clients|errorstat_\w+|total_net_repl_\w+|connected_slaves|aof_enabled|loading)$/;

/** The counts of calls, without their times. */
const CALLS = /calls=\d+|rejected_calls=\d+|failed_calls=\d+/g;

async function figures(client: RawClient): Promise<{ names: Set<string>; told: string[] }> {
  for (const words of CONVERSATION) {
    await client.send(request(...words));
    await client.read();
  }
  const all = await fields(client);
  const told = [...all]
    .filter(([name]) => DETERMINED.test(name) || name.startsWith('cmdstat_'))
    .map(([name, value]) => `${name}:${name.startsWith('cmdstat_') ? value.match(CALLS)?.join() : value}`);
  return {
    names: new Set([...all.keys()].filter((name) => !name.startsWith('latency_'))),
    told: told.sort(),
  };
}

/** About C, its compiler, its unix socket, threads of its own, certificates, and the engine of scripts as a module. */
const ABSENT =
  /^(listener1|atomicvar_api|gcc_version|monotonic_clock|used_\w+_main_thread|tls_\w+|engines?_\w+|module)$/;

for (const dialect of dialectNames) {
  const program = oracleOf(dialect);
  test.skipIf(program === undefined)(
    `has the fields and figures of the server (needs ${dialect})`,
    async () => {
      await using redis = await startRedisServer({ tcp: true, program: program ?? '' });
      const real = await RawClient.connect({ path: redis.path });
      const theirs = await figures(real);
      const server = createNode(nodeHost(), { dialect });
      const listener = new Listener(server.connections);
      const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
      const client = await RawClient.connect({ port });
      const ours = await figures(client);
      for (const each of [real, client]) each.close();
      server.stop();
      await listener.close();
      expect(ours.told).toEqual(theirs.told);
      const missing = [...theirs.names].filter((name) => !ours.names.has(name));
      expect(missing.filter((name) => !ABSENT.test(name))).toEqual([]);
      expect([...ours.names].filter((name) => !theirs.names.has(name))).toEqual(['lostlock_version']);
    },
  );
}

/** Recorded on redis-server 8.6.2 and valkey-server 9.1.2. */
test.each([
  {
    before: 'redis-8.2',
    dialect: 'redis-8.6',
    added: [
      ...['mem_cluster_slot_migration_output_buffer', 'mem_cluster_slot_migration_input_buffer'],
      ...['mem_cluster_slot_migration_input_buffer_peak', 'rdb_saves_consecutive_failures'],
      ...['expired_subkeys_active', 'expired_keys_active', 'acl_access_denied_tls_cert'],
    ],
  },
  {
    before: 'valkey-8.1',
    dialect: 'valkey-9',
    added: [
      ...['mem_replicas_repl_buffer', 'mem_cluster_slot_import', 'mem_cluster_slot_export'],
      ...['slot_migration_fork_in_progress', 'total_net_cluster_slot_import_bytes'],
      ...['total_net_cluster_slot_export_bytes', 'expired_fields'],
      ...[
        'expired_keys_with_volatile_items_stale_perc',
        'acl_access_denied_tls_cert',
        'acl_access_denied_db',
      ],
    ],
  },
] as const)('$dialect has the fields that were added after $before', ({ before, dialect, added }) => {
  const [old, now] = [before, dialect].map((each) => {
    const info = new Conversation(createNode(new TestHost(), { dialect: each })).ask('INFO everything');
    return info.split('\\x0d\\x0a').map((line) => line.split(':', 1)[0] ?? '');
  });
  const isNew = (name: string): boolean =>
    /^(mem|rdb|expired|acl|slot|total)_/.test(name) && !old!.includes(name);
  expect(now!.filter(isNew).sort()).toEqual([...added].sort());
});

test('shows rates per second since the last INFO', () => {
  const host = new TestHost();
  const redis = new Conversation(createNode(host));
  redis.ask('INFO stats');
  host.advance(2000);
  redis.ask('INFO stats');
  for (let i = 0; i < 199; i++) redis.ask('PING');
  host.advance(2000);
  expect(redis.ask('INFO stats')).toContain('instantaneous_ops_per_sec:100');
});

test('Redis 8.6 tells apart what the timer removed from what a command found expired', () => {
  const host = new TestHost();
  const redis = new Conversation(createNode(host, { dialect: 'redis-8.6' }));
  redis.ask('SET a 1 PX 10');
  redis.ask('HSET h f 1');
  redis.ask('HPEXPIRE h 10 FIELDS 1 f');
  host.advance(100);
  redis.ask('DEBUG SET-ACTIVE-EXPIRE 0');
  redis.ask('SET b 1 PX 10');
  host.advance(100);
  redis.ask('GET b');
  const stats = redis.ask('INFO stats');
  for (const figure of ['keys:2', 'keys_active:1', 'subkeys:1', 'subkeys_active:1'])
    expect(stats).toMatch(new RegExp(`expired_${figure}\\D`));
});

test('BGREWRITEAOF answers as a server with an append-only file', () => {
  const redis = new Conversation(createNode(new TestHost()));
  expect(redis.ask('BGREWRITEAOF')).toBe('+Background append only file rewriting started');
});
