/**
 * INFO: describes the node in sections (https://redis.io/docs/latest/commands/info/). Each section has its own
 * function.
 */

import { LOSTLOCK_VERSION } from '../../../base/version.ts';
import { asciiLower, type Bytes, parseDouble } from '../../../protocol/bytes.ts';
import { IN_MULTI } from '../../clients/client.ts';
import { everyClient } from '../../clients/info.ts';
import { shows } from '../../figures/info-fields.ts';
import type { Server } from '../../server.ts';
import { eachCommand } from './command.ts';
import {
  averageTtl,
  clientBuffers,
  clientStates,
  denied,
  eventLoop,
  expired,
  type Field,
  listeners,
  traffic,
} from './info-figures.ts';
import { replicationInfo } from './info-replication.ts';
import { keySizes } from './keysizes.ts';
import { memoryInfo } from './memory-report.ts';

const SECTIONS: Record<string, (server: Server) => Iterable<Field>> = {
  *server(server) {
    const uptime = Math.floor((server.now - server.startedAt) / 1000);
    yield* server.dialect.infoVersion;
    yield ['redis_git_sha1', '00000000'];
    yield ['redis_git_dirty', 0];
    yield ['redis_build_id', '0'];
    const asRedis = server.settings['extended-redis-compatibility'];
    yield [asRedis ? 'redis_mode' : server.dialect.infoMode, server.mode];
    yield ['lostlock_version', LOSTLOCK_VERSION];
    const facts = server.host.facts?.();
    if (facts !== undefined) yield ['os', facts.system];
    yield ['arch_bits', 64];
    yield ['multiplexing_api', 'node'];
    if (facts !== undefined) yield ['process_id', facts.id];
    yield ['process_supervised', 'no'];
    yield ['run_id', server.runId];
    yield ['tcp_port', server.settings.port];
    yield ['server_time_usec', server.micros()];
    yield ['uptime_in_seconds', uptime];
    yield ['uptime_in_days', Math.floor(uptime / 86400)];
    yield ['hz', server.settings.hz];
    yield ['configured_hz', server.settings.hz];
    yield ['clients_hz', server.settings.hz];
    yield ['lru_clock', Math.floor(server.now / 1000) & 0xffffff];
    if (facts !== undefined) yield ['executable', facts.executable];
    yield ['config_file', server.configFile?.path ?? ''];
    yield ['io_threads_active', 0];
    yield ['availability_zone', server.settings['availability-zone']];
    yield* listeners(server);
  },
  *tls() {
    // lostlock reads certificates as they come from the host, and does not look into them.
    for (const kind of ['server_cert', 'client_cert', 'ca_cert']) {
      yield [`tls_${kind}_serial`, 'none'];
      yield [`tls_${kind}_expires_in_seconds`, 0];
    }
  },
  *clients(server) {
    const replicas = server.replication.online().length;
    yield ['connected_clients', everyClient(server).length - replicas];
    yield ['cluster_connections', server.cluster?.connections ?? 0];
    yield ['maxclients', server.settings.maxclients];
    yield* clientBuffers(server);
    yield ['blocked_clients', server.blocking.total];
    yield ['tracking_clients', server.tracking.counts.clients];
    yield* clientStates(server);
    yield ['clients_in_timeout_table', 0];
    yield ['total_watched_keys', server.databases.reduce((sum, { watchers }) => sum + watchers.size, 0)];
    yield ['total_blocking_keys', server.blocking.countKeys()];
    yield ['total_blocking_keys_on_nokey', server.blocking.countKeysThatMayBeLost()];
    const { reason, actions, remaining } = server.pausing.described;
    yield ['paused_reason', reason];
    yield ['paused_actions', actions];
    yield ['paused_timeout_milliseconds', remaining];
  },
  *memory(server) {
    yield* memoryInfo(server);
  },
  *persistence(server) {
    const { dumpFile } = server;
    yield ['loading', 0];
    yield ['async_loading', 0];
    yield ['current_cow_peak', 0];
    yield ['current_cow_size', 0];
    yield ['current_cow_size_age', 0];
    yield ['current_fork_perc', '0.00'];
    yield ['current_save_keys_processed', 0];
    yield ['current_save_keys_total', dumpFile.savingKeys];
    yield ['rdb_changes_since_last_save', dumpFile.changes];
    yield ['rdb_bgsave_in_progress', dumpFile.saving ? 1 : 0];
    yield ['rdb_last_save_time', dumpFile.savedAt];
    yield ['rdb_last_bgsave_status', dumpFile.last.rdb.status];
    yield ['rdb_last_bgsave_time_sec', dumpFile.last.rdb.seconds];
    yield ['rdb_current_bgsave_time_sec', dumpFile.secondsOf('rdb')];
    yield ['rdb_saves', server.stats.saves];
    yield ['rdb_saves_consecutive_failures', dumpFile.saveFailures];
    yield ['rdb_last_cow_size', 0];
    yield ['rdb_last_load_keys_expired', dumpFile.loaded.expired];
    yield ['rdb_last_load_keys_loaded', dumpFile.loaded.keys];
    const stored = server.durability?.recording ? server.durability.figures : undefined;
    yield ['aof_enabled', stored === undefined ? 0 : 1];
    yield ['aof_rewrite_in_progress', dumpFile.rewriting ? 1 : 0];
    yield ['aof_rewrite_scheduled', dumpFile.scheduled.aof ? 1 : 0];
    yield ['aof_last_rewrite_time_sec', dumpFile.last.aof.seconds];
    yield ['aof_current_rewrite_time_sec', dumpFile.secondsOf('aof')];
    yield ['aof_last_bgrewrite_status', dumpFile.last.aof.status];
    yield ['aof_rewrites', server.stats.rewrites];
    yield ['aof_rewrites_consecutive_failures', dumpFile.rewriteFailures];
    yield ['aof_last_write_status', stored?.status ?? 'ok'];
    yield ['aof_last_cow_size', 0];
    yield ['module_fork_in_progress', 0];
    yield ['module_fork_last_cow_size', 0];
    yield ['slot_migration_fork_in_progress', 0];
    if (stored === undefined) return;
    yield ['aof_current_size', stored.size];
    yield ['aof_base_size', stored.baseSize];
    yield ['aof_pending_rewrite', dumpFile.scheduled.aof ? 1 : 0];
    yield ['aof_buffer_length', stored.buffered];
    yield ['aof_pending_bio_fsync', stored.syncing ? 1 : 0];
    yield ['aof_delayed_fsync', 0];
  },
  *threads(server) {
    const { reads, writes } = server.stats;
    yield ['io_thread_0', `clients=${server.clients.size},reads=${reads},writes=${writes}`];
  },
  *stats(server) {
    const { stats } = server;
    yield ['total_connections_received', stats.connections];
    // The running commands have not been processed yet.
    yield ['total_commands_processed', stats.commands - server.depth];
    yield* traffic(server);
    yield ['rejected_connections', stats.rejected];
    yield ['sync_full', stats.syncs.full];
    yield ['sync_partial_ok', stats.syncs.partial];
    yield ['sync_partial_err', stats.syncs.refused];
    yield* expired(stats);
    yield ['evicted_keys', stats.evicted];
    yield ['evicted_clients', stats.evictedClients];
    yield ['evicted_scripts', stats.evictedScripts];
    yield ['total_eviction_exceeded_time', server.eviction.exceeded.total];
    yield ['current_eviction_exceeded_time', server.eviction.exceeded.current];
    yield ['keyspace_hits', server.world.hits];
    yield ['keyspace_misses', server.world.misses];
    yield ['pubsub_channels', server.pubsub.channels.size];
    yield ['pubsub_patterns', server.pubsub.patterns.size];
    yield ['pubsubshard_channels', server.pubsub.shardChannels.size];
    yield ['latest_fork_usec', 0];
    yield ['total_forks', stats.forks];
    yield ['migrate_cached_sockets', 0];
    yield ['slave_expires_tracked_keys', 0];
    for (const name of DEFRAGMENTATION) yield [name, 0];
    yield ['tracking_total_keys', server.tracking.counts.keys];
    yield ['tracking_total_items', server.tracking.counts.items];
    yield ['tracking_total_prefixes', server.tracking.counts.prefixes];
    yield ['unexpected_error_replies', server.stats.unexpectedErrors];
    yield ['total_error_replies', stats.errorReplies];
    yield ['dump_payload_sanitizations', 0];
    yield ['total_reads_processed', stats.reads];
    yield ['total_writes_processed', stats.writes];
    yield ['io_threaded_reads_processed', 0];
    yield ['io_threaded_writes_processed', 0];
    for (const name of IO_THREADS) yield [name, 0];
    yield ['client_query_buffer_limit_disconnections', stats.queryBufferDisconnections];
    yield ['client_output_buffer_limit_disconnections', stats.outputBufferDisconnections];
    for (const { replyBuffer } of server.clients.values()) replyBuffer.read();
    yield ['reply_buffer_shrinks', stats.replyBufferShrinks];
    yield ['reply_buffer_expands', stats.replyBufferExpands];
    yield* eventLoop(server);
    yield* denied(server.acl);
  },
  *replication(server) {
    yield* replicationInfo(server);
  },
  *cpu(server) {
    const { system, user } = server.host.processorTime?.() ?? { system: 0, user: 0 };
    yield ['used_cpu_sys', (system / 1e6).toFixed(6)];
    yield ['used_cpu_user', (user / 1e6).toFixed(6)];
    yield ['used_cpu_sys_children', '0.000000'];
    yield ['used_cpu_user_children', '0.000000'];
    yield ['used_active_time_main_thread', ((system + user) / 1e6).toFixed(6)];
  },
  *hotkeys({ observer: { hotKeys } }) {
    if (hotKeys === undefined) return;
    yield ['hotkeys-tracking-active', hotKeys.active ? 1 : 0];
    yield ['hotkeys-cmd-cpu-time', 0];
  },
  *modules({ dialect }) {
    for (const { name, version, options } of dialect.modules) {
      const fields = `name=${name},ver=${version},api=1,filters=0,usedby=[],using=[]`;
      yield ['module', `${fields},options=[${options.join('|')}]`];
    }
  },
  *commandstats(server) {
    const unfinished = unfinishedCalls(server);
    for (const command of eachCommand(server)) {
      for (const each of [command, ...(command.subcommands?.values() ?? [])]) {
        const calls = (server.stats.calls[each.serial] ?? 0) - (unfinished.has(each.fullName) ? 1 : 0);
        const refused = server.stats.refused[each.serial] ?? 0;
        if (calls + refused === 0) continue;
        const times = server.stats.times[each.serial];
        const usec = times === undefined ? 0 : Math.round((times.micros * calls) / times.measured);
        const failed = server.stats.failed[each.serial] ?? 0;
        yield [
          `cmdstat_${each.fullName}`,
          `calls=${calls},usec=${usec},usec_per_call=${(calls > 0 ? usec / calls : 0).toFixed(2)},rejected_calls=${refused},failed_calls=${failed}`,
        ];
      }
    }
  },
  *errorstats(server) {
    for (const code of [...server.stats.errors.keys()].sort()) {
      yield [`errorstat_${code}`, `count=${server.stats.errors.get(code)}`];
    }
  },
  *latencystats(server) {
    const { settings, stats } = server;
    if (!settings['latency-tracking']) return;
    const percents = settings['latency-tracking-info-percentiles'].split(' ').filter((each) => each !== '');
    for (const command of eachCommand(server)) {
      for (const { serial, fullName } of [command, ...(command.subcommands?.values() ?? [])]) {
        const times = stats.times[serial];
        if (times === undefined) continue;
        const values = percents.map((each) => {
          const percent = parseDouble(each) ?? 0;
          return `p${percent}=${times.percentile(percent).toFixed(3)}`;
        });
        yield [`latency_percentiles_usec_${fullName}`, values.join(',')];
      }
    }
  },
  *cluster(server) {
    yield ['cluster_enabled', server.cluster === undefined ? 0 : 1];
  },
  *'cluster info'() {},
  *scriptingengines(server) {
    const bytes = server.scripts.bytes + server.functions.bytes;
    yield ['engines_count', 1];
    yield ['engines_total_used_memory', bytes];
    yield ['engines_total_memory_overhead', 0];
    yield ['engine_0', `name=LUA,module=lua,abi_version=4,used_memory=${bytes},memory_overhead=0`];
  },
  *keyspace(server) {
    for (const db of server.databases) {
      if (db.size === 0) continue;
      const plain = `keys=${db.size},expires=${db.volatile},avg_ttl=${averageTtl(server, db)}`;
      const hashes = ['subexpiry', 'keys_with_volatile_items']
        .filter((name) => shows(server.dialect.infoFields, name))
        .map((name) => `,${name}=${db.world.deadlines.hashes(db.owner)}`);
      yield [`db${db.index}`, plain + hashes.join('')];
    }
  },
  *keysizes(server) {
    for (const db of server.databases) yield* keySizes(db);
  },
};

