/**
 * The configuration parameters, with redis.conf's names, types, defaults and bounds. CONFIG GET and SET, the CLI's
 * flags and startServer's options derive from this table
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/config/).
 */
import type { Dialect } from '../dialects/dialect.ts';
import { existsIn, type Since } from '../dialects/since.ts';
import {
  choice,
  eventClasses,
  flag,
  INT,
  integer,
  memory,
  memoryOrShare,
  outputLimits,
  percentages,
  permissions,
  savePoints,
  text,
  UINT64,
} from './parameters.ts';

/** Parameters that have the same effect as in Redis. */
const effective = {
  port: integer(6379, 0, 65535, true),
  bind: text('127.0.0.1', true),
  unixsocket: text('', true),
  databases: integer(16, 1, INT, true),
  requirepass: text(''),
  'slowlog-log-slower-than': integer(10_000, -1),
  'slowlog-max-len': integer(128),
  'latency-monitor-threshold': integer(0),
  'latency-tracking': flag(true),
  'latency-tracking-info-percentiles': percentages('50 99 99.9'),
  'tracking-table-max-keys': integer(1_000_000),
  'acl-pubsub-default': choice('resetchannels', ['allchannels', 'resetchannels']),
  'acllog-max-len': integer(128),
  maxclients: integer(10000, 1, 2 ** 32 - 1),
  timeout: integer(0, 0, INT),
  maxmemory: memory(0, 0, UINT64),
  'maxmemory-policy': choice('noeviction', [
    'volatile-lru',
    'volatile-lfu',
    'volatile-random',
    'volatile-ttl',
    'allkeys-lru',
    'allkeys-lfu',
    'allkeys-random',
    'noeviction',
  ]),
  'maxmemory-clients': memoryOrShare('0'),
  'maxmemory-samples': integer(5, 1, INT),
  'lfu-log-factor': integer(10, 0, INT),
  'lfu-decay-time': integer(1, 0, INT),
  'replica-ignore-maxmemory': flag(true),
  'lazyfree-lazy-eviction': flag(false),
  'lazyfree-lazy-expire': flag(false),
  'lazyfree-lazy-server-del': flag(false),
  'enable-debug-command': choice('yes', ['no', 'yes', 'local'], true),
  hz: integer(10, 0, INT, false, (value) => Math.max(1, Math.min(value, 500))),
  logfile: text('', true),
  loglevel: choice('notice', ['debug', 'verbose', 'notice', 'warning']),
  'protected-mode': flag(true),
  'stop-writes-on-bgsave-error': flag(true),
  unixsocketperm: permissions(),
  // V8's longest string is 24 bytes shorter than Redis' own maximum.
  'proto-max-bulk-len': memory(512 * 1024 ** 2, 1024 ** 2),
  'client-output-buffer-limit': outputLimits(),
  'client-query-buffer-limit': memory(1024 ** 3, 1024 ** 2),
  'notify-keyspace-events': eventClasses(),
  'busy-reply-threshold': integer(5000),
  appendfsync: choice('everysec', ['everysec', 'always', 'no']),
  save: savePoints(),
  dir: text('.', 'protected'),
  dbfilename: text('dump.rdb', 'protected'),
  'replica-read-only': flag(true),
  'replica-serve-stale-data': flag(true),
  'replica-priority': integer(100, 0, INT),
  'min-replicas-to-write': integer(0, 0, INT),
  'min-replicas-max-lag': integer(10, 0, INT),
  'repl-backlog-size': memory(1024 ** 2, 1),
  'repl-backlog-ttl': integer(3600),
  'repl-diskless-sync': flag(true),
  'repl-diskless-sync-delay': integer(0, 0, INT),
  'repl-diskless-sync-max-replicas': integer(0, 0, INT),
  'repl-timeout': integer(60, 1, INT),
  'repl-ping-replica-period': integer(10, 1, INT),
  'replica-announce-ip': text(''),
  'replica-announce-port': integer(0, 0, 65535),
  masteruser: text(''),
  masterauth: text(''),
  'hash-max-listpack-entries': integer(512),
  'hash-max-listpack-value': memory(64),
  'set-max-intset-entries': integer(512),
  'set-max-listpack-entries': integer(128),
  'set-max-listpack-value': memory(64),
  'zset-max-listpack-entries': integer(128),
  'zset-max-listpack-value': memory(64),
  'list-max-listpack-size': integer(-2, -INT - 1, INT),
  'hll-sparse-max-bytes': memory(3000),
  'stream-node-max-bytes': memory(4096),
  'stream-node-max-entries': integer(100),
  'stream-idmp-duration': integer(100, 1, 86_400),
  'stream-idmp-maxsize': integer(100, 1, 10_000),
};

/**
 * Parameters that tune how Redis works internally and change no reply. They are accepted for compatibility and have no
 * effect here. The parameters of the append-only file are among them, because there is no such file.
 */
