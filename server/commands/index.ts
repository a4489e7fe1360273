/** The command table: all commands, found by name in lower or upper case. */
import { asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Caller } from '../server.ts';
import type { Command } from '../table/command.ts';
import { fitted } from '../table/fit.ts';
import { aclCommand } from './connection/acl.ts';
import { clientCommand } from './connection/client.ts';
import { clusterStateCommands, connectionCommands } from './connection/connection.ts';
import { pubsubCommand, pubsubCommands } from './connection/pubsub.ts';
import { transactionCommands } from './connection/transaction.ts';
import { hashExpiryCommands } from './hash/expiry.ts';
import { hashExtendedCommands } from './hash/extended.ts';
import { hashCommands } from './hash/hash.ts';
import { clusterScanCommands } from './keys/cluster-scan.ts';
import { dumpCommands, restoreAskingCommands } from './keys/dump.ts';
import { expiryCommands } from './keys/expiry.ts';
import { genericCommands } from './keys/generic.ts';
import { migrateCommands } from './keys/migrate.ts';
import { objectCommand, scanCommands } from './keys/scan.ts';
import { sortCommands } from './keys/sort.ts';
import { blockingListCommands } from './list/blocking.ts';
import { directListCommands } from './list/list.ts';
import { clusterCommand } from './node/cluster.ts';
import { trimSlotsCommands } from './node/cluster-moves.ts';
import { commandCommand } from './node/command.ts';
import { configCommand } from './node/config.ts';
import { debugCommands } from './node/debug.ts';
import { functionCommands } from './node/function.ts';
import { hotKeysCommands } from './node/hotkeys.ts';
import { latencyCommand } from './node/latency.ts';
import { lolwutCommands } from './node/lolwut.ts';
import { memoryCommand } from './node/memory.ts';
import { moduleCommand } from './node/module.ts';
import { monitorCommands } from './node/monitor.ts';
import { replicationCommands, waitCommands } from './node/replication.ts';
import { scriptingCommands } from './node/scripting.ts';
import { serverCommands } from './node/server.ts';
import { shutdownCommands } from './node/shutdown.ts';
import { commandlogCommand, slowlogCommand } from './node/slowlog.ts';
import { setCommands } from './set/set.ts';
import { sortedSetAlgebraCommands } from './sorted-set/algebra.ts';
import { geoCommands } from './sorted-set/geo.ts';
import { geoSearchCommands } from './sorted-set/geo-search.ts';
import { sortedSetPopCommands } from './sorted-set/pop.ts';
import { sortedSetCommands } from './sorted-set/sorted-set.ts';
import { streamGroupCommands, xgroupCommand } from './stream/group.ts';
import { streamIdempotenceCommands } from './stream/idempotence.ts';
import { xinfoCommand } from './stream/info.ts';
import { streamNackCommands } from './stream/nack.ts';
import { streamPendingCommands } from './stream/pending.ts';
import { streamReadCommands } from './stream/read.ts';
import { streamReferenceCommands } from './stream/references.ts';
import { streamCommands } from './stream/stream.ts';
import { bitfieldCommands } from './string/bitfield.ts';
import { bitmapCommands } from './string/bitmap.ts';
import { lockCommands } from './string/compare.ts';
import { counterCommands } from './string/counter.ts';
import { stringEditCommands } from './string/edit.ts';
import { hyperloglogCommands } from './string/hyperloglog.ts';
import { increxCommands } from './string/increx.ts';
import { stringCommands } from './string/string.ts';
import { vectorSetCommands } from './vector/vector-set.ts';

/** Commands by name, in lower and upper case. A name in mixed case must be converted to lower case for the lookup. */
export type CommandTable = ReadonlyMap<Bytes, Command<Caller>>;

/** All built-in commands. */
export const allCommands: readonly Command<Caller>[] = [
  ...connectionCommands,
  ...clusterStateCommands,
  clusterCommand,
  ...clusterScanCommands,
  ...trimSlotsCommands,
  clientCommand,
  configCommand,
  commandCommand,
  ...serverCommands,
  ...lolwutCommands,
  memoryCommand,
  aclCommand,
  ...monitorCommands,
  ...hotKeysCommands,
  slowlogCommand,
  commandlogCommand,
  ...shutdownCommands,
  latencyCommand,
  moduleCommand,
  ...debugCommands,
  ...stringCommands,
  ...hashCommands,
  ...hashExpiryCommands,
  ...hashExtendedCommands,
  ...directListCommands,
  ...blockingListCommands,
  ...setCommands,
  ...transactionCommands,
  ...pubsubCommands,
  pubsubCommand,
  ...stringEditCommands,
  ...bitmapCommands,
  ...bitfieldCommands,
  ...hyperloglogCommands,
  ...geoCommands,
  ...geoSearchCommands,
  ...counterCommands,
  ...increxCommands,
  ...lockCommands,
  ...genericCommands,
  ...expiryCommands,
  ...scanCommands,
  objectCommand,
  ...dumpCommands,
  ...restoreAskingCommands,
  ...migrateCommands,
  ...replicationCommands,
  ...waitCommands,
  ...scriptingCommands,
  ...functionCommands,
  ...sortCommands,
  ...sortedSetCommands,
  ...sortedSetPopCommands,
  ...sortedSetAlgebraCommands,
  ...streamCommands,
  ...streamReadCommands,
  ...streamGroupCommands,
  xgroupCommand,
  ...streamPendingCommands,
  ...streamReferenceCommands,
  ...streamIdempotenceCommands,
  ...streamNackCommands,
  xinfoCommand,
  ...vectorSetCommands,
];

/** The commands of a dialect's server, and the extras unless the node is strict. */
export function commandsOf(dialect: Dialect, strict: boolean): readonly Command<Caller>[] {
  return allCommands.flatMap((command) => fitted(command, dialect, strict) ?? []);
}

/** The commands of every server, by name: what the stream of a primary may contain, whatever its dialect is. */
export const everyCommand: CommandTable = new Map(allCommands.map((command) => [command.name, command]));

/** The tables of nodes without commands of their own, which never change: by dialect, then by strictness. */
const shared = new WeakMap<Dialect, Map<boolean, CommandTable>>();

/** The look-up table of one node: the commands of its dialect and those it was given besides. Nodes share it if they can. */
export function commandTable(
  extra: readonly Command<Caller>[],
  dialect: Dialect,
  strict: boolean,
): CommandTable {
  if (extra.length > 0) return makeTable(extra, dialect, strict);
  let tables = shared.get(dialect);
  if (tables === undefined) shared.set(dialect, (tables = new Map()));
  let table = tables.get(strict);
  if (table === undefined) tables.set(strict, (table = makeTable(extra, dialect, strict)));
  return table;
}

function makeTable(extra: readonly Command<Caller>[], dialect: Dialect, strict: boolean): CommandTable {
  const table = new Map<Bytes, Command<Caller>>();
  const given = extra.map((command) => fitted(command, dialect, strict) ?? command);
  for (const command of [...commandsOf(dialect, strict), ...given]) {
    table.set(command.name, command);
    table.set(asciiUpper(command.name), command);
  }
  return table;
}
