/** The memory figures of INFO and MEMORY STATS. They approximate those of redis-server 7.0 for the same data. */
import type { Bytes } from '../../../protocol/bytes.ts';
import { Double, MapReply, type Reply } from '../../../protocol/reply.ts';
import { REPLICA_LINK } from '../../clients/client.ts';
import { humanBytes, STARTUP_BYTES } from '../../data/eviction.ts';
import type { Server } from '../../server.ts';

type ReportField = readonly [string, string | number];

/** For each key: its hash table entry, its bucket, and its object, in bytes. */
const KEY_OVERHEAD = 40;
const DEADLINE_OVERHEAD = 40;

/** Computes the node's memory by use, in bytes. */
function account(server: Server) {
  const { world, databases, eviction, replication } = server;
  const used = eviction.measure();
  const backlog = replication.backlog?.length ?? 0;
  let keys = 0;
  let tables = 0;
  for (const db of databases) {
    keys += db.size;
    tables += KEY_OVERHEAD * db.size + DEADLINE_OVERHEAD * db.volatile;
  }
  let [replicas, clients] = [0, 0];
  for (const client of server.clients.values()) {
    const bytes = client.output.pending + client.decoder.buffered;
    if (client.has(REPLICA_LINK)) replicas += bytes;
    else clients += bytes;
  }
  const overhead = STARTUP_BYTES + backlog + tables;
  return { used, backlog, keys, replicas, clients, overhead, dataset: Math.max(0, used - overhead), world };
}

function percent(part: number, whole: number): number {
  return whole > 0 ? (part / whole) * 100 : 0;
}

/** The machine's memory, and the memory that scripts and functions use. */
function* scriptMemory({ host, scripts, functions }: Server): Iterable<ReportField> {
  const scriptBytes = scripts.bytes;
  const facts = host.facts?.();
  if (facts !== undefined) {
    yield ['total_system_memory', facts.memory];
    yield ['total_system_memory_human', humanBytes(facts.memory)];
  }
  yield ['used_memory_lua', scriptBytes];
  yield ['used_memory_vm_eval', scriptBytes];
  yield ['used_memory_lua_human', humanBytes(scriptBytes)];
  yield ['used_memory_scripts_eval', scriptBytes];
  yield ['number_of_cached_scripts', scripts.size];
  yield ['number_of_functions', functions.counts.functions];
  yield ['number_of_libraries', functions.counts.libraries];
  yield ['used_memory_vm_functions', functions.bytes];
  yield ['used_memory_vm_total', scriptBytes + functions.bytes];
  yield ['used_memory_vm_total_human', humanBytes(scriptBytes + functions.bytes)];
  yield ['used_memory_functions', functions.bytes];
  yield ['used_memory_scripts', scriptBytes + functions.bytes];
  yield ['used_memory_scripts_human', humanBytes(scriptBytes + functions.bytes)];
}

/** Here, slots are moved with MIGRATE, which needs no buffers. */
const SLOT_MIGRATION = [
  'mem_cluster_slot_migration_output_buffer',
  'mem_cluster_slot_migration_input_buffer',
  'mem_cluster_slot_migration_input_buffer_peak',
];
/** The same of Valkey 9, which come behind the links of the cluster. */
const SLOT_MOVES = ['mem_cluster_slot_import', 'mem_cluster_slot_export'];

/** The fields of INFO memory, in 7.0's order. The overhead of an allocator is not known here and reported as zero. */
export function* memoryInfo(server: Server): Iterable<ReportField> {
  const { settings, eviction } = server;
  const { used, backlog, replicas, clients, overhead, dataset } = account(server);
  const peak = Math.max(used, eviction.peak);
  const growth = used - STARTUP_BYTES;
  yield ['used_memory', used];
  yield ['used_memory_human', humanBytes(used)];
  yield ['used_memory_rss', used];
  yield ['used_memory_rss_human', humanBytes(used)];
  yield ['used_memory_peak', peak];
  yield ['used_memory_peak_human', humanBytes(peak)];
  yield ['used_memory_peak_time', Math.floor(eviction.peakAt / 1000)];
  yield ['used_memory_peak_perc', `${percent(used, peak).toFixed(2)}%`];
  yield ['used_memory_overhead', overhead];
  yield ['used_memory_startup', STARTUP_BYTES];
  yield ['used_memory_dataset', dataset];
  yield ['used_memory_dataset_perc', `${percent(dataset, growth).toFixed(2)}%`];
  yield ['allocator_allocated', used];
  yield ['allocator_active', used];
  yield ['allocator_resident', used];
  yield ['allocator_muzzy', 0];
  yield* scriptMemory(server);
  yield ['maxmemory', settings.maxmemory];
  yield ['maxmemory_human', humanBytes(settings.maxmemory)];
  yield ['maxmemory_policy', settings['maxmemory-policy']];
  yield ['allocator_frag_ratio', '1.00'];
  yield ['allocator_frag_bytes', 0];
  yield ['allocator_rss_ratio', '1.00'];
  yield ['allocator_rss_bytes', 0];
  yield ['rss_overhead_ratio', '1.00'];
  yield ['rss_overhead_bytes', 0];
  yield ['mem_fragmentation_ratio', '1.00'];
  yield ['mem_fragmentation_bytes', 0];
  yield ['mem_not_counted_for_evict', 0];
  yield ['mem_replication_backlog', backlog];
  yield ['mem_total_replication_buffers', backlog + replicas];
  yield ['mem_replica_full_sync_buffer', 0];
  yield ['mem_replicas_repl_buffer', 0];
  yield ['mem_clients_slaves', replicas];
  yield ['mem_clients_normal', clients];
  for (const name of SLOT_MIGRATION) yield [name, 0];
  yield ['mem_cluster_links', server.cluster?.linkBytes ?? 0];
  for (const name of SLOT_MOVES) yield [name, 0];
  yield ['mem_aof_buffer', 0];
  yield ['mem_allocator', 'libc'];
  yield ['mem_overhead_db_hashtable_rehashing', 0];
  yield ['active_defrag_running', 0];
  yield ['lazyfree_pending_objects', 0];
  yield ['lazyfreed_objects', server.stats.lazyFreed];
}

