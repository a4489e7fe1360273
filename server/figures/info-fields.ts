/** The fields of INFO that later servers have and Redis 7.0 has not. */

const REDIS_8_0 = [
  'listeners',
  'pubsub_clients',
  'watching_clients',
  'total_watched_keys',
  'total_blocking_keys',
  'total_blocking_keys_on_nokey',
  'allocator_muzzy',
  'mem_overhead_db_hashtable_rehashing',
  'evicted_scripts',
  'client_query_buffer_limit_disconnections',
  'client_output_buffer_limit_disconnections',
  'eventloop_cycles',
  'eventloop_duration_sum',
  'eventloop_duration_cmd_sum',
  'instantaneous_eventloop_cycles_per_sec',
  'instantaneous_eventloop_duration_usec',
  'acl_access_denied_auth',
  'acl_access_denied_cmd',
  'acl_access_denied_key',
  'acl_access_denied_channel',
] as const;

const REDIS_ALONE = [
  'mem_replica_full_sync_buffer',
  'threads',
  'expired_subkeys',
  'subexpiry',
  'keysizes',
  'replica_full_sync_buffer_size',
  'replica_full_sync_buffer_peak',
] as const;
const REDIS_8_2 = [
  'used_memory_peak_time',
  'master_current_sync_attempts',
  'master_total_sync_attempts',
  'master_link_up_since_seconds',
  'total_disconnect_time_sec',
] as const;
const REDIS_8_6 = [
  'mem_cluster_slot_migration_output_buffer',
  'mem_cluster_slot_migration_input_buffer',
  'mem_cluster_slot_migration_input_buffer_peak',
  'rdb_saves_consecutive_failures',
  'expired_subkeys_active',
  'expired_keys_active',
  'master_client_io_thread',
  'hotkeys',
] as const;
const PREFETCH = ['io_threaded_total_prefetch_batches', 'io_threaded_total_prefetch_entries'] as const;

const VALKEY_ALONE = [
  'clients_hz',
  'availability_zone',
  'paused_reason',
  'paused_actions',
  'paused_timeout_milliseconds',
  'io_threaded_freed_objects',
  'io_threaded_accept_processed',
  'io_threaded_poll_processed',
  'replicas_waiting_psync',
  'replicas_repl_buffer_size',
  'replicas_repl_buffer_peak',
] as const;

const VALKEY_9 = [
  'mem_replicas_repl_buffer',
  'mem_cluster_slot_import',
  'mem_cluster_slot_export',
  'total_net_cluster_slot_import_bytes',
  'total_net_cluster_slot_export_bytes',
  'slot_migration_fork_in_progress',
  'expired_fields',
  'expired_keys_with_volatile_items_stale_perc',
  'acl_access_denied_db',
  'used_active_time_main_thread',
  'tls',
  'cluster info',
  'scriptingengines',
  'keys_with_volatile_items',
] as const;
const TLS_CERT = ['acl_access_denied_tls_cert'] as const;

/** A field, or a part of INFO, that Redis 7.0 has not. `listeners` stands for the fields `listener0` and on. */
export type LaterField =
  | (typeof REDIS_8_0)[number]
  | (typeof REDIS_ALONE)[number]
  | (typeof REDIS_8_2)[number]
  | (typeof PREFETCH)[number]
  | (typeof REDIS_8_6)[number]
  | (typeof VALKEY_ALONE)[number]
  | (typeof VALKEY_9)[number]
  | (typeof TLS_CERT)[number];

/** Every such field. */
const laterFields: ReadonlySet<string> = new Set<LaterField>([
  ...REDIS_8_0,
  ...REDIS_ALONE,
  ...REDIS_8_2,
  ...REDIS_8_6,
  ...PREFETCH,
  ...VALKEY_ALONE,
  ...VALKEY_9,
  ...TLS_CERT,
]);

const redis82 = [...REDIS_8_0, ...REDIS_ALONE, ...REDIS_8_2, ...PREFETCH];
const valkey81 = [...REDIS_8_0, ...PREFETCH, ...VALKEY_ALONE];

/** The later fields that each server has. */
export const infoFields = {
  redis70: new Set<LaterField>(),
  redis80: new Set<LaterField>([...REDIS_8_0, ...REDIS_ALONE]),
  redis82: new Set<LaterField>(redis82),
  redis86: new Set<LaterField>([...redis82, ...REDIS_8_6, ...TLS_CERT]),
  valkey81: new Set<LaterField>(valkey81),
  valkey9: new Set<LaterField>([...valkey81, ...VALKEY_9, ...TLS_CERT]),
};

/** True when a server with these later fields shows the field. */
export function shows(fields: ReadonlySet<LaterField>, name: string): boolean {
  return !laterFields.has(name) || fields.has(name as LaterField);
}
