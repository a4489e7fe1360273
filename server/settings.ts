/**
 * The configuration parameters, by redis.conf's names: type, default, bounds. CONFIG GET and SET, the CLI's flags and
 * startServer's options all derive from this table.
 */
import {
  choice,
  eventClasses,
  flag,
  integer,
  memory,
  outputLimits,
  percentages,
  text,
} from './parameters.ts';

/** Every parameter that means something here. */
export const parameters = {
  port: integer(6379, 0, 65535, true),
  bind: text('127.0.0.1', true),
  unixsocket: text('', true),
  databases: integer(16, 1, 2 ** 31 - 1, true),
  requirepass: text(''),
  'slowlog-log-slower-than': integer(10_000, -1),
  'slowlog-max-len': integer(128),
  'latency-monitor-threshold': integer(0),
  'latency-tracking': flag(true),
  'latency-tracking-info-percentiles': percentages('50 99 99.9'),
  'tracking-table-max-keys': integer(1_000_000),
  'acl-pubsub-default': choice('resetchannels', ['allchannels', 'resetchannels']),
  'acllog-max-len': integer(128),
  aclfile: text('', true),
  maxclients: integer(10000, 1, 2 ** 32 - 1),
  timeout: integer(0, 0, 2 ** 31 - 1),
  maxmemory: memory(0),
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
  'maxmemory-samples': integer(5, 1, 2 ** 31 - 1),
  'lfu-log-factor': integer(10, 0, 2 ** 31 - 1),
  'lfu-decay-time': integer(1, 0, 2 ** 31 - 1),
  'replica-ignore-maxmemory': flag(true),
  'lazyfree-lazy-eviction': flag(false),
  // V8's longest string is 24 bytes short of Redis' own maximum.
  'proto-max-bulk-len': memory(512 * 1024 ** 2, 1024 ** 2),
  'client-output-buffer-limit': outputLimits(),
  'client-query-buffer-limit': memory(1024 ** 3, 1024 ** 2),
  'notify-keyspace-events': eventClasses(),
  'busy-reply-threshold': integer(5000),
  appendonly: flag(false),
  appendfsync: choice('everysec', ['everysec', 'always', 'no']),
  save: text(''),
  dir: text('.', 'protected'),
  dbfilename: text('dump.rdb', 'protected'),
  'replica-read-only': flag(true),
  'replica-serve-stale-data': flag(true),
  'replica-priority': integer(100),
  'min-replicas-to-write': integer(0),
  'min-replicas-max-lag': integer(10),
  'repl-backlog-size': memory(1024 ** 2, 1),
  'repl-backlog-ttl': integer(3600),
  'repl-diskless-sync': flag(true),
  'repl-diskless-sync-delay': integer(0),
  'repl-diskless-sync-max-replicas': integer(0),
  'repl-timeout': integer(60, 1),
  'repl-ping-replica-period': integer(10, 1),
  masteruser: text(''),
  masterauth: text(''),
  'cluster-enabled': flag(false, true),
  'hash-max-listpack-entries': integer(512),
  'hash-max-listpack-value': memory(64),
  'set-max-intset-entries': integer(512),
  'zset-max-listpack-entries': integer(128),
  'zset-max-listpack-value': memory(64),
  'list-max-listpack-size': integer(-2, -5),
  'hll-sparse-max-bytes': memory(3000),
  'stream-node-max-bytes': memory(4096),
  'stream-node-max-entries': integer(100),
};

/** Older names that CONFIG and the command line still take. */
export const aliases: Record<string, keyof typeof parameters> = {
  'lua-time-limit': 'busy-reply-threshold',
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

export type Settings = { -readonly [K in keyof typeof parameters]: (typeof parameters)[K]['initial'] };

/** A fresh set of defaults. */
export function defaultSettings(): Settings {
  const entries = Object.entries(parameters).map(([name, { initial }]) => [name, initial]);
  return Object.fromEntries(entries) as Settings;
}