/** What only an allocator of C knows: nothing is lost to fragments here. */
const UNKNOWN: readonly Reply[] = ['allocator-fragmentation', 'allocator-rss', 'rss-overhead'].flatMap(
  (name) => [`${name}.ratio`, new Double(1), `${name}.bytes`, 0],
);

/** The number of buckets of Redis' table for so many keys: a power of two, at least four; none for no key. */
function bucketsFor(keys: number): number {
  return keys === 0 ? 0 : Math.max(4, 2 ** Math.ceil(Math.log2(keys)));
}

/** Returns the reply of MEMORY STATS, in 7.0's fields and order. */
export function memoryStats(server: Server): Reply {
  const { used, backlog, keys, replicas, clients, overhead, dataset } = account(server);
  const peak = Math.max(used, server.eviction.peak);
  const growth = used - STARTUP_BYTES;
  const { infoFields } = server.dialect;
  const later = infoFields.has('mem_overhead_db_hashtable_rehashing');
  const alone = infoFields.has('mem_replica_full_sync_buffer');
  const hasMigrations = infoFields.has('mem_replicas_repl_buffer');
  let buckets = 0;
  const fields: Reply[] = [];
  const add = (name: Bytes, value: Reply): number => fields.push(name, value);
  add('peak.allocated', peak);
  add('total.allocated', used);
  add('startup.allocated', STARTUP_BYTES);
  add('replication.backlog', backlog);
  if (alone) add('replica.fullsync.buffer', 0);
  if (hasMigrations) add('replicas.repl.buffer', 0);
  add('clients.slaves', replicas);
  add('clients.normal', clients);
  add('cluster.links', server.cluster?.linkBytes ?? 0);
  if (hasMigrations) {
    add('cluster.slot_import', 0);
    add('cluster.slot_export', 0);
  }
  add('aof.buffer', server.durability?.figures.buffered ?? 0);
  add('lua.caches', server.scripts.bytes);
  add('functions.caches', server.functions.bytes);
  if (alone) add('script.VMs', 0);
  for (const db of server.databases) {
    if (db.size === 0 && server.dialect.emptyDatabases === 'not reported') continue;
    const sizes: Reply[] = ['overhead.hashtable.main', KEY_OVERHEAD * db.size];
    sizes.push('overhead.hashtable.expires', DEADLINE_OVERHEAD * db.volatile);
    if (!later) sizes.push('overhead.hashtable.slot-to-keys', 0);
    add(`db.${db.index}`, new MapReply(sizes));
    buckets += bucketsFor(db.size) + bucketsFor(db.volatile);
  }
  if (later) {
    add('overhead.db.hashtable.lut', 8 * buckets);
    // Tables are never moved step by step here.
    add('overhead.db.hashtable.rehashing', 0);
  }
  add('overhead.total', overhead);
  if (later) add('db.dict.rehashing.count', 0);
  add('keys.count', keys);
  add('keys.bytes-per-key', keys > 0 ? Math.floor(growth / keys) : 0);
  add('dataset.bytes', dataset);
  add('dataset.percentage', new Double(percent(dataset, growth)));
  add('peak.percentage', new Double(percent(used, peak)));
  add('allocator.allocated', used);
  add('allocator.active', used);
  add('allocator.resident', used);
  if (later) add('allocator.muzzy', 0);
  return new MapReply([...fields, ...UNKNOWN, 'fragmentation', new Double(1), 'fragmentation.bytes', 0]);
}
