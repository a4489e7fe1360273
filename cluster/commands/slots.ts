/** The subcommands of CLUSTER about slots: who serves them, and moving them. */
import { asciiLower, asciiUpper, type Bytes, type Millis } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { MapReply, OK, type Reply } from '../../protocol/reply.ts';
import { SLOT_COUNT } from '../../protocol/slot.ts';
import { type Client, PRIMARY_LINK } from '../../server/clients/client.ts';
import { integer, wordAt } from '../../server/table/arguments.ts';
import { millisToWait } from '../../server/table/timeouts.ts';
import type { Cluster } from '../cluster.ts';
import { announce } from '../gossip.ts';
import type { Member } from '../member.ts';
import type { SlotMoves } from '../moving/moves.ts';
import { removeKeysOf } from '../slot-keys.ts';
import { bumpEpoch } from './members.ts';

const BAD_SLOT = 'ERR Invalid or out of range slot';

/** Reads a slot. Throws for one that does not exist. */
export function slotIn(text: Bytes): number {
  const slot = integer(text, BAD_SLOT);
  return slot < 0 || slot >= SLOT_COUNT ? fail(BAD_SLOT) : slot;
}

/** Throws unless each slot is free (or taken, if they are to be released) and given once. */
function checkSlots({ owners }: Cluster, slots: readonly number[], adds: boolean): void {
  const seen = new Uint8Array(SLOT_COUNT);
  for (const slot of slots) {
    if (adds && owners[slot] !== undefined) fail(`ERR Slot ${slot} is already busy`);
    if (!adds && owners[slot] === undefined) fail(`ERR Slot ${slot} is already unassigned`);
    if (seen[slot] === 1) fail(`ERR Slot ${slot} specified multiple times`);
    seen[slot] = 1;
  }
}

function change(cluster: Cluster, slots: readonly number[], adds: boolean): Reply {
  checkSlots(cluster, slots, adds);
  for (const slot of slots) {
    if (adds) {
      cluster.importing.delete(slot);
      cluster.assign(slot, cluster.myself);
    } else cluster.release(slot);
  }
  cluster.due.state = true;
  cluster.due.store = true;
  return OK;
}

/** ADDSLOTS and DELSLOTS. */
export function changeSlots(cluster: Cluster, argv: readonly Bytes[], adds: boolean): Reply {
  return change(cluster, argv.slice(2).map(slotIn), adds);
}

/** ADDSLOTSRANGE and DELSLOTSRANGE. */
export function changeRanges(cluster: Cluster, argv: readonly Bytes[], adds: boolean): Reply {
  if (argv.length % 2 === 1) {
    fail(`ERR wrong number of arguments for 'cluster|${adds ? 'add' : 'del'}slotsrange' command`);
  }
  const slots: number[] = [];
  for (let at = 2; at < argv.length; at += 2) {
    const [first, last] = [slotIn(wordAt(argv, at)), slotIn(wordAt(argv, at + 1))];
    if (first > last) fail(`ERR start slot number ${first} is greater than end slot number ${last}`);
    for (let slot = first; slot <= last; slot++) slots.push(slot);
  }
  return change(cluster, slots, adds);
}

/** FLUSHSLOTS. */
export function flushSlots(cluster: Cluster): Reply {
  if (cluster.hasAnyKeys) fail('ERR DB must be empty to perform CLUSTER FLUSHSLOTS.');
  cluster.releaseAll(cluster.myself);
  cluster.due.state = true;
  cluster.due.store = true;
  return OK;
}

/** FLUSHSLOT: removes the keys of a slot. Replicas receive the command. */
export function flushSlot(cluster: Cluster, argv: readonly Bytes[]): Reply {
  const [, , text = '', mode] = argv;
  if (argv.length > 4)
    fail("ERR unknown subcommand or wrong number of arguments for 'FLUSHSLOT'. Try CLUSTER HELP.");
  const slot = slotIn(text);
  if (mode !== undefined && !/^(a?sync)$/i.test(mode)) fail(SYNTAX);
  for (const db of cluster.server.databases) {
    for (const key of db.entries.keysOfSlot(slot)) if (db.remove(key)) db.changed(key, 'del');
  }
  return OK;
}

