/** Streams in RDB: runs of entries as listpacks, then ids and counts, then consumer groups. */

import { approximate, type Bytes, type Millis, narrow } from '../../protocol/bytes.ts';
import type { EncodingLimits } from '../collections/encoding.ts';
import { badFormat } from '../format/errors.ts';
import { ListpackBuilder, readListpack } from '../format/listpack.ts';
import type { RdbReader } from '../format/reader.ts';
import type { RdbWriter } from '../format/writer.ts';
import type { StreamConsumer, StreamGroup } from '../stream/group.ts';
import { idBytes, idMillis, idSequence, MAX_ID, MIN_ID, makeId, type StreamId } from '../stream/id.ts';
import { DURATION_MAX, type Idempotence, PRODUCER_IDS_MAX } from '../stream/idempotence.ts';
import { entriesReadUpTo } from '../stream/lag.ts';
import { StreamNode } from '../stream/node.ts';
import { StreamValue } from '../stream/stream.ts';
import { VALUE } from './types.ts';

/** The flags of an entry. */
const DELETED = 1;
const SAME_FIELDS = 2;
/** The stored form of an unknown count. */
const UNKNOWN = 0xffffffffffffffffn;

/** Writes a stream in one of the forms from `streamListpacks2` on. */
export function writeStream(out: RdbWriter, stream: StreamValue, type: number): void {
  const nodes = stream.nodes().filter((node) => node.length > 0);
  out.size(nodes.length);
  for (const node of nodes) {
    out.string(idBytes(node.headId));
    out.blob(packNode(node));
  }
  out.size(stream.length);
  writeId(out, stream.lastId);
  writeId(out, stream.firstId);
  writeId(out, stream.maxDeletedId);
  out.size(BigInt.asUintN(64, stream.entriesAdded));
  const groups = stream.sortedGroups();
  out.size(groups.length);
  for (const group of groups) writeGroup(out, group, type);
  if (type >= VALUE.streamListpacks4) writeIdempotence(out, stream.idempotence);
}

function writeIdempotence(out: RdbWriter, idempotence: Idempotence): void {
  out.size(idempotence.duration);
  out.size(idempotence.maxSize);
  const producers = idempotence.producers();
  out.size(producers.length);
  for (const [name, ids] of producers) {
    out.string(name);
    out.size(ids.size);
    for (const [id, entry] of ids) {
      out.string(id);
      writeId(out, entry);
    }
  }
  out.size(idempotence.added);
  out.size(idempotence.duplicates);
}

function writeId(out: RdbWriter, id: StreamId): void {
  out.size(idMillis(id));
  out.size(idSequence(id));
}

function writeRawId(out: RdbWriter, id: StreamId): void {
  out.uint64be(idMillis(id));
  out.uint64be(idSequence(id));
}

function writeGroup(out: RdbWriter, group: StreamGroup, type: number): void {
  out.string(group.name);
  writeId(out, group.lastId);
  out.size(group.entriesRead === undefined ? UNKNOWN : BigInt.asUintN(64, group.entriesRead));
  // A server without XNACK has no place for an entry that belongs to nobody.
  const released = type >= VALUE.streamListpacks5;
  out.size(group.pending.size - (released ? 0 : group.nobody.pending.size));
  for (const { id, consumer, deliveredAt, deliveries } of group.pending.values()) {
    if (!released && consumer === group.nobody) continue;
    writeRawId(out, id);
    out.int64(deliveredAt);
    out.size(deliveries >= 0n ? deliveries : BigInt.asUintN(64, deliveries));
  }
  out.size(group.consumers.size);
  for (const consumer of group.sortedConsumers()) {
    out.string(consumer.name);
    out.int64(consumer.seenAt);
    if (type >= VALUE.streamListpacks3) out.int64(consumer.activeAt);
    out.size(consumer.pending.size);
    for (const id of consumer.pending.keys()) writeRawId(out, id);
  }
  if (released) writeReleased(out, group);
}

/** The ids of the released entries, in the order of their release. */
function writeReleased(out: RdbWriter, group: StreamGroup): void {
  const released = [...group.nobody.pending.values()].sort((a, b) => a.turn - b.turn);
  out.size(released.length);
  for (const { id } of released) writeRawId(out, id);
}

