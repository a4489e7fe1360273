/** Which parameters each server has, and what it accepts for those that changed. */
import { type Bytes, parseInteger } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { existsIn, type Since } from '../dialects/since.ts';
import {
  BadSetting,
  choice,
  directory,
  eventClasses,
  flag,
  integer,
  nodeName,
  ODD_SINCE_VALKEY_9,
  parseMemory,
  shutdownWords,
  UINT64,
} from './parameters.ts';
import { aliases, parameters, type Settings } from './settings.ts';

type ParameterName = keyof Settings;

/** Since when servers have the parameters that Redis 7.0 has not. */
const SINCE: { readonly [N in ParameterName]?: Since } = {
  'active-defrag-cycle-us': { valkey: '8.1.0' },
  'aof-load-corrupt-tail-max-size': { redis: '8.6.0' },
  'cluster-announce-client-port': { valkey: '9.0.0' },
  'cluster-announce-client-tls-port': { valkey: '9.0.0' },
  'cluster-config-save-behavior': { valkey: '9.0.0' },
  'cluster-databases': { valkey: '9.0.0' },
  'cluster-message-gossip-perc': { valkey: '9.0.0' },
  'cluster-ping-interval': { redis: '8.0.0', valkey: '8.0.0' },
  'cluster-slot-migration-handoff-max-lag-bytes': { redis: '8.4.0' },
  'cluster-slot-migration-log-max-len': { valkey: '9.0.0' },
  'cluster-slot-migration-max-archived-tasks': { redis: '8.4.0' },
  'cluster-slot-migration-sync-buffer-drain-timeout': { redis: '8.4.0' },
  'cluster-slot-migration-write-pause-timeout': { redis: '8.4.0' },
  'debug-context': { valkey: '8.0.0' },
  'enable-debug-assert': { valkey: '8.0.0' },
  'events-per-io-thread': { valkey: '8.0.0' },
  'hash-seed': { valkey: '9.0.0' },
  'io-threads-always-active': { valkey: '9.0.0' },
  'key-memory-histograms': { redis: '8.6.0' },
  'lazyexpire-nested-arbitrary-keys': { redis: '8.2.0' },
  lookahead: { redis: '8.4.0' },
  'lua-enable-insecure-api': { valkey: '8.0.0' },
  'min-io-threads-avoid-copy-reply': { valkey: '9.0.0' },
  'min-string-size-avoid-copy-reply': { valkey: '9.0.0' },
  'min-string-size-avoid-copy-reply-threaded': { valkey: '9.0.0' },
  mptcp: { valkey: '9.0.0' },
  'repl-mptcp': { valkey: '9.0.0' },
  'rdma-bind': { valkey: '8.0.0' },
  'rdma-completion-vector': { valkey: '8.0.0' },
  'rdma-port': { valkey: '8.0.0' },
  'rdma-rx-size': { valkey: '8.0.0' },
  'repl-rdb-channel': { redis: '8.0.0' },
  'slot-migration-max-failover-repl-bytes': { valkey: '9.0.0' },
  'tls-auth-clients-user': { redis: '8.6.0', valkey: '9.0.0' },
  'tls-auto-reload-interval': { valkey: '9.0.0' },
  'vset-force-single-threaded-execution': { redis: '8.2.0' },
  'cluster-announce-human-nodename': '7.2.0',
  'cluster-announce-client-ipv4': { valkey: '8.1.0' },
  'cluster-announce-client-ipv6': { valkey: '8.1.0' },
  'cluster-slot-stats-enabled': { redis: '8.2.0', valkey: '8.0.0' },
  'cluster-compatibility-sample-ratio': { redis: '8.0.0' },
  'cluster-manual-failover-timeout': { valkey: '8.1.0' },
  'cluster-blacklist-ttl': { valkey: '8.1.0' },
  'set-max-listpack-entries': '7.2.0',
  'set-max-listpack-value': '7.2.0',
  'stream-idmp-duration': '8.6.0',
  'stream-idmp-maxsize': '8.6.0',
  'availability-zone': { valkey: '8.1.0' },
  'dual-channel-replication-enabled': { valkey: '8.0.0' },
  'extended-redis-compatibility': { valkey: '8.0.0' },
  'hide-user-data-from-log': { redis: '7.4.0', valkey: '8.0.0' },
  'import-mode': { valkey: '8.1.0' },
  'locale-collate': '7.2.0',
  'log-format': { valkey: '8.1.0' },
  'log-timestamp-format': { valkey: '8.1.0' },
  'max-new-connections-per-cycle': { redis: '7.4.0', valkey: '8.0.0' },
  'max-new-tls-connections-per-cycle': { redis: '7.4.0', valkey: '8.0.0' },
  'prefetch-batch-max-size': { redis: '8.2.0', valkey: '8.1.0' },
  'rdb-version-check': { valkey: '8.0.0' },
  'replica-full-sync-buffer-limit': '8.0.0',
  unixsocketgroup: { valkey: '8.0.0' },
  'commandlog-request-larger-than': { valkey: '8.1.0' },
  'commandlog-large-request-max-len': { valkey: '8.1.0' },
  'commandlog-reply-larger-than': { valkey: '8.1.0' },
  'commandlog-large-reply-max-len': { valkey: '8.1.0' },
};