/** TRIMSLOTS RANGES count first last …: removes the keys of slots that this node does not serve. */
export function trimSlots(cluster: Cluster, argv: readonly Bytes[]): Reply {
  if (asciiUpper(wordAt(argv, 1)) !== 'RANGES') fail('ERR missing ranges argument');
  const count = integer(wordAt(argv, 2));
  if (count < 1 || argv.length !== 3 + 2 * count) fail('ERR invalid number of ranges');
  const slots = new Set<number>();
  for (let at = 3; at < argv.length; at += 2) {
    const [first, last] = [slotIn(wordAt(argv, at)), slotIn(wordAt(argv, at + 1))];
    if (first > last) fail(`ERR start slot number ${first} is greater than end slot number ${last}`);
    for (let slot = first; slot <= last; slot++) {
      if (slots.has(slot)) fail(`ERR Slot ${slot} specified multiple times`);
      slots.add(slot);
    }
  }
  const { myself, owners, importing } = cluster;
  const isMine = (slot: number): boolean => owners[slot] === myself.head || importing.has(slot);
  const mine = [...slots].sort((a, b) => a - b).find(isMine);
  if (mine !== undefined) fail(`ERR the slot ${mine} is served by this node`);
  for (const slot of slots) if (cluster.hasKeys(slot)) removeKeysOf(cluster, slot);
  // The removals are in the stream. Replayed from a file, the command might meet slots that the node serves by then.
  cluster.server.effects.propagateAs();
  return OK;
}

/** COUNTKEYSINSLOT: how many keys of the slot the client's database has. */
export function countKeys(_cluster: Cluster, argv: readonly Bytes[], client: Client): Reply {
  const slot = integer(wordAt(argv, 2));
  if (slot < 0 || slot >= SLOT_COUNT) fail('ERR Invalid slot');
  return client.db.entries.countsOfSlots()[slot]!;
}

/** GETKEYSINSLOT: the keys of the client's database. */
export function listKeys(_cluster: Cluster, argv: readonly Bytes[], client: Client): Reply {
  const [slot, count] = [integer(wordAt(argv, 2)), integer(wordAt(argv, 3))];
  if (slot < 0 || slot >= SLOT_COUNT || count < 0) fail('ERR Invalid slot or number of keys');
  return client.db.entries.keysOfSlot(slot, count);
}

const BAD_ACTION = 'ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP';

/** How long SETSLOT waits for the replicas where it names no limit, in milliseconds. */
const REPLICA_TIMEOUT = 2000;

/** The longest time that SETSLOT of Valkey waits for the replicas, in milliseconds; 0: no limit. */
export function setSlotTimeout(client: Client, argv: readonly Bytes[]): Millis {
  let timeout = REPLICA_TIMEOUT;
  for (let at = 4; at < argv.length; at++) {
    if (asciiLower(wordAt(argv, at)) !== 'timeout') continue;
    timeout = millisToWait(client, argv[at + 1] ?? fail('ERR Missing timeout value'));
  }
  return timeout;
}

/** SETSLOT: the steps of moving a slot. */
export function setSlot(cluster: Cluster, argv: readonly Bytes[], client: Client, moves: SlotMoves): Reply {
  const act = readSetSlot(cluster, argv, client.has(PRIMARY_LINK), moves);
  if (cluster.server.dialect.cluster.setSlotTakesTimeout) setSlotTimeout(client, argv);
  act();
  return OK;
}

/** Checks a SETSLOT. Returns what it does. */
export function readSetSlot(
  cluster: Cluster,
  argv: readonly Bytes[],
  isReplicated: boolean,
  moves: SlotMoves,
): () => void {
  const { myself, owners, server } = cluster;
  // A replica takes the word of its primary.
  const head = isReplicated ? myself.head : myself;
  if (myself.isReplica && !isReplicated) fail('ERR Please use SETSLOT only with masters.');
  const slot = slotIn(wordAt(argv, 2));
  if (server.dialect.cluster.movesSlots === 'to the target' && moves.isMoving(slot)) {
    const instead = 'To perform a legacy slot migration instead, first cancel the ongoing task with';
    fail(
      `ERR Slot ${slot} is currently in an active atomic slot migration. CLUSTER SETSLOT cannot be used at this time. ${instead} CLUSTER MIGRATION CANCEL`,
    );
  }
  const action = asciiLower(wordAt(argv, 3));
  const id = argv[4];
  const isLong = argv.length === 5 || (argv.length > 5 && server.dialect.cluster.setSlotTakesTimeout);
  const isAlone = argv.length === 4 || (argv.length > 4 && server.dialect.cluster.setSlotTakesTimeout);
  let step: () => void;
  if (action === 'migrating' && isLong && id !== undefined) {
    if (owners[slot] !== head) fail(`ERR I'm not the owner of hash slot ${slot}`);
    const to = cluster.members.get(id) ?? fail(`ERR I don't know about node ${id}`);
    checkEnd(cluster, to);
    step = () => cluster.migrating.set(slot, to);
  } else if (action === 'importing' && isLong && id !== undefined) {
    if (owners[slot] === head) fail(`ERR I'm already the owner of hash slot ${slot}`);
    const from = cluster.members.get(id) ?? fail(`ERR I don't know about node ${id}`);
    checkEnd(cluster, from);
    step = () => cluster.importing.set(slot, from);
  } else if (action === 'stable' && isAlone) {
    step = () => {
      cluster.importing.delete(slot);
      cluster.migrating.delete(slot);
    };
  } else if (action === 'node' && isLong && id !== undefined) step = giving(cluster, slot, id);
  else fail(BAD_ACTION);
  return () => {
    step();
    cluster.due.store = true;
    cluster.due.state = true;
  };
}

