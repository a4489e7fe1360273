/** CLUSTER on a node of a cluster (https://redis.io/docs/latest/commands/cluster-info/). */
import type { Bytes } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { OK, type Reply } from '../../protocol/reply.ts';
import { slotOf } from '../../protocol/slot.ts';
import type { Client } from '../../server/clients/client.ts';
import { wordAt } from '../../server/table/arguments.ts';
import { helpOf } from '../../server/table/help.ts';
import type { Outcome } from '../../server/table/outcome.ts';
import type { Cluster } from '../cluster.ts';
import type { SlotMoves } from '../moving/moves.ts';
import { infoReply, linksReply, nodesReply, shardsReply, slotsReply } from './describe.ts';
import * as members from './members.ts';
import * as moves from './moves.ts';
import * as slots from './slots.ts';

type Run = (cluster: Cluster, argv: readonly Bytes[], client: Client, moves: SlotMoves) => Outcome;

function saveConfiguration(cluster: Cluster): Reply {
  const why = cluster.store();
  return why === undefined ? OK : fail(`ERR error saving the cluster node config: ${why}`);
}

function help({ server }: Cluster, [name]: readonly Bytes[]): Reply {
  const container = server.declared.get('cluster');
  return container === undefined ? [] : helpOf(container, server.dialect, name);
}

/** The subcommands, by name. */
const SUBCOMMANDS: Readonly<Record<string, Run>> = {
  addslots: (cluster, argv) => slots.changeSlots(cluster, argv, true),
  addslotsrange: (cluster, argv) => slots.changeRanges(cluster, argv, true),
  bumpepoch: members.bump,
  cancelslotmigrations: (_c, _a, _client, all) => moves.cancelMoves(all),
  'count-failure-reports': members.countFailureReports,
  countkeysinslot: slots.countKeys,
  delslots: (cluster, argv) => slots.changeSlots(cluster, argv, false),
  delslotsrange: (cluster, argv) => slots.changeRanges(cluster, argv, false),
  failover: (cluster, argv, client) => members.failover(cluster, argv, client),
  flushslot: slots.flushSlot,
  flushslots: slots.flushSlots,
  forget: members.forget,
  getkeysinslot: slots.listKeys,
  getslotmigrations: (_c, _a, _client, all) => moves.describeMoves(all),
  help,
  info: (cluster, _argv, _client, all) => infoReply(cluster, all.all),
  keyslot: (_, argv) => slotOf(wordAt(argv, 2)),
  links: linksReply,
  meet: members.meet,
  migrateslots: (_c, argv, _client, all) => moves.migrateSlots(all, argv),
  migration: (_c, argv, _client, all) => moves.migration(all, argv),
  myid: ({ myself }) => myself.id,
  myshardid: ({ myself }) => myself.shardId,
  nodes: (cluster, _, client) => nodesReply(cluster, client),
  replicas: members.listReplicas,
  replicate: members.replicate,
  reset: members.reset,
  saveconfig: saveConfiguration,
  'set-config-epoch': members.setEpoch,
  setslot: slots.setSlot,
  shards: shardsReply,
  slaves: members.listReplicas,
  'slot-stats': slots.slotStats,
  slots: (cluster, _, client) => slotsReply(cluster, client),
  syncslots: (cluster, argv, client, all) =>
    cluster.server.dialect.cluster.movesSlots === 'to the target'
      ? moves.syncTask(all, argv, client)
      : moves.syncSlots(all, argv, client),
  trimslots: slots.trimSlots,
};

/** Runs a subcommand of CLUSTER. */
export function runClusterCommand(
  moves: SlotMoves,
  subcommand: Bytes,
  argv: readonly Bytes[],
  client: Client,
): Outcome {
  const run = SUBCOMMANDS[subcommand] ?? fail(`ERR unknown subcommand '${subcommand}'. Try CLUSTER HELP.`);
  return run(moves.cluster, argv, client, moves);
}