/** Since when servers no longer have a parameter. */
const GONE: { readonly [N in ParameterName]?: Since } = {
  'dynamic-hz': { valkey: '8.1.0' },
  'events-per-io-thread': { valkey: '9.0.0' },
  'io-threads-do-reads': { redis: '8.0.0', valkey: '8.1.0' },
  'sanitize-dump-payload': { valkey: '9.0.0' },
};

/** True when the dialect's server has the parameter. */
export function hasParameter(name: ParameterName, dialect: Dialect): boolean {
  const gone = GONE[name];
  return existsIn(SINCE[name] ?? '1.0.0', dialect) && (gone === undefined || !existsIn(gone, dialect));
}

/** The parameters that CONFIG GET returns for their full names only: they are made for the servers' own tests. */
const HIDDEN: ReadonlySet<string> = new Set<ParameterName>([
  'cluster-message-gossip-perc',
  'cluster-ping-interval',
  'cluster-slot-migration-max-archived-tasks',
  'cluster-slot-migration-sync-buffer-drain-timeout',
  'debug-context',
  'enable-debug-assert',
  'events-per-io-thread',
  'io-threads-always-active',
  'key-load-delay',
  'lazyexpire-nested-arbitrary-keys',
  'loading-process-events-interval-bytes',
  'lua-enable-deprecated-api',
  'lua-enable-insecure-api',
  'min-io-threads-avoid-copy-reply',
  'min-string-size-avoid-copy-reply',
  'min-string-size-avoid-copy-reply-threaded',
  'rdb-key-save-delay',
  'repl-rdb-channel',
  'use-exit-on-panic',
  'watchdog-period',
]);

/** Since when servers hide a parameter that others show. */
const HIDDEN_SINCE: { readonly [N in ParameterName]?: Since } = {
  'aof-disable-auto-gc': '7.2.0',
  'prefetch-batch-max-size': { redis: '8.2.0' },
};

/** True when CONFIG GET does not list the parameter. */
export function isHidden(name: ParameterName, dialect: Dialect): boolean {
  const since = HIDDEN_SINCE[name];
  return HIDDEN.has(name) || (since !== undefined && existsIn(since, dialect));
}

/** The further names that only some servers accept. */
const ALIASES_SINCE: Record<string, Since> = {
  'aof-rewrite-cpulist': { redis: '8.0.0', valkey: '8.0.0' },
  'bgsave-cpulist': { redis: '8.0.0', valkey: '8.0.0' },
  'bio-cpulist': { redis: '8.0.0', valkey: '8.0.0' },
  'server-cpulist': { redis: '8.0.0', valkey: '8.0.0' },
  'commandlog-execution-slower-than': { valkey: '8.1.0' },
  'commandlog-slow-execution-max-len': { valkey: '8.1.0' },
  primaryauth: { valkey: '8.0.0' },
  primaryuser: { valkey: '8.0.0' },
};

const names = new WeakMap<Dialect, ReadonlyMap<Bytes, ParameterName>>();

/** The names that the dialect's server accepts, in lower case, and the parameters that they name. Made once for a dialect. */
export function parameterNames(dialect: Dialect): ReadonlyMap<Bytes, ParameterName> {
  let known = names.get(dialect);
  if (known === undefined) {
    const own = (Object.keys(parameters) as ParameterName[]).map((name) => [name, name] as const);
    const further = Object.entries(aliases).filter(([alias]) =>
      existsIn(ALIASES_SINCE[alias] ?? '1.0.0', dialect),
    );
    known = new Map([...own, ...further].filter(([, name]) => hasParameter(name, dialect)));
    names.set(dialect, known);
  }
  return known;
}

const LEVELS = ['debug', 'verbose', 'notice', 'warning', 'nothing'];
const DEFRAGMENTATION =
  'Active defragmentation cannot be enabled: it requires a server compiled with a modified Jemalloc like the one shipped by default with the source distribution';

/** The error of `cluster-slot-stats-enabled` where it takes the figures to count; lostlock counts all or none. */
const STATISTICS = 'argument(s) must be one of the following: no, yes, cpu, net, mem';
/** The policies of Redis 8.6. */
const POLICIES = [
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
  'volatile-lrm',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'allkeys-lrm',
  'noeviction',
];

