/**
 * The commands with which nodes of Redis 8.4 and Valkey 9 move slots by themselves. A node without a cluster refuses them as
 * its server does. In a cluster those of Valkey work; those of Redis are refused, where CLUSTER SETSLOT and MIGRATE do it.
 */
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Since } from '../../dialects/since.ts';
import type { Caller } from '../../server.ts';
import type { CommandSpec, EntryChange, Flag } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';
import { NO_CLUSTER } from './no-cluster.ts';

const CHANGES: readonly Flag[] = ['admin', 'stale', 'no_async_loading'];
const VALKEY = { valkey: '9.0.0' };
const REDIS = { redis: '8.4.0' };

/** Refuses to move slots, on a node of a cluster; or any command about a cluster, on another node. */
function refuseMove({ server }: Caller): never {
  return fail(
    server.cluster === undefined
      ? NO_CLUSTER
      : 'ERR lostlock does not move slots by itself: move them with CLUSTER SETSLOT and MIGRATE',
  );
}

/** Declares a subcommand that is refused. */
function refused(
  since: Since,
  arity: number,
  complexity: string,
  summary: string,
  more: { flags?: readonly Flag[]; changes?: readonly EntryChange[]; tips?: readonly string[] } & Pick<
    CommandSpec<number, Caller>,
    'categories'
  > = {},
): CommandSpec<number, Caller> {
  return { summary, since, complexity, arity, flags: CHANGES, ...more, run: refuseMove };
}

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
  migration: refused(REDIS, -4, 'O(N), N slots', 'Refuses to move slots, and to list and cancel moves.'),
  syncslots: {
    summary: 'What nodes tell each other about a move of slots.',
    since: { ...REDIS, ...VALKEY },
    complexity: 'O(1)',
    arity: -3,
    flags: CHANGES,
    tips: ['nondeterministic_output'],
    changes: [{ since: VALKEY, tips: [] }],
    run: (client: Caller, argv: readonly Bytes[]) =>
      client.server.dialect.cluster.movesSlots === 'from the source'
        ? handOver(client, 'syncslots', argv)
        : refuseMove(client),
  },
};

export const trimSlotsCommands = defineCommands('server', {
  trimslots: {
    summary: 'Refuses to remove the keys of slots.',
    since: REDIS,
    complexity: 'O(N), N keys',
    arity: -5,
    flags: ['write'],
    categories: ['keyspace', 'dangerous'],
    run: refuseMove,
  },
});