/** The difference of two halves of ids, as a signed 64-bit number. Numbers take half the time of bigints. */
function distance(half: bigint, head: bigint): number | bigint {
  const [near, far] = [approximate(half), approximate(head)];
  const exact = near <= Number.MAX_SAFE_INTEGER && far <= Number.MAX_SAFE_INTEGER;
  return exact ? near - far : BigInt.asIntN(64, half - head);
}

/** A run as its listpack: counts and fields of the first entry, then each entry relative to that one. */
function packNode(node: StreamNode): Buffer {
  const pack = new ListpackBuilder();
  const [headMillis, headSequence] = [idMillis(node.headId), idSequence(node.headId)];
  pack.addInteger(node.length);
  pack.addInteger(0);
  pack.addInteger(node.headFields.length);
  for (const field of node.headFields) pack.add(field);
  pack.addInteger(0);
  for (let position = 0; position < node.length; position++) {
    const { id, fields } = node.entryAt(position);
    const same = node.sameFields(fields);
    const start = pack.count;
    pack.addInteger(same ? SAME_FIELDS : 0);
    pack.addInteger(distance(idMillis(id), headMillis));
    pack.addInteger(distance(idSequence(id), headSequence));
    if (!same) pack.addInteger(fields.length / 2);
    for (let i = same ? 1 : 0; i < fields.length; i += same ? 2 : 1) pack.add(fields[i]!);
    pack.addInteger(pack.count - start);
  }
  return pack.finish();
}

/** Reads a stream in the form of any version. Throws RdbError for inconsistent data. */
export function readStream(input: RdbReader, type: number, limits: Readonly<EncodingLimits>): StreamValue {
  const counts = limits.countsStreams;
  const stream = new StreamValue(limits);
  for (let nodes = input.count(); nodes > 0; nodes--) {
    const key = input.blob();
    if (key.length !== 16) throw badFormat('stream node key');
    const node = unpackNode(
      makeId(key.readBigUInt64BE(0), key.readBigUInt64BE(8)),
      readListpack(input.blob()),
      counts,
    );
    stream.addNode(node);
  }
  const length = approximate(input.size());
  if (length !== stream.length && (counts || stream.nodeCount === 0)) throw badFormat('stream length');
  // Redis believes what is stored, in spite of the runs.
  stream.believe(length);
  stream.lastId = readId(input);
  const later = type !== VALUE.streamListpacks;
  const [first] = stream.range(MIN_ID, MAX_ID, 1);
  if (later) {
    stream.firstId = readId(input);
    stream.maxDeletedId = readId(input);
    stream.entriesAdded = BigInt.asIntN(64, BigInt(input.size()));
  } else {
    stream.firstId = first?.id ?? MAX_ID;
    stream.entriesAdded = BigInt(stream.length);
  }
  for (let groups = input.count(); groups > 0; groups--) readGroup(input, stream, type);
  if (type >= VALUE.streamListpacks4) readIdempotence(input, stream.idempotence);
  return stream;
}

function readIdempotence(input: RdbReader, idempotence: Idempotence): void {
  const limit = (max: number, what: string): number => {
    const value = input.size();
    if (typeof value !== 'number' || value < 1 || value > max) throw badFormat(what);
    return value;
  };
  idempotence.duration = limit(DURATION_MAX, 'duration of idempotence');
  idempotence.maxSize = limit(PRODUCER_IDS_MAX, 'size of idempotence');
  for (let producers = input.count(); producers > 0; producers--) {
    const name = input.string();
    for (let ids = input.count(); ids > 0; ids--) idempotence.restore(name, input.string(), readId(input));
  }
  idempotence.added = BigInt(input.size());
  idempotence.duplicates = BigInt(input.size());
}

function readId(input: RdbReader): StreamId {
  return makeId(input.size(), input.size());
}

/** How many entries a group has read; undefined when it is stored as unknown. */
function readEntriesRead(input: RdbReader): bigint | undefined {
  const count = BigInt.asIntN(64, BigInt(input.size()));
  return count === -1n ? undefined : count;
}

function readRawId(input: RdbReader): StreamId {
  return makeId(input.uint64be(), input.uint64be());
}