/** The commands whose running call has not finished: INFO, and the script or transaction that calls it. */
function unfinishedCalls({ running, scripts }: Server): ReadonlySet<string> {
  const names = new Set(['info']);
  if (scripts.enteredBy !== undefined) names.add(asciiLower(scripts.enteredBy));
  if (running?.lastCommand !== undefined) names.add(running.lastCommand.fullName);
  if (running?.has(IN_MULTI)) names.add('exec');
  return names;
}

const IO_THREADS = [
  'io_threaded_freed_objects',
  'io_threaded_accept_processed',
  'io_threaded_poll_processed',
  'io_threaded_total_prefetch_batches',
  'io_threaded_total_prefetch_entries',
];

const DEFRAGMENTATION = [
  'active_defrag_hits',
  'active_defrag_misses',
  'active_defrag_key_hits',
  'active_defrag_key_misses',
  'total_active_defrag_time',
  'current_active_defrag_time',
];

const TITLES: Record<string, string> = {
  cpu: 'CPU',
  tls: 'TLS',
  'cluster info': 'Cluster Info',
  scriptingengines: 'Scripting Engines',
};
/** The sections that only INFO ALL and EVERYTHING include. */
const EXTRA = new Set(['commandstats', 'latencystats', 'tls', 'cluster info', 'scriptingengines']);

/**
 * Returns the text of the requested sections; without any, the default ones.
 * @param offered the sections that the node has
 */
export function info(
  server: Server,
  asked: readonly Bytes[],
  offered: readonly string[] = Object.keys(SECTIONS),
): Bytes {
  const words = asked.length === 0 ? ['default'] : asked.map(asciiLower);
  const everything = words.includes('all') || words.includes('everything');
  const later = server.dialect.infoFields;
  const known = offered.filter((name) => shows(later, name));
  const chosen = known.filter(
    (name) => everything || words.includes(name) || (words.includes('default') && !EXTRA.has(name)),
  );
  const parts = chosen.map((name) => {
    const title =
      TITLES[name] ??
      name.slice(0, 1).replace(/[a-z]/, (c) => String.fromCharCode(c.charCodeAt(0) - 32)) + name.slice(1);
    let text = `# ${title}\r\n`;
    for (const [field, value] of SECTIONS[name]?.(server) ?? []) {
      if (shows(later, field)) text += `${field}:${value}\r\n`;
    }
    return text;
  });
  return parts.join('\r\n');
}