/** Throws unless a slot can move to or from a node. */
function checkEnd({ myself, server }: Cluster, other: Member): void {
  if (other.isReplica) fail('ERR Target node is not a master');
  if (other === myself && server.dialect.cluster.refusesMoveToItself) fail('ERR Target node is myself');
}

/** Checks a SETSLOT NODE: the slot belongs to that node from now on. Returns what it does. */
function giving(cluster: Cluster, slot: number, id: Bytes): () => void {
  const { myself, owners } = cluster;
  const to = cluster.members.get(id) ?? fail(`ERR Unknown node ${id}`);
  if (to.isReplica) fail('ERR Target node is not a master');
  const hasKeys = cluster.hasKeys(slot);
  if (!myself.isReplica && owners[slot] === myself && to !== myself && hasKeys) {
    fail(`ERR Can't assign hashslot ${slot} to a different node while I still hold keys for this hash slot.`);
  }
  return () => {
    if (myself.isReplica) {
      cluster.migrating.delete(slot);
      if (to === myself.primary) cluster.importing.delete(slot);
    }
    const wasMine = owners[slot] === myself;
    if (!hasKeys) cluster.migrating.delete(slot);
    cluster.release(slot);
    cluster.assign(slot, to);
    if (wasMine && to !== myself) cluster.migrating.delete(slot);
    if (to !== myself || !cluster.importing.has(slot)) return;
    // The move ends here. A new configuration epoch makes the others believe it.
    if (bumpEpoch(cluster)) cluster.note('slots', `Slot ${slot} moved here in epoch ${myself.configEpoch}`);
    cluster.importing.delete(slot);
    announce(cluster);
  };
}

/** The figures of a slot, in the order of the reply. */
const METRICS = ['key-count', 'cpu-usec', 'network-bytes-in', 'network-bytes-out'] as const;
type Metric = (typeof METRICS)[number];
const TWICE = 'ERR Multiple filters of the same type are disallowed.';
const BAD_LIMIT = 'ERR Limit has to lie in between 1 and 16384 (maximum number of slots).';

/** SLOT-STATS: how many keys slots have, and with `cluster-slot-stats-enabled` what requests for them cost. */
export function slotStats(cluster: Cluster, argv: readonly Bytes[]): Reply {
  const { myself, owners, server } = cluster;
  const { usage } = server.observer;
  const head = myself.head;
  const metrics = usage === undefined ? METRICS.slice(0, 1) : METRICS;
  const mine = (slot: number): boolean => owners[slot] !== undefined && owners[slot] === head;
  const figure = (metric: Metric, slot: number): number =>
    (metric === 'key-count' ? cluster.countKeys(slot) : usage?.of(metric, slot)) ?? 0;
  // A list that is as long as it becomes: one that grows would take ten times the room, 16,384 times.
  const described = (slot: number): Reply => [
    slot,
    new MapReply(
      usage === undefined
        ? [METRICS[0], cluster.countKeys(slot)]
        : METRICS.flatMap((metric) => [metric, figure(metric, slot)]),
    ),
  ];
  const kind = asciiUpper(wordAt(argv, 2));
  if (kind === 'SLOTSRANGE' && argv.length === 5) {
    const [first, last] = [slotIn(wordAt(argv, 3)), slotIn(wordAt(argv, 4))];
    if (first > last) fail(`ERR Start slot number ${first} is greater than end slot number ${last}`);
    const slots = Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(mine);
    return slots.map(described);
  }
  if (kind !== 'ORDERBY' || argv.length < 4) fail(SYNTAX);
  const word = asciiLower(wordAt(argv, 3));
  const by = metrics.find((metric) => metric === word) ?? fail('ERR Unrecognized sort metric for ORDERBY.');
  let [limit, descending] = [SLOT_COUNT, true];
  let [limited, directed] = [false, false];
  for (let at = 4; at < argv.length; at++) {
    const word = asciiUpper(wordAt(argv, at));
    if (word === 'LIMIT' && at + 1 < argv.length) {
      limit = integer(wordAt(argv, ++at), BAD_LIMIT);
      if (limit < 1 || limit > SLOT_COUNT) fail(BAD_LIMIT);
      if (limited) fail(TWICE);
      limited = true;
    } else if (word === 'ASC' || word === 'DESC') {
      if (directed) fail(TWICE);
      descending = word === 'DESC';
      directed = true;
    } else fail(SYNTAX);
  }
  const sign = descending ? -1 : 1;
  const all = [...owners.keys()].filter(mine);
  const figures = new Map(all.map((slot) => [slot, sign * figure(by, slot)]));
  all.sort((one, other) => figures.get(one)! - figures.get(other)! || one - other);
  return all.slice(0, limit).map(described);
}