/** What later servers accept otherwise, oldest first. */
const VARIANTS: { readonly [N in ParameterName]?: readonly { since: Since; as: (typeof parameters)[N] }[] } =
  {
    activedefrag: [
      { since: { valkey: '8.0.0' }, as: flag(false, false, DEFRAGMENTATION) },
      { since: '8.2.0', as: flag(false) },
    ],
    loglevel: [{ since: { redis: '8.0.0', valkey: '8.0.0' }, as: choice('notice', LEVELS) }],
    'maxmemory-samples': [{ since: { redis: '8.0.0', valkey: '8.0.0' }, as: integer(5, 1, 64) }],
    'notify-keyspace-events': [{ since: '8.2.0', as: eventClasses('oc') }],
    'repl-diskless-load': [
      {
        since: { redis: '8.6.0' },
        as: choice('disabled', ['disabled', 'on-empty-db', 'swapdb', 'flushdb']),
      },
      {
        since: { valkey: '8.0.0' },
        as: choice('disabled', ['disabled', 'on-empty-db', 'swapdb', 'flush-before-load']),
      },
    ],
    'cluster-announce-human-nodename': [{ since: { valkey: '9.0.0' }, as: nodeName(ODD_SINCE_VALKEY_9) }],
    'cluster-announce-ip': [
      {
        since: { valkey: '9.0.0' },
        as: nodeName(ODD_SINCE_VALKEY_9, 'cluster-announce-ip contains invalid character'),
      },
    ],
    'cluster-slot-stats-enabled': [
      { since: { redis: '8.6.0' }, as: flag(false, false, undefined, STATISTICS) },
    ],
    dir: [{ since: { valkey: '8.0.0' }, as: directory("dir can't be empty") }],
    'io-threads': [{ since: { valkey: '9.0.0' }, as: integer(1, 1, 256) }],
    'log-format': [{ since: { valkey: '9.0.0' }, as: choice('legacy', ['legacy', 'logfmt', 'json']) }],
    'maxmemory-policy': [{ since: { redis: '8.6.0' }, as: choice('noeviction', POLICIES) }],
    'shutdown-on-sigint': [{ since: { valkey: '9.0.0' }, as: shutdownWords(['safe', 'failover']) }],
    'shutdown-on-sigterm': [{ since: { valkey: '9.0.0' }, as: shutdownWords(['safe', 'failover']) }],
    'lua-enable-deprecated-api': [{ since: { valkey: '8.0.0' }, as: flag(false, 'protected') }],
    'tls-auth-clients-user': [{ since: { valkey: '9.0.0' }, as: choice('off', ['CN', 'URI', 'off']) }],
    'set-max-listpack-value': [{ since: '7.2.0', as: integer(64) }],
  };

/** The parameter as the dialect's server has it. */
export function parameterIn(name: ParameterName, dialect: Dialect): (typeof parameters)[ParameterName] {
  const fitting = VARIANTS[name]?.filter(({ since }) => existsIn(since, dialect)) ?? [];
  return fitting.at(-1)?.as ?? parameters[name];
}

/** Parameters that servers keep in unsigned numbers of 64 bits, or 32. */
const UNSIGNED: ReadonlySet<string> = new Set<ParameterName>([
  'active-defrag-ignore-bytes',
  'client-query-buffer-limit',
  'cluster-link-sendbuf-limit',
  'hash-max-listpack-entries',
  'hash-max-listpack-value',
  'hll-sparse-max-bytes',
  'max-new-connections-per-cycle',
  'max-new-tls-connections-per-cycle',
  'maxmemory',
  'set-max-intset-entries',
  'set-max-listpack-entries',
  'set-max-listpack-value',
  'stream-node-max-bytes',
  'tracking-table-max-keys',
  'zset-max-listpack-entries',
  'zset-max-listpack-value',
]);

/** Parameters that take a plain number, without a unit. */
const NUMBERS = /(entries|keys|cycle|^set-max-listpack-value)$/;

/** Reads a value as the dialect's server does. */
export function readSetting(
  name: ParameterName,
  text: Bytes,
  dialect: Dialect,
): Settings[ParameterName] | BadSetting {
  const isExact = dialect.settingNumbers === 'in base 10, within 64 bits';
  if (isExact && name === 'latency-tracking-info-percentiles' && /x/i.test(text)) {
    return new BadSetting('Invalid latency-tracking-info-percentiles parameters');
  }
  // A size that is too large counts as the largest, or is none.
  const isSize = parameterIn(name, dialect).allowed?.startsWith('a number of bytes') === true;
  if (isExact && isSize && (parseMemory(text) ?? 0) >= UINT64)
    return new BadSetting('argument must be a memory value');
  const value = parameterIn(name, dialect).read(text);
  if (dialect.unsignedSettings === 'within bounds' || !UNSIGNED.has(name)) return value;
  const number = NUMBERS.test(name) ? parseInteger(text) : undefined;
  // A size from 2^63 on is a negative number of 64 bits.
  const negative = NUMBERS.test(name)
    ? number !== undefined && number < 0
    : (parseMemory(text) ?? 0) > 2 ** 63;
  return negative ? new BadSetting('argument must be greater or equal to 0') : value;
}