export const tuning = {
  'maxmemory-eviction-tenacity': integer(10, 0, 100),
  'active-expire-effort': integer(1, 1, 10),
  activerehashing: flag(true),
  'aof-load-truncated': flag(true),
  'aof-use-rdb-preamble': flag(true),
  appenddirname: text('appendonlydir', true),
  appendfilename: text('appendonly.aof', true),
  'auto-aof-rewrite-min-size': memory(64 * 1024 ** 2),
  'auto-aof-rewrite-percentage': integer(100, 0, INT),
  'dynamic-hz': flag(true),
  'io-threads': integer(1, 1, 128, true),
  'lazyfree-lazy-user-del': flag(false),
  'lazyfree-lazy-user-flush': flag(false),
  'list-compress-depth': integer(0, 0, INT),
  'no-appendfsync-on-rewrite': flag(false),
  rdbchecksum: flag(true, true),
  rdbcompression: flag(true),
  'repl-disable-tcp-nodelay': flag(false),
  'repl-diskless-load': choice('disabled', ['disabled', 'on-empty-db', 'swapdb']),
  'replica-lazy-flush': flag(false),
  'sanitize-dump-payload': choice('no', ['no', 'yes', 'clients']),
  'shutdown-timeout': integer(10, 0, INT),
  'aof-rewrite-incremental-fsync': flag(true),
  'aof-timestamp-enabled': flag(false),
  'always-show-logo': flag(false, true),
  'crash-log-enabled': flag(true),
  'crash-memcheck-enabled': flag(true),
  'disable-thp': flag(true, true),
  'io-threads-do-reads': flag(false, true),
  'jemalloc-bg-thread': flag(true),
  'rdb-del-sync-files': flag(false),
  'rdb-save-incremental-fsync': flag(true),
  'set-proc-title': flag(true, true),
  'proc-title-template': text('{title} {listen-addr} {server-mode}'),
  'oom-score-adj-values': text('0 200 800'),
  'tcp-backlog': integer(511, 0, INT, true),
  'tcp-keepalive': integer(300, 0, INT),
  'key-load-delay': integer(0, -INT - 1, INT),
  'rdb-key-save-delay': integer(0, -INT - 1, INT),
  'loading-process-events-interval-bytes': integer(2 * 1024 ** 2, 1024, INT),
  'use-exit-on-panic': flag(false),
  'watchdog-period': integer(0, 0, INT, false, (value) => (value === 0 ? 0 : Math.max(value, 200))),
};

/** The parameters that CONFIG GET returns only for their full name: they are made for Redis' own tests. */
export const hidden: ReadonlySet<string> = new Set<keyof typeof tuning>([
  'key-load-delay',
  'rdb-key-save-delay',
  'loading-process-events-interval-bytes',
  'use-exit-on-panic',
  'watchdog-period',
]);

/** Parameters with values that lostlock does not implement (`refusals.ts`). */
const limited = {
  aclfile: text('', true),
  activedefrag: flag(
    false,
    false,
    'Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc like the one shipped by default with the Redis source distribution',
  ),
  daemonize: flag(false, true),
  'enable-module-command': choice('no', ['no', 'yes', 'local'], true),
  'enable-protected-configs': choice('no', ['no', 'yes', 'local'], true),
  'oom-score-adj': choice('no', ['no', 'yes', 'relative', 'absolute']),
  pidfile: text('', true),
  supervised: choice('no', ['upstart', 'systemd', 'auto', 'no'], true),
  'syslog-enabled': flag(false, true),
  appendonly: flag(false),
  'cluster-enabled': flag(false, true),
};

/** All parameters. */
export const parameters = { ...effective, ...tuning, ...limited };

/** Since when servers have the parameters that Redis 7.0 has not. */
const SINCE: { readonly [Name in keyof typeof parameters]?: Since } = {
  'set-max-listpack-entries': '7.2.0',
  'set-max-listpack-value': '7.2.0',
  'stream-idmp-duration': '8.6.0',
  'stream-idmp-maxsize': '8.6.0',
};

/** True when the dialect's server has the parameter. */
export function hasParameter(name: keyof typeof parameters, dialect: Dialect): boolean {
  return existsIn(SINCE[name] ?? '1.0.0', dialect);
}

/** Older names that CONFIG and the command line still accept. */
export const aliases: Record<string, keyof typeof parameters> = {
  'lua-time-limit': 'busy-reply-threshold',
  'slave-announce-ip': 'replica-announce-ip',
  'slave-announce-port': 'replica-announce-port',
  'slave-lazy-flush': 'replica-lazy-flush',
  'slave-read-only': 'replica-read-only',
  'slave-ignore-maxmemory': 'replica-ignore-maxmemory',
  'repl-ping-slave-period': 'repl-ping-replica-period',
  'slave-serve-stale-data': 'replica-serve-stale-data',
  'slave-priority': 'replica-priority',
  'min-slaves-to-write': 'min-replicas-to-write',
  'min-slaves-max-lag': 'min-replicas-max-lag',
  'hash-max-ziplist-entries': 'hash-max-listpack-entries',
  'hash-max-ziplist-value': 'hash-max-listpack-value',
  'zset-max-ziplist-entries': 'zset-max-listpack-entries',
  'zset-max-ziplist-value': 'zset-max-listpack-value',
  'list-max-ziplist-size': 'list-max-listpack-size',
};

/** The values of all parameters, by name. */
export type Settings = { -readonly [K in keyof typeof parameters]: (typeof parameters)[K]['initial'] };

/** Returns a new set of defaults. */
export function defaultSettings(): Settings {
  const entries = Object.entries(parameters).map(([name, { initial }]) => [name, initial]);
  return Object.fromEntries(entries) as Settings;
}
