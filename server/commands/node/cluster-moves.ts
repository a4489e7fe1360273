/**
 * The commands with which nodes of Redis 8.4 and Valkey 9 move slots by themselves. A node without a cluster refuses them as
 * its server does.
 */
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Caller } from '../../server.ts';
import type { CommandSpec, Flag } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';
import { NO_CLUSTER } from './no-cluster.ts';

const CHANGES: readonly Flag[] = ['admin', 'stale', 'no_async_loading'];
const REPLICATED: readonly Flag[] = [...CHANGES, 'may_replicate'];
const VALKEY = { valkey: '9.0.0' };
const REDIS = { redis: '8.4.0' };

/** Lets the cluster run a subcommand. */
function handOver(client: Caller, name: Bytes, argv: readonly Bytes[]): Outcome {
  return (client.server.cluster ?? fail(NO_CLUSTER)).run(client, name, argv);
}

/** Declares a subcommand that the cluster runs. */
function handed(
  name: Bytes,
  spec: Omit<CommandSpec<number, Caller>, 'since' | 'run'>,
): CommandSpec<number, Caller> {
  return { since: VALKEY, ...spec, run: (client, argv) => handOver(client, name, argv) };
}

/** The subcommands of CLUSTER with which nodes move slots. */
export const movingSubcommands = {
  cancelslotmigrations: handed('cancelslotmigrations', {
    summary: 'Gives up the moves of slots from this node.',
    complexity: 'O(N), N moves',
    arity: 2,
    flags: CHANGES,
  }),
  flushslot: handed('flushslot', {
    summary: 'Removes the keys of a slot.',
    complexity: 'O(N), N keys',
    arity: -3,
    flags: ['write', 'admin', 'no_async_loading'],
    categories: ['keyspace'],
    databases: 'all',
  }),
  getslotmigrations: handed('getslotmigrations', {
    summary: 'Lists the moves of slots that are underway or have ended.',
    complexity: 'O(N), N moves',
    arity: 2,
    flags: CHANGES,
  }),
  migrateslots: handed('migrateslots', {
    summary: 'Moves slots to other nodes.',
    complexity: 'O(N), N slots',
    arity: -4,
    flags: CHANGES,
  }),
  migration: {
    ...handed('migration', {
      summary: 'Moves slots to this node, and lists and gives up moves.',
      complexity: 'O(N), N slots',
      arity: -4,
      flags: CHANGES,
    }),
    since: REDIS,
  },
  syncslots: {
    summary: 'What nodes tell each other about a move of slots.',
    since: { ...REDIS, ...VALKEY },
    complexity: 'O(1)',
    arity: -3,
    flags: CHANGES,
    tips: ['nondeterministic_output'],
    changes: [{ since: VALKEY, tips: [], flags: REPLICATED }],
    run: (client: Caller, argv: readonly Bytes[]) => handOver(client, 'syncslots', argv),
  },
};

export const trimSlotsCommands = defineCommands('server', {
  trimslots: {
    summary: 'Removes the keys of slots that the node does not serve.',
    since: REDIS,
    complexity: 'O(N), N keys',
    arity: -5,
    flags: ['write'],
    categories: ['keyspace', 'dangerous'],
    run: (client, argv) => handOver(client, 'trimslots', argv),
  },
});
