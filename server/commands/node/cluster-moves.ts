/**
 * The commands with which nodes of Redis 8.4 and Valkey 9 move slots by themselves. A node without a cluster refuses them as
 * its server does. On a node of a cluster those that start a move are refused too: here CLUSTER
 * SETSLOT and MIGRATE move slots, so no move is ever listed.
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

/** Declares a subcommand that the cluster runs. */
function handed(
  name: Bytes,
  spec: Omit<CommandSpec<number, Caller>, 'since' | 'run'>,
): CommandSpec<number, Caller> {
  const run = (client: Caller, argv: readonly Bytes[]): Outcome =>
    (client.server.cluster ?? fail(NO_CLUSTER)).run(client, name, argv);
  return { since: VALKEY, ...spec, run };
}

/** The subcommands of CLUSTER with which nodes move slots. */
export const movingSubcommands = {
  cancelslotmigrations: handed('cancelslotmigrations', {
    summary: 'Cancels moves of slots, of which there are none here.',
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
    summary: 'Lists moves of slots, of which there are none here.',
    complexity: 'O(N), N moves',
    arity: 2,
    flags: CHANGES,
  }),
  migrateslots: refused(VALKEY, -4, 'O(N), N slots', 'Refuses to move slots to other nodes.'),
  migration: refused(REDIS, -4, 'O(N), N slots', 'Refuses to move slots, and to list and cancel moves.'),
  syncslots: refused(
    { ...REDIS, ...VALKEY },
    -3,
    'O(1)',
    'Refuses what nodes tell each other about a move of slots.',
    { tips: ['nondeterministic_output'], changes: [{ since: VALKEY, tips: [] }] },
  ),
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