function readMillis(input: RdbReader): Millis {
  const value = narrow(input.int64());
  return typeof value === 'number' ? value : Number.MAX_SAFE_INTEGER;
}

function readGroup(input: RdbReader, stream: StreamValue, type: number): void {
  const name = input.string();
  const lastId = readId(input);
  const later = type !== VALUE.streamListpacks;
  const entriesRead = later ? readEntriesRead(input) : entriesReadUpTo(stream, lastId, 'blindly');
  const group = stream.createGroup(name, lastId, entriesRead);
  if (group === undefined) throw badFormat('stream group twice');
  const unowned = new Map<StreamId, { deliveredAt: Millis; deliveries: bigint }>();
  for (let left = input.count(); left > 0; left--) {
    const id = readRawId(input);
    if (unowned.has(id)) throw badFormat('pending entry twice');
    unowned.set(id, { deliveredAt: readMillis(input), deliveries: BigInt(input.size()) });
  }
  for (let left = input.count(); left > 0; left--) {
    const consumer = group.createConsumer(input.string(), readMillis(input));
    if (consumer === undefined) throw badFormat('stream consumer twice');
    consumer.activeAt = type >= VALUE.streamListpacks3 ? readMillis(input) : consumer.seenAt;
    readConsumer(input, group, consumer, unowned);
  }
  const released: StreamId[] = [];
  for (let left = type >= VALUE.streamListpacks5 ? input.count() : 0; left > 0; left--) {
    const id = readRawId(input);
    const pending = unowned.get(id);
    if (pending === undefined) throw badFormat('released entry');
    group.release(id, pending.deliveries);
    unowned.delete(id);
    released.push(id);
  }
  if (unowned.size > 0) throw badFormat('pending entry without consumer');
  for (const pending of group.pending.values()) group.redeliver(pending, pending.deliveredAt);
  for (const id of released) group.redeliver(group.pending.get(id)!, 0);
}

function readConsumer(
  input: RdbReader,
  group: StreamGroup,
  consumer: StreamConsumer,
  unowned: Map<StreamId, { deliveredAt: Millis; deliveries: bigint }>,
): void {
  for (let left = input.count(); left > 0; left--) {
    const id = readRawId(input);
    const pending = unowned.get(id);
    if (pending === undefined) throw badFormat("consumer's pending entry");
    group.assign(id, consumer, pending.deliveredAt, pending.deliveries);
    unowned.delete(id);
  }
}

function unpackNode(headId: StreamId, elements: readonly Bytes[], counts: boolean): StreamNode {
  let at = 0;
  const text = (): Bytes => {
    const element = elements[at++];
    if (element === undefined) throw badFormat('stream entry');
    return element;
  };
  const integer = (): bigint => {
    const element = text();
    if (!/^-?\d{1,19}$/.test(element)) throw badFormat('stream entry number');
    return BigInt(element);
  };
  const count = (): number => {
    const value = narrow(integer());
    if (typeof value !== 'number' || value < 0 || value > elements.length)
      throw badFormat('stream entry count');
    return value;
  };
  const live = integer();
  const deleted = integer();
  const headFields = Array.from({ length: count() }, text);
  if (integer() !== 0n) throw badFormat('stream head entry');
  const node = new StreamNode(headId, headFields);
  let gone = 0;
  while (at < elements.length) {
    const start = at;
    const flags = count();
    const ms = BigInt.asUintN(64, idMillis(headId) + integer());
    const id = makeId(ms, BigInt.asUintN(64, idSequence(headId) + integer()));
    const same = (flags & SAME_FIELDS) !== 0;
    const pairs = same ? headFields.length : count();
    const fields = same
      ? headFields.flatMap((field) => [field, text()])
      : Array.from({ length: pairs * 2 }, text);
    // The size of the entry, by which Redis walks backwards.
    const size = integer();
    if (counts && size !== BigInt(at - 1 - start)) throw badFormat('stream entry size');
    node.append(id, fields);
    if ((flags & DELETED) !== 0) {
      node.remove(node.length - 1, 1);
      gone++;
    }
  }
  if (counts && (BigInt(node.length) !== live || BigInt(gone) !== deleted))
    throw badFormat('stream node counts');
  return node;
}
