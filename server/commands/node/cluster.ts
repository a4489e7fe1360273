/**
 * CLUSTER: the cluster that the node is part of runs the commands; without one they are refused
 * (https://redis.io/docs/latest/commands/cluster-info/).
 */

import type { Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { slotOf } from '../../../protocol/slot.ts';
import type { Since } from '../../dialects/since.ts';
import type { Caller } from '../../server.ts';
import type { CommandSpec, EntryChange, Flag } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { defineContainer } from '../define.ts';
import { movingSubcommands } from './cluster-moves.ts';
import { NO_CLUSTER } from './no-cluster.ts';

/** Refuses a command about several databases on a node of a cluster. */
export function refuseInCluster({ server }: Caller, what: Bytes): void {
  if (server.cluster !== undefined) fail(`ERR ${what} is not allowed in cluster mode`);
}

/** The same, for servers whose clusters have one database. */
export function refuseOtherDatabase(client: Caller, what: Bytes): void {
  if (client.server.dialect.cluster.databases !== 'as configured') refuseInCluster(client, what);
}

const READS: readonly Flag[] = ['stale'];
const LOOKS: readonly Flag[] = ['admin', 'stale'];
const CHANGES: readonly Flag[] = ['admin', 'stale', 'no_async_loading'];
const UNSURE = ['nondeterministic_output'];
/** Valkey answers these while it loads. */
const LOADING: readonly EntryChange[] = [{ since: { valkey: '8.0.0' }, flags: ['loading', 'stale'] }];
const BOTH_LOADING: readonly EntryChange[] = [{ since: '7.2.0', flags: ['loading', 'stale'] }];

/** Declares a subcommand that the cluster runs. */
function handed(
  name: Bytes,
  arity: number,
  flags: readonly Flag[],
  complexity: string,
  summary: string,
  more: { since?: Since; changes?: readonly EntryChange[]; tips?: readonly string[] } = {},
): CommandSpec<number, Caller> {
  const run = (client: Caller, argv: readonly Bytes[]): Outcome =>
    (client.server.cluster ?? fail(NO_CLUSTER)).run(client, name, argv);
  return { summary, since: '3.0.0', complexity, arity, flags, ...more, run };
}

const NODES = 'O(N), N nodes';
const SLOTS = 'O(N), N slots';

export const clusterCommand = defineContainer(
  'cluster',
  'cluster',
  {
    summary: 'Commands about the cluster that the node is part of.',
    since: '3.0.0',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    addslots: handed('addslots', -3, CHANGES, SLOTS, 'Gives the node hash slots to serve.'),
    addslotsrange: handed(
      'addslotsrange',
      -4,
      CHANGES,
      SLOTS,
      'Gives the node ranges of hash slots to serve.',
      {
        since: '7.0.0',
      },
    ),
    bumpepoch: handed('bumpepoch', 2, CHANGES, 'O(1)', 'Raises the configuration epoch of the node.', {
      tips: UNSURE,
    }),
    'count-failure-reports': handed(
      'count-failure-reports',
      3,
      LOOKS,
      'O(N), N reports',
      'Counts the reports that a node has failed.',
      {
        tips: UNSURE,
      },
    ),
    countkeysinslot: handed('countkeysinslot', 3, READS, 'O(1)', 'Counts the keys of a hash slot.'),
    delslots: handed('delslots', -3, CHANGES, SLOTS, 'Takes hash slots away from the node.'),
    delslotsrange: handed(
      'delslotsrange',
      -4,
      CHANGES,
      SLOTS,
      'Takes ranges of hash slots away from the node.',
      {
        since: '7.0.0',
      },
    ),
    failover: handed('failover', -2, CHANGES, 'O(1)', 'Makes a replica take over from its primary.'),
    flushslots: handed('flushslots', 2, CHANGES, 'O(1)', 'Takes all hash slots away from the node.'),
    forget: handed('forget', 3, CHANGES, 'O(1)', 'Removes a node from the table of known nodes.'),
    getkeysinslot: handed(
      'getkeysinslot',
      4,
      READS,
      'O(log(N)), N keys answered',
      'Lists keys of a hash slot.',
      {
        tips: UNSURE,
      },
    ),
    help: handed('help', 2, ['loading', 'stale'], 'O(1)', 'Lists the subcommands, on a node of a cluster.', {
      since: '5.0.0',
    }),
    info: handed('info', 2, READS, 'O(1)', 'Describes the state of the cluster.', {
      changes: LOADING,
      tips: UNSURE,
    }),
    keyslot: {
      ...handed('keyslot', 3, READS, 'O(N), N bytes of the key', 'Returns the hash slot of a key.'),
      run(client, argv) {
        const { cluster, dialect } = client.server;
        if (cluster !== undefined) return cluster.run(client, 'keyslot', argv);
        return dialect.cluster.slotsWithoutCluster ? slotOf(argv[2] ?? '') : fail(NO_CLUSTER);
      },
    },
    links: handed('links', 2, READS, NODES, 'Lists the connections to the other nodes.', {
      since: '7.0.0',
      tips: UNSURE,
    }),
    meet: handed('meet', -4, CHANGES, 'O(1)', 'Makes another node a member of the cluster.'),
    myid: handed('myid', 2, READS, 'O(1)', "Returns the node's id.", { changes: LOADING }),
    myshardid: handed('myshardid', 2, READS, 'O(1)', "Returns the id of the node's shard.", {
      since: '7.2.0',
      changes: LOADING,
      tips: UNSURE,
    }),
    nodes: handed('nodes', 2, READS, NODES, 'Describes the nodes of the cluster.', {
      changes: LOADING,
      tips: UNSURE,
    }),
    replicas: handed('replicas', 3, LOOKS, 'O(1)', 'Lists the replicas of a primary.', {
      since: '5.0.0',
      tips: UNSURE,
    }),
    replicate: handed('replicate', 3, CHANGES, 'O(1)', 'Makes the node a replica of a primary.', {
      changes: [{ since: { valkey: '9.0.0' }, arity: -3 }],
    }),
    reset: handed('reset', -2, ['admin', 'noscript', 'stale'], NODES, 'Makes the node forget its cluster.'),
    saveconfig: handed('saveconfig', 2, CHANGES, 'O(1)', 'Writes the configuration of the cluster to disk.'),
    'set-config-epoch': handed(
      'set-config-epoch',
      3,
      CHANGES,
      'O(1)',
      'Sets the configuration epoch of a new node.',
    ),
    setslot: handed('setslot', -4, CHANGES, 'O(1)', 'Gives a hash slot to a node, or moves it to another.', {
      changes: [{ since: { valkey: '8.0.0' }, flags: [...CHANGES, 'may_replicate'] }],
    }),
    shards: handed('shards', 2, READS, NODES, 'Describes the shards of the cluster.', {
      since: '7.0.0',
      changes: BOTH_LOADING,
      tips: UNSURE,
    }),
    slaves: handed('slaves', 3, LOOKS, 'O(1)', 'Lists the replicas of a primary, by its older name.', {
      tips: UNSURE,
    }),
    'slot-stats': handed(
      'slot-stats',
      -4,
      ['loading', 'stale'],
      'O(N), N hash slots',
      'Measures the use of hash slots.',
      {
        since: { redis: '8.2.0', valkey: '8.0.0' },
        tips: ['nondeterministic_output', 'request_policy:all_shards'],
      },
    ),
    slots: handed('slots', 2, READS, NODES, 'Lists which nodes serve which hash slots.', {
      changes: BOTH_LOADING,
      tips: UNSURE,
    }),
    ...movingSubcommands,
  },
);
