/** What the real servers said about every parameter of redis.conf. `record.ts` has asked them. */

/** Where the recording is. */
export const FILE = 'test/golden/parameters.json';

/** A parameter of a server. DIR is the directory in which it ran. */
export interface Recorded {
  readonly name: string;
  /** What CONFIG GET replied on a server without a line for it; absent where that depends on the machine. */
  readonly value?: string;
  /** The line of redis.conf that sets this value; absent if no line does. */
  readonly line?: string;
  /** A line with another value that the server accepts, and what CONFIG GET replies then; absent if none was found. */
  readonly other?: { readonly line: string; readonly shown: string };
  /** The reply to CONFIG SET with the default. */
  readonly set: string;
}

/** What a server said. */
export interface Recording {
  readonly parameters: readonly Recorded[];
  /** Names that it takes in a file and ignores. */
  readonly ignored: readonly string[];
  /** The lines of the redis.conf that comes with the server, also those in comments, as far as the server accepts them. */
  readonly lines: readonly string[];
}

/** The parameters that CONFIG GET returns for their full names only, in one server or another. */
export const HIDDEN = [
  'aof-disable-auto-gc',
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
  'prefetch-batch-max-size',
  'rdb-key-save-delay',
  'repl-rdb-channel',
  'use-exit-on-panic',
  'watchdog-period',
];

/** Names that a server may take and ignore: parameters of older servers. */
export const IGNORED = [
  'list-max-ziplist-entries',
  'list-max-ziplist-value',
  'lua-replicate-commands',
  'vm-enabled',
  'hash-max-zipmap-entries',
  'glueoutputbuf',
  'io-threads-do-reads',
  'dynamic-hz',
  'sanitize-dump-payload',
];
