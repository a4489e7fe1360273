/** The subcommands of CLUSTER with which primaries of Valkey 9 move slots (https://valkey.io/commands/cluster-migrateslots/). */
import { asciiLower, asciiUpper, type Bytes, parseInteger } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { OK, type Reply, ReplyError, SimpleString } from '../../protocol/reply.ts';
import { type Client, PRIMARY_LINK, REPLY_OFF } from '../../server/clients/client.ts';
import { wordAt } from '../../server/table/arguments.ts';
import { type Outcome, SILENT } from '../../server/table/outcome.ts';
import type { Cluster } from '../cluster.ts';
import type { Member } from '../member.ts';
import { describeTask, type Move, NAME_LENGTH, overlap, type SlotRange } from '../moving/move.ts';
import type { SlotMoves } from '../moving/moves.ts';
import { slotIn } from './slots.ts';

/** Throws unless this node may take part in a move. */
function checkMoves({ myself, importing, migrating }: Cluster): void {
  if (!myself.isPrimary) fail('ERR Slot migration can only be used on primary nodes.');
  if (importing.size > 0) fail('ERR Slots are being manually imported');
  if (migrating.size > 0) fail('ERR Slots are being manually migrated');
}

/** Ranges of slots that belong to one node. */
interface Ranges {
  readonly ranges: readonly SlotRange[];
  readonly owner: Member;
  /** The position after them. */
  readonly end: number;
}

/** Reads ranges of slots up to the first word that is no integer. */
function readRanges({ owners }: Cluster, argv: readonly Bytes[], from: number): Ranges {
  const ranges: SlotRange[] = [];
  let owner: Member | undefined;
  let at = from;
  for (; at < argv.length && parseInteger(wordAt(argv, at)) !== undefined; at += 2) {
    const first = slotIn(wordAt(argv, at));
    const last = slotIn(argv[at + 1] ?? fail('ERR No end slot for final slot range'));
    if (first > last) fail(`ERR Start slot number ${first} is greater than end slot number ${last}.`);
    for (let slot = first; slot <= last; slot++) {
      const each = owners[slot] ?? fail(`ERR Slot ${slot} has no node served.`);
      owner ??= each;
      if (each !== owner) fail('ERR Requested slots span multiple shards');
    }
    const before = ranges.find((range) => overlap([range], [[first, last]]));
    if (before !== undefined) {
      fail(`ERR Slot range ${first}-${last} overlaps with previous range ${before[0]}-${before[1]}.`);
    }
    ranges.push([first, last]);
  }
  return { ranges, owner: owner ?? fail('ERR No slot ranges specified'), end: at };
}

/** MIGRATESLOTS: begins to move slots to other nodes. */
export function migrateSlots(moves: SlotMoves, argv: readonly Bytes[]): Reply {
  const { cluster } = moves;
  checkMoves(cluster);
  const wanted: { to: Member; ranges: readonly SlotRange[] }[] = [];
  for (let at = 2; at < argv.length; ) {
    if (asciiUpper(wordAt(argv, at)) !== 'SLOTSRANGE') fail(SYNTAX);
    const { ranges, owner, end } = readRanges(cluster, argv, at + 1);
    if (owner !== cluster.myself) fail('ERR Slots are not served by this node.');
    const underway = moves.exporting(ranges);
    if (underway !== undefined) {
      const slots = ranges.flatMap(([first, last]) =>
        Array.from({ length: last - first + 1 }, (_, i) => first + i),
      );
      fail(`ERR I am already migrating slot ${slots.find((slot) => underway.has(slot))}.`);
    }
    if (wanted.some((other) => overlap(other.ranges, ranges))) fail('ERR Slot ranges in migrations overlap');
    if (end + 1 >= argv.length || asciiUpper(wordAt(argv, end)) !== 'NODE') fail(SYNTAX);
    const id = wordAt(argv, end + 1);
    if (id.length !== NAME_LENGTH) fail(`ERR Invalid node name: ${id}`);
    const to = cluster.members.get(id) ?? fail(`ERR Unknown node name: ${id}`);
    if (to === cluster.myself) fail('ERR Target node can not be this node.');
    wanted.push({ to, ranges });
    at = end + 2;
  }
  moves.export(wanted);
  return OK;
}

/** CANCELSLOTMIGRATIONS: gives up the moves from this node. */
export function cancelMoves(moves: SlotMoves): Reply {
  return moves.cancel() ? OK : fail('ERR No migrations ongoing');
}

/** GETSLOTMIGRATIONS: describes the moves that are underway, and those that have ended. */
export function describeMoves(moves: SlotMoves): Reply {
  return moves.all.map((move) => move.describe());
}

