/**
 * CLUSTER on a server without cluster support: the commands exist and are refused
 * (https://redis.io/docs/latest/commands/cluster-info/).
 */
import { fail } from '../../../protocol/errors.ts';
import type { Since } from '../../dialects/since.ts';
import type { CommandSpec, EntryChange, Flag } from '../../table/command.ts';
import { defineContainer } from '../define.ts';

/** The reply of a server without cluster support to every command about a cluster. */
export const NO_CLUSTER = 'ERR This instance has cluster support disabled';

const READS: readonly Flag[] = ['stale'];
const LOOKS: readonly Flag[] = ['admin', 'stale'];
const CHANGES: readonly Flag[] = ['admin', 'stale', 'no_async_loading'];
const UNSURE = ['nondeterministic_output'];
/** Valkey answers these while it loads. */
const LOADING: readonly EntryChange[] = [{ since: { valkey: '8.0.0' }, flags: ['loading', 'stale'] }];
const BOTH_LOADING: readonly EntryChange[] = [{ since: '7.2.0', flags: ['loading', 'stale'] }];

function refused<const A extends number>(
  arity: A,
  flags: readonly Flag[],
  complexity: string,
  summary: string,
  more: { since?: Since; changes?: readonly EntryChange[]; tips?: readonly string[] } = {},
): CommandSpec<A> {
  return { summary, since: '3.0.0', complexity, arity, flags, ...more, run: () => fail(NO_CLUSTER) };
}

const NODES = 'O(N), N nodes';
const SLOTS = 'O(N), N slots';

export const clusterCommand = defineContainer(
  'cluster',
  'cluster',
  {
    summary: 'Commands about a cluster; this server is never part of one.',
    since: '3.0.0',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    addslots: refused(-3, CHANGES, SLOTS, 'Gives the node hash slots to serve.'),
    addslotsrange: refused(-4, CHANGES, SLOTS, 'Gives the node ranges of hash slots to serve.', {
      since: '7.0.0',
    }),
    bumpepoch: refused(2, CHANGES, 'O(1)', 'Raises the configuration epoch of the node.', { tips: UNSURE }),
    'count-failure-reports': refused(
      3,
      LOOKS,
      'O(N), N reports',
      'Counts the reports that a node has failed.',
      {
        tips: UNSURE,
      },
    ),
    countkeysinslot: refused(3, READS, 'O(1)', 'Counts the keys of a hash slot.'),
    delslots: refused(-3, CHANGES, SLOTS, 'Takes hash slots away from the node.'),
    delslotsrange: refused(-4, CHANGES, SLOTS, 'Takes ranges of hash slots away from the node.', {
      since: '7.0.0',
    }),
    failover: refused(-2, CHANGES, 'O(1)', 'Makes a replica take over from its primary.'),
    flushslots: refused(2, CHANGES, 'O(1)', 'Takes all hash slots away from the node.'),
    forget: refused(3, CHANGES, 'O(1)', 'Removes a node from the table of known nodes.'),
    getkeysinslot: refused(4, READS, 'O(log(N)), N keys answered', 'Lists keys of a hash slot.', {
      tips: UNSURE,
    }),
    help: refused(2, ['loading', 'stale'], 'O(1)', 'Lists the subcommands, on a node of a cluster.', {
      since: '5.0.0',
    }),
    info: refused(2, READS, 'O(1)', 'Describes the state of the cluster.', {
      changes: LOADING,
      tips: UNSURE,
    }),
    keyslot: refused(3, READS, 'O(N), N bytes of the key', 'Answers the hash slot of a key.'),
    links: refused(2, READS, NODES, 'Lists the connections to the other nodes.', {
      since: '7.0.0',
      tips: UNSURE,
    }),
    meet: refused(-4, CHANGES, 'O(1)', 'Makes another node a member of the cluster.'),
    myid: refused(2, READS, 'O(1)', "Answers the node's id.", { changes: LOADING }),
    myshardid: refused(2, READS, 'O(1)', "Answers the id of the node's shard.", {
      since: '7.2.0',
      changes: LOADING,
      tips: UNSURE,
    }),
    nodes: refused(2, READS, NODES, 'Describes the nodes of the cluster.', {
      changes: LOADING,
      tips: UNSURE,
    }),
    replicas: refused(3, LOOKS, 'O(1)', 'Lists the replicas of a primary.', { since: '5.0.0', tips: UNSURE }),
    replicate: refused(3, CHANGES, 'O(1)', 'Makes the node a replica of a primary.'),
    reset: refused(-2, ['admin', 'noscript', 'stale'], NODES, 'Makes the node forget its cluster.'),
    saveconfig: refused(2, CHANGES, 'O(1)', 'Writes the configuration of the cluster to disk.'),
    'set-config-epoch': refused(3, CHANGES, 'O(1)', 'Sets the configuration epoch of a new node.'),
    setslot: refused(-4, CHANGES, 'O(1)', 'Gives a hash slot to a node, or moves it to another.'),
    shards: refused(2, READS, NODES, 'Describes the shards of the cluster.', {
      since: '7.0.0',
      changes: BOTH_LOADING,
      tips: UNSURE,
    }),
    slaves: refused(3, LOOKS, 'O(1)', 'Lists the replicas of a primary, by its older name.', {
      tips: UNSURE,
    }),
    'slot-stats': refused(-4, ['loading', 'stale'], 'O(N), N hash slots', 'Measures the use of hash slots.', {
      since: { redis: '8.2.0', valkey: '8.0.0' },
      tips: ['nondeterministic_output', 'request_policy:all_shards'],
    }),
    slots: refused(2, READS, NODES, 'Lists which nodes serve which hash slots.', {
      changes: BOTH_LOADING,
      tips: UNSURE,
    }),
  },
);
