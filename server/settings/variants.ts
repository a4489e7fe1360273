/** Which parameters each server has, and what it accepts for those that changed. */
import { type Bytes, parseInteger } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { existsIn, type Since } from '../dialects/since.ts';
import { BadSetting, choice, eventClasses, flag, integer, parseMemory } from './parameters.ts';
import { aliases, parameters, type Settings } from './settings.ts';

type ParameterName = keyof Settings;

/** Since when servers have the parameters that Redis 7.0 has not. */
const SINCE: { readonly [N in ParameterName]?: Since } = {
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
  'prefetch-batch-max-size': { valkey: '8.1.0' },
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
  'io-threads-do-reads': { redis: '8.0.0', valkey: '8.1.0' },
  'sanitize-dump-payload': { valkey: '9.0.0' },
};

/** True when the dialect's server has the parameter. */
export function hasParameter(name: ParameterName, dialect: Dialect): boolean {
  const gone = GONE[name];
  return existsIn(SINCE[name] ?? '1.0.0', dialect) && (gone === undefined || !existsIn(gone, dialect));
}

/** The further names that only some servers accept. */
const ALIASES_SINCE: Record<string, Since> = {
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
        since: { valkey: '8.0.0' },
        as: choice('disabled', ['disabled', 'on-empty-db', 'swapdb', 'flush-before-load']),
      },
    ],
    'set-max-listpack-value': [{ since: '7.2.0', as: integer(64) }],
  };

/** The parameter as the dialect's server has it. */
export function parameterIn(name: ParameterName, dialect: Dialect): (typeof parameters)[ParameterName] {
  const fitting = VARIANTS[name]?.filter(({ since }) => existsIn(since, dialect)) ?? [];
  return fitting.at(-1)?.as ?? parameters[name];
}

/** Parameters that servers keep in unsigned numbers of 64 bits, or 32. */
const UNSIGNED: ReadonlySet<string> = new Set<ParameterName>([
  'client-query-buffer-limit',
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
  const value = parameterIn(name, dialect).read(text);
  if (dialect.unsignedSettings === 'within bounds' || !UNSIGNED.has(name)) return value;
  const number = NUMBERS.test(name) ? parseInteger(text) : undefined;
  // A size from 2^63 on is a negative number of 64 bits.
  const negative = NUMBERS.test(name)
    ? number !== undefined && number < 0
    : (parseMemory(text) ?? 0) > 2 ** 63;
  return negative ? new BadSetting('argument must be greater or equal to 0') : value;
}