/** MIGRATION of Redis: asks other nodes for slots, and lists and gives up moves. */
export function migration(moves: SlotMoves, argv: readonly Bytes[]): Reply {
  const [, , word = '', which = '', id] = argv;
  const action = asciiUpper(word);
  if (action === 'IMPORT') return importSlots(moves, argv);
  if (action !== 'STATUS' && action !== 'CANCEL') fail('ERR unknown argument');
  if (argv.length > 5) fail(ARITY);
  const kind = asciiUpper(which);
  if (kind !== 'ALL' && kind !== 'ID') fail('ERR unknown argument');
  if (argv.length !== (kind === 'ID' ? 5 : 4)) fail(ARITY);
  const chosen = (move: Move): boolean => kind === 'ALL' || move.name === id;
  return action === 'CANCEL' ? moves.giveUp(chosen) : moves.all.filter(chosen).map(describeTask);
}

const ARITY = "ERR wrong number of arguments for 'cluster|migration' command";

/** Reads ranges of slots. Returns them in order, those that touch as one. */
function sortedRanges(argv: readonly Bytes[], from: number): SlotRange[] {
  const slots = new Set<number>();
  for (let at = from; at < argv.length; at += 2) {
    const [first, last] = [slotIn(wordAt(argv, at)), slotIn(wordAt(argv, at + 1))];
    if (first > last) fail(`ERR start slot number ${first} is greater than end slot number ${last}`);
    for (let slot = first; slot <= last; slot++) {
      if (slots.has(slot)) fail(`ERR Slot ${slot} specified multiple times`);
      slots.add(slot);
    }
  }
  const ranges: [number, number][] = [];
  for (const slot of [...slots].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === slot - 1) last[1] = slot;
    else ranges.push([slot, slot]);
  }
  return ranges;
}

/** The move that has not ended. One that waits to ask its source again is given up for a new one. */
function underway(moves: SlotMoves, why: Bytes): Move | undefined {
  const move = moves.all.find(({ isFinished }) => !isFinished);
  if (move?.state !== 'waiting-to-ask') return move;
  move.cancel(why);
  return undefined;
}

/** MIGRATION IMPORT: asks the node that has the slots for them. */
function importSlots(moves: SlotMoves, argv: readonly Bytes[]): Reply {
  const { myself, owners, importing, migrating } = moves.cluster;
  if (argv.length < 5 || argv.length % 2 === 0) fail(ARITY);
  const ranges = sortedRanges(argv, 3);
  if (myself.isReplica) fail('ERR slot migration not allowed on replica.');
  if (importing.size + migrating.size > 0)
    fail('ERR all slot states must be STABLE to start a slot migration task.');
  let source: Member | undefined;
  for (const [first, last] of ranges) {
    for (let slot = first; slot <= last; slot++) {
      const owner = owners[slot] ?? fail(`ERR slot has no owner: ${slot}`);
      source ??= owner;
      if (owner !== source) fail('ERR slots belong to different source nodes');
    }
  }
  if (source === undefined || source === myself) fail('ERR this node is already the owner of the slot range');
  const other = underway(moves, 'new import requested');
  if (other !== undefined && overlap(other.ranges, ranges)) {
    const range = ranges.find((each) => overlap(other.ranges, [each]));
    fail(`ERR overlapping import exists for slot range: ${range?.join('-')}`);
  }
  if (other !== undefined) fail('ERR another ASM task is already in progress');
  return moves.request(source, ranges);
}

/** Refuses a client that is not a node of the cluster, and closes its connection. */
function expel(client: Client): Outcome {
  client.reply(new ReplyError(INTERNAL));
  client.close();
  return SILENT;
}

const INTERNAL = 'ERR CLUSTER SYNCSLOTS subcommands are only allowed for internal clients';

/**
 * SYNCSLOTS between nodes that answer as Redis. SYNC asks this node for slots; all other words are those of Valkey. No secret
 * protects SYNC: this node connects to a member of its cluster, and that member takes part only if it has sent the request.
 */
export function syncTask(moves: SlotMoves, argv: readonly Bytes[], client: Client): Outcome {
  const [, , word = '', name = '', mark = '', id = ''] = argv;
  if (asciiUpper(word) === 'SYNC' && mark === 'FOR' && name.length === NAME_LENGTH) {
    const { cluster } = moves;
    const to = cluster.members.get(id);
    if (to === undefined) return expel(client);
    const { ranges, owner } = readRanges(cluster, argv, 6);
    if (owner !== cluster.myself) fail('ERR slots are not served by this node');
    const other = underway(moves, 'new migration requested');
    if (other === undefined) moves.answer(name, to, ranges);
    else if (other.name !== name) fail('ERR Another ASM task is already in progress');
    return new SimpleString('SYNCSLOTS');
  }
  const named = asciiUpper(word) === 'ESTABLISH' ? argv[argv.indexOf('NAME') + 1] : undefined;
  if (named !== undefined && moves.join(client, named)) {
    client.reply(OK);
    client.mark(REPLY_OFF, true);
    return SILENT;
  }
  if (moves.importOf(client) === undefined) return expel(client);
  return syncSlots(moves, argv, client);
}

