/**
 * Parameters that tune how Redis works internally, or how it fits into its machine, and change no reply. They are accepted for
 * compatibility and have no effect here. docs/parameters.md gives the reason of each group.
 */
import { quoted } from '../../protocol/inline.ts';
import { choice, flag, INT, integer, memory, scores, text, UINT64 } from './parameters.ts';

const threads = {
  'io-threads': integer(1, 1, 128, true),
  'io-threads-do-reads': flag(false, true),
  'io-threads-always-active': flag(false),
  'events-per-io-thread': integer(2, 0, INT),
  'min-io-threads-avoid-copy-reply': integer(7, 0, INT),
  'min-string-size-avoid-copy-reply': integer(16_384, 0, INT),
  'min-string-size-avoid-copy-reply-threaded': integer(65_536, 0, INT),
  'prefetch-batch-max-size': integer(16, 0, 128),
  lookahead: integer(16, 1, INT),
  'vset-force-single-threaded-execution': flag(false),
  server_cpulist: text('', true),
  bio_cpulist: text('', true),
  aof_rewrite_cpulist: text('', true),
  bgsave_cpulist: text('', true),
};

const memoryLayout = {
  activerehashing: flag(true),
  'active-defrag-cycle-max': integer(25, 1, 99),
  'active-defrag-cycle-min': integer(1, 1, 99),
  'active-defrag-cycle-us': integer(500, 0, 100_000),
  'active-defrag-ignore-bytes': memory(100 * 1024 ** 2, 1),
  'active-defrag-max-scan-fields': integer(1000, 1),
  'active-defrag-threshold-lower': integer(10, 0, 1000),
  'active-defrag-threshold-upper': integer(100, 0, 1000),
  'active-expire-effort': integer(1, 1, 10),
  'disable-thp': flag(true, true),
  'dynamic-hz': flag(true),
  'hash-seed': text('', true),
  'jemalloc-bg-thread': flag(true),
  'lazyfree-lazy-user-del': flag(false),
  'list-compress-depth': integer(0, 0, INT),
  'maxmemory-eviction-tenacity': integer(10, 0, 100),
  'replica-lazy-flush': flag(false),
};

const files = {
  'aof-rewrite-incremental-fsync': flag(true),
  'key-load-delay': integer(0, -INT - 1, INT),
  'loading-process-events-interval-bytes': integer(2 * 1024 ** 2, 1024, INT),
  'rdb-del-sync-files': flag(false),
  'rdb-save-incremental-fsync': flag(true),
  rdbchecksum: flag(true, true),
  rdbcompression: flag(true),
  'repl-diskless-load': choice('disabled', ['disabled', 'on-empty-db', 'swapdb']),
  'replica-ignore-disk-write-errors': flag(false),
  'sanitize-dump-payload': choice('no', ['no', 'yes', 'clients']),
};

const connections = {
  'cluster-link-sendbuf-limit': memory(0, 0, UINT64),
  'dual-channel-replication-enabled': flag(false),
  'max-new-connections-per-cycle': integer(10, 1, 1000),
  'max-new-tls-connections-per-cycle': integer(1, 1, 1000),
  mptcp: flag(false, true),
  'rdma-bind': text('', false),
  'rdma-completion-vector': integer(-1, -1, 1024, true),
  'rdma-rx-size': integer(1024 ** 2, 65_536, 16 * 1024 ** 2, true),
  'repl-disable-tcp-nodelay': flag(false),
  'repl-mptcp': flag(false, true),
  'repl-rdb-channel': flag(true),
  'replica-full-sync-buffer-limit': memory(0),
  'socket-mark-id': integer(0, 0, 2 ** 32 - 1, true),
  'tcp-backlog': integer(511, 0, INT, true),
  'tcp-keepalive': integer(300, 0, INT),
  'tls-session-cache-size': integer(20480, 0, INT),
  'tls-session-cache-timeout': integer(300, 0, INT),
  'tls-session-caching': flag(true),
};

/** The words of `syslog-facility`. */
const FACILITIES = ['user', ...Array.from({ length: 8 }, (_, i) => `local${i}`)];

const machine = {
  'always-show-logo': flag(false, true),
  'crash-log-enabled': flag(true),
  'crash-memcheck-enabled': flag(true),
  'debug-context': text(''),
  'hide-user-data-from-log': flag(false),
  'ignore-warnings': text('', false, quoted),
  'oom-score-adj': choice('no', ['no', 'yes', 'relative', 'absolute'], false, { relative: 'yes' }),
  'oom-score-adj-values': scores('oom-score-adj-values', '0 200 800'),
  'proc-title-template': text('{title} {listen-addr} {server-mode}'),
  'set-proc-title': flag(true, true),
  'shutdown-timeout': integer(10, 0, INT),
  supervised: choice('no', ['upstart', 'systemd', 'auto', 'no'], true),
  'syslog-enabled': flag(false, true),
  'syslog-facility': choice('local0', FACILITIES, true),
  'syslog-ident': text('redis', true),
  'use-exit-on-panic': flag(false),
  'watchdog-period': integer(0, 0, INT, false, (value) => (value === 0 ? 0 : Math.max(value, 200))),
};

const clusters = {
  'cluster-config-save-behavior': choice('sync', ['sync', 'best-effort']),
  'cluster-message-gossip-perc': integer(10, 1, 100),
  'cluster-ping-interval': integer(0),
  'cluster-slot-migration-handoff-max-lag-bytes': memory(1024 ** 2),
  'cluster-slot-migration-log-max-len': integer(1000),
  'cluster-slot-migration-max-archived-tasks': integer(32, 1, INT),
  'cluster-slot-migration-sync-buffer-drain-timeout': integer(60_000),
  'cluster-slot-migration-write-pause-timeout': integer(10_000),
  'slot-migration-max-failover-repl-bytes': memory(0, -1),
};

/** The groups, each with the reason why it has no effect. */
export const tuningGroups: readonly (readonly [why: string, parameters: object])[] = [
  ['lostlock runs on one thread, and the system chooses its processor', threads],
  ['V8 lays out the memory and frees it, and expired keys are found by their deadlines', memoryLayout],
  [
    'files are read and written in one go, every payload is checked, and a failing disk stops no replica',
    files,
  ],
  ['Node.js opens the connections, and a full sync takes one of them', connections],
  [
    'it is about the process and its machine: lostlock stays an ordinary process, logs to its output or logfile alone, tells no ' +
      'supervisor that it is ready, and waits for no replica when it ends',
    machine,
  ],
  ['lostlock moves slots key by key, and its bus sends what the other nodes need', clusters],
];

/** All of them. */
export const tuning = { ...threads, ...memoryLayout, ...files, ...connections, ...machine, ...clusters };
