/** Commands for the node as a whole (https://redis.io/docs/latest/commands/?group=server). */
import type { Keyspace } from '../../../keyspace/keyspace.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { OK, type Reply, SimpleString, Verbatim } from '../../../protocol/reply.ts';
import { IN_MULTI, SCRIPT } from '../../clients/client.ts';
import { flushesLazily } from '../../data/lazy-free.ts';
import type { Caller, Server } from '../../server.ts';
import { integerBetween } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { refuseInCluster } from './cluster.ts';
import { info } from './info.ts';

/**
 * Removes all keys of the databases. Each key counts as a change.
 * @param first whether clients that cache keys are told so before the reply
 */
export function empty(server: Server, databases: readonly Keyspace[], first = false): void {
  for (const db of databases) {
    db.touchAll();
    server.world.dirty += db.size;
    db.clear();
    server.blocking.signalAll(db);
  }
  if (server.tracking.listens) server.tracking.flushed(first);
}

function flush(client: Caller, argv: Argv<-1>, databases: readonly Keyspace[]): Reply {
  const mode = argv[1] === undefined ? undefined : asciiUpper(argv[1]);
  if (argv.length > 2 || (mode !== undefined && mode !== 'SYNC' && mode !== 'ASYNC')) fail(SYNTAX);
  const { stats, dialect } = client.server;
  const lazily = flushesLazily(client.server, mode);
  const alone = !client.has(IN_MULTI | SCRIPT);
  const waits = !lazily && dialect.syncFlush === 'frees in another thread' && alone;
  if (waits || lazily) for (const { size } of databases) stats.lazyFreed += size;
  // Redis replies when the other thread is done.
  empty(client.server, databases, waits);
  // Propagated even if there was nothing to remove.
  client.server.effects.propagateAs(argv);
  return OK;
}

/** Swaps the contents of two databases. Clients stay connected to their database numbers. */
function swap(server: Server, first: number, second: number): void {
  if (first === second) return;
  const [a, b] = [server.db(first), server.db(second)];
  a.touchAll(b);
  b.touchAll(a);
  a.swapWith(b);
  server.blocking.signalAll(a);
  server.blocking.signalAll(b);
}

/**
 * Reads a database number for SWAPDB: a value that is not a C integer is invalid, one that is too large out of range.
 */
function databaseIndex(text: Bytes, which: string): number {
  const invalid = `ERR invalid ${which} DB index`;
  return integerBetween(text, -(2 ** 31), 2 ** 31 - 1, invalid, invalid);
}

export const serverCommands = defineCommands('server', {
  dbsize: {
    summary: 'Counts the keys of the database.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['readonly', 'fast'],
    categories: ['keyspace'],
    tips: ['request_policy:all_shards', 'response_policy:agg_sum'],
    run: (client) => client.db.size,
  },
  flushall: {
    summary: 'Removes every key of every database.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of keys',
    arity: -1,
    flags: ['write'],
    categories: ['keyspace', 'dangerous'],
    tips: ['request_policy:all_shards', 'response_policy:all_succeeded'],
    databases: 'all',
    run(client, argv) {
      const reply = flush(client, argv, client.server.databases);
      client.server.dumpFile.flushed();
      return reply;
    },
  },
  flushdb: {
    summary: 'Removes every key of the database.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of keys',
    arity: -1,
    flags: ['write'],
    categories: ['keyspace', 'dangerous'],
    tips: ['request_policy:all_shards', 'response_policy:all_succeeded'],
    run: (client, argv) => flush(client, argv, [client.db]),
  },
  swapdb: {
    summary: 'Exchanges two databases.',
    since: '4.0.0',
    complexity: 'O(N) with N the number of clients that watch or block',
    arity: 3,
    flags: ['write', 'fast'],
    categories: ['keyspace', 'dangerous'],
    databases: { named: () => [1, 2], own: false },
    run(client, argv) {
      refuseInCluster(client, 'SWAPDB');
      const first = databaseIndex(argv[1], 'first');
      const second = databaseIndex(argv[2], 'second');
      const last = client.server.databaseCount - 1;
      if (Math.min(first, second) < 0 || Math.max(first, second) > last) fail('ERR DB index is out of range');
      swap(client.server, first, second);
      client.server.world.dirty++;
      return OK;
    },
  },
  time: {
    summary: "Returns the node's time in seconds and microseconds.",
    since: '2.6.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['loading', 'stale', 'fast'],
    categories: [],
    tips: ['nondeterministic_output'],
    run(client) {
      const micros = client.server.micros();
      return [String(Math.floor(micros / 1e6)), String(micros % 1e6)];
    },
  },
  info: {
    summary: 'Describes the node and its statistics.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['loading', 'stale'],
    categories: ['dangerous'],
    tips: ['nondeterministic_output', 'request_policy:all_shards', 'response_policy:special'],
    run: (client, argv) => new Verbatim('txt', info(client.server, argv.slice(1))),
  },
  save: {
    summary: 'Saves the dataset before it answers.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of keys',
    arity: 1,
    flags: ['admin', 'noscript', 'no_async_loading', 'no_multi'],
    run(client) {
      client.server.dumpFile.save();
      return OK;
    },
  },
  bgsave: {
    summary: 'Saves the dataset in the background.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['admin', 'noscript', 'no_async_loading'],
    run(client, argv) {
      const { dumpFile, vocabulary } = client.server;
      const word = asciiUpper(argv[1] ?? 'SCHEDULE');
      if (argv.length === 2 && word === 'CANCEL' && vocabulary.knows('bgsave', word)) {
        const cancelled = dumpFile.cancelSave() === 'running' ? 'Background' : 'Scheduled background';
        return new SimpleString(`${cancelled} saving cancelled`);
      }
      if (argv.length > 2 || word !== 'SCHEDULE') fail(SYNTAX);
      const how = dumpFile.saveLater(client.has(IN_MULTI), argv.length === 2);
      return new SimpleString(`Background saving ${how}`);
    },
  },
  bgrewriteaof: {
    summary: 'Rewrites the append-only file in the background.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['admin', 'noscript', 'no_async_loading'],
    run(client) {
      const how = client.server.dumpFile.rewriteLater(client.has(IN_MULTI));
      return new SimpleString(`Background append only file rewriting ${how}`);
    },
  },
  lastsave: {
    summary: 'Returns when the dataset was last saved, in seconds since the epoch.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['loading', 'stale', 'fast'],
    categories: ['admin', 'dangerous'],
    tips: ['nondeterministic_output'],
    run: (client) => client.server.dumpFile.savedAt,
  },
});