/** SYNCSLOTS: what the two nodes of a move tell each other, and a primary its replicas. */
export function syncSlots(moves: SlotMoves, argv: readonly Bytes[], client: Client): Outcome {
  const word = asciiLower(wordAt(argv, 2));
  if (word === 'establish') return establish(moves, argv, client);
  if (word === 'finish') return finish(moves, argv);
  if (client.has(PRIMARY_LINK) || word === 'capa') return SILENT;
  const move = moves.importOf(client);
  const outsider = (): never =>
    fail(`ERR CLUSTER SYNCSLOTS ${asciiUpper(word)} should only be used by slot migration clients`);
  switch (word) {
    case 'ack':
    case 'snapshot-eof':
    case 'paused':
    case 'failover-granted':
      (move ?? outsider()).told(word);
      return SILENT;
    case 'request-pause':
    case 'request-failover':
      (move ?? outsider()).finish('failed', 'Unexpected state machine transition');
      return SILENT;
    default:
      if (move === undefined) fail(SYNTAX);
      move.finish('failed', 'Unknown SYNCSLOTS subcommand used');
      return SILENT;
  }
}

/** A name of a node or a move, which may be given once. */
function nameAt(argv: readonly Bytes[], at: number, before: Bytes | undefined): Bytes {
  const name = argv[at];
  return before !== undefined || name?.length !== NAME_LENGTH ? fail(SYNTAX) : name;
}

/** ESTABLISH: this node takes part in a move to it; a replica hears of a move to its primary. */
function establish(moves: SlotMoves, argv: readonly Bytes[], client: Client): Outcome {
  const { cluster } = moves;
  const isReplicated = client.has(PRIMARY_LINK);
  if (!isReplicated) checkMoves(cluster);
  let name: Bytes | undefined;
  let source: Bytes | undefined;
  let found: Ranges | undefined;
  for (let at = 3; at < argv.length; ) {
    const option = asciiUpper(wordAt(argv, at));
    if (option === 'SOURCE') {
      const id = nameAt(argv, at + 1, source);
      if (!isReplicated) {
        const member = cluster.members.get(id) ?? fail('ERR Target node does not know the source node');
        if (member === cluster.myself) fail('ERR Source node is target node itself');
        source = id;
      }
      at += 2;
    } else if (option === 'NAME') {
      name = nameAt(argv, at + 1, name);
      at += 2;
    } else if (option === 'SLOTSRANGE') {
      if (found !== undefined) fail(SYNTAX);
      found = readRanges(cluster, argv, at + 1);
      if (moves.importing(found.ranges))
        fail('ERR Slot is already being imported on the target by a different migration');
      at = found.end;
    } else fail(SYNTAX);
  }
  if (name === undefined || found === undefined) fail(SYNTAX);
  if (isReplicated) {
    moves.import(undefined, name, found.ranges, undefined);
    return OK;
  }
  if (source === undefined) fail(SYNTAX);
  if (found.owner.id !== source) fail('ERR Target node does not agree about current slot ownership');
  client.reply(OK);
  moves.import(client, name, found.ranges, { source, target: cluster.myself.id });
  client.mark(REPLY_OFF, true);
  const { server } = cluster;
  server.effects.propagateOwn(server.db(0), argv);
  return SILENT;
}

/** FINISH: a replica hears that a move to its primary has ended. */
function finish(moves: SlotMoves, argv: readonly Bytes[]): Reply {
  let state: Bytes | undefined;
  let name: Bytes | undefined;
  let message: Bytes | undefined;
  for (let at = 3; at < argv.length; at += 2) {
    const option = asciiUpper(wordAt(argv, at));
    const value = argv[at + 1] ?? fail(SYNTAX);
    if (option === 'STATE' && state === undefined) state = asciiLower(value);
    else if (option === 'NAME') name = nameAt(argv, at + 1, name);
    else if (option === 'MESSAGE' && message === undefined) message = value;
    else fail(SYNTAX);
  }
  if (state === undefined || name === undefined) fail(SYNTAX);
  const move = moves.named(name) ?? fail('ERR No such slot migration job');
  if (state !== 'success' && state !== 'failed') fail(SYNTAX);
  move.finish(state, message);
  return OK;
}
