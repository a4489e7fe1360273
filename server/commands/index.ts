/** The command table: every group's entries, found by name in lower or upper case. */
import { asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import type { Command } from '../command.ts';
import { aclCommand } from './acl.ts';
import { bitfieldCommands } from './bitfield.ts';
import { bitmapCommands } from './bitmap.ts';
import { blockingListCommands } from './blocking-list.ts';
import { clientCommand } from './client.ts';
import { clusterCommand } from './cluster.ts';
import { commandCommand } from './command.ts';
import { configCommand } from './config.ts';
import { clusterStateCommands, connectionCommands } from './connection.ts';
import { counterCommands } from './counter.ts';
import { debugCommands } from './debug.ts';
import { dumpCommands, restoreAskingCommands } from './dump.ts';
import { expiryCommands } from './expiry.ts';
import { functionCommands } from './function.ts';
import { genericCommands } from './generic.ts';
import { geoCommands } from './geo.ts';
import { geoSearchCommands } from './geo-search.ts';
import { hashCommands } from './hash.ts';
import { hashExpiryCommands } from './hash-expiry.ts';
import { hashExtendedCommands } from './hash-extended.ts';
import { hyperloglogCommands } from './hyperloglog.ts';
import { latencyCommand } from './latency.ts';
import { directListCommands } from './list.ts';
import { lockCommands } from './lock.ts';
import { lolwutCommands } from './lolwut.ts';
import { memoryCommand } from './memory.ts';
import { migrateCommands } from './migrate.ts';
import { moduleCommand } from './module.ts';
import { monitorCommands, slowlogCommand } from './monitor.ts';
import { pubsubCommand, pubsubCommands } from './pubsub.ts';
import { replicationCommands, waitCommands } from './replication.ts';
import { objectCommand, scanCommands } from './scan.ts';
import { scriptingCommands } from './scripting.ts';
import { serverCommands } from './server.ts';
import { setCommands } from './set.ts';
import { shutdownCommands } from './shutdown.ts';
import { sortCommands } from './sort.ts';
import { sortedSetCommands } from './sorted-set.ts';
import { sortedSetAlgebraCommands } from './sorted-set-algebra.ts';
import { sortedSetPopCommands } from './sorted-set-pop.ts';
import { streamCommands } from './stream.ts';
import { streamGroupCommands, xgroupCommand } from './stream-group.ts';
import { xinfoCommand } from './stream-info.ts';
import { streamPendingCommands } from './stream-pending.ts';
import { streamReadCommands } from './stream-read.ts';
import { stringCommands } from './string.ts';
import { stringEditCommands } from './string-edit.ts';
import { transactionCommands } from './transaction.ts';

/** Commands by name. Other spellings than all-lower and all-upper are found by lower-casing them first. */
export type Table = ReadonlyMap<Bytes, Command>;

/** Every command there is. */
export const allCommands: readonly Command[] = [
  ...connectionCommands,
  ...clusterStateCommands,
  clusterCommand,
  clientCommand,
  configCommand,
  commandCommand,
  ...serverCommands,
  ...lolwutCommands,
  memoryCommand,
  aclCommand,
  ...monitorCommands,
  slowlogCommand,
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
  xinfoCommand,
];

/** The look-up table of one node: all commands and those it was given besides. */
export function commandTable(extra: readonly Command[]): Table {
  const table = new Map<Bytes, Command>();
  for (const command of [...allCommands, ...extra]) {
    table.set(command.name, command);
    table.set(asciiUpper(command.name), command);
  }
  return table;
}
