/** Reads a stored value in any form that Redis or Valkey writes or still reads. */
import { type Bytes, parseDouble } from '../../protocol/bytes.ts';
import type { EncodingLimits } from '../collections/encoding.ts';
import { HashValue } from '../collections/hash.ts';
import { ListValue } from '../collections/list.ts';
import { SetValue } from '../collections/set.ts';
import { SortedSet } from '../collections/sorted-set.ts';
import { badFormat, type RdbError } from '../format/errors.ts';
import { readListpack } from '../format/listpack.ts';
import type { RdbReader } from '../format/reader.ts';
import type { Value } from '../value.ts';
import { readTimedHash, readTimedListpack, readValkeyHash } from './field-times.ts';
import type { RdbFormat } from './formats.ts';
import { moduleOf, readModuleType } from './modules.ts';
import { readIntset, readZiplist, readZipmap } from './old-forms.ts';
import { OWN_VALUE, readOwnValue } from './own-value.ts';
import { readStream } from './stream.ts';
import { VALUE } from './types.ts';
import { readVectorSet, VECTOR_SET } from './vector-set.ts';

const STREAMS: ReadonlySet<number> = new Set([
  VALUE.streamListpacks,
  VALUE.streamListpacks2,
  VALUE.streamListpacks3,
  VALUE.streamListpacks4,
  VALUE.streamListpacks5,
]);

type Limits = Readonly<EncodingLimits>;

/**
 * Reads a value in the form with this number. A collection may be empty. Throws RdbError for inconsistent data, such as
 * a duplicate member, and for a form that servers with this format do not know.
 */
export function readBody(input: RdbReader, type: number, limits: Limits, format: RdbFormat): Value {
  if (type === VALUE.module) return readModule(input, format);
  checkKnown(input, type, format);
  switch (type) {
    case VALUE.string:
      return input.string();
    case VALUE.list:
      return new ListValue(strings(input, input.count()), limits);
    case VALUE.listZiplist:
      return quicklistOf(readZiplist(input.blob()), limits);
    case VALUE.listQuicklist:
      return quicklist(input, false, limits);
    case VALUE.listQuicklist2:
      return quicklist(input, true, limits);
    case VALUE.set:
      return tableOf(strings(input, input.count()), limits);
    case VALUE.setIntset:
      return setOf(readIntset(input.blob()), limits);
    case VALUE.setListpack:
      return setOf(readListpack(input.blob()), limits, limits.sizesValues ? 'listpack' : undefined);
    case VALUE.hash:
      return hashOf(strings(input, input.count() * 2), limits);
    case VALUE.hashZipmap:
      return hashOf(readZipmap(input.blob()), limits);
    case VALUE.hashZiplist:
      return packedHash(readZiplist(input.blob()), limits);
    case VALUE.hashListpack:
      return packedHash(readListpack(input.blob()), limits);
    case VALUE.hashTimed:
    case VALUE.hashTimedListpack:
    case VALUE.hashTimedDraft:
    case VALUE.hashTimedListpackDraft:
      return readTimed(input, type, limits, format);
    case VALUE.zset:
      return sortedSet(input, limits, () => input.double());
    case VALUE.zsetText:
      return sortedSet(input, limits, () => textScore(input));
    case VALUE.zsetZiplist:
      return sortedSetOf(readZiplist(input.blob()), limits);
    case VALUE.zsetListpack:
      return sortedSetOf(readListpack(input.blob()), limits);
    default:
      if (STREAMS.has(type)) return readStream(input, type, limits);
      throw badFormat(`value type ${type}`);
  }
}

/** A hash whose fields have expiry times, in the form with this number. */
function readTimed(input: RdbReader, type: number, limits: Limits, format: RdbFormat): HashValue {
  if (type === VALUE.hashTimed) return readTimedHash(input, limits, false);
  if (type === VALUE.hashTimedListpack) return readTimedListpack(input, limits, false);
  if (type === VALUE.hashTimedListpackDraft) return readTimedListpack(input, limits, true);
  return format.fieldTimes === 'valkey' ? readValkeyHash(input, limits) : readTimedHash(input, limits, true);
}

/** Throws RdbError for a form that servers with this format do not know. */
function checkKnown(input: RdbReader, type: number, format: RdbFormat): void {
  if (format.types.has(type)) return;
  if (type === VALUE.moduleDraft) throw unknownModule(moduleOf(input));
  throw badFormat(`value type ${type}`);
}

function unknownModule(name: Bytes): RdbError {
  return badFormat(`a value of the module type '${name}', which is not known here`);
}

/** Vector sets are the only values of a module that a server with this format may know. Every node takes the values of users' commands. */
function readModule(input: RdbReader, format: RdbFormat): Value {
  const module = readModuleType(input);
  if (module.name === OWN_VALUE.name) return readOwnValue(input);
  if (module.name !== VECTOR_SET.name || !format.types.has(VALUE.module)) throw unknownModule(module.name);
  return readVectorSet(input, module, format);
}

function strings(input: RdbReader, count: number): Bytes[] {
  const out: Bytes[] = [];
  for (let i = 0; i < count; i++) out.push(input.string());
  return out;
}

/** A list that stays a quicklist, whatever the server makes of new ones. */
function quicklistOf(elements: Bytes[], limits: Limits): ListValue {
  const list = new ListValue(elements, limits);
  list.outgrow();
  return list;
}

/** Only a single node with a listpack becomes a list that is one. */
function quicklist(input: RdbReader, second: boolean, limits: Limits): ListValue {
  const elements: Bytes[] = [];
  let nodes = 0;
  let plain = false;
  for (let left = input.count(); left > 0; left--) {
    const container = second ? input.size() : 2;
    plain ||= container === 1;
    const before = elements.length;
    if (container === 1) {
      elements.push(input.string());
    } else {
      if (container !== 2) throw badFormat('quicklist node');
      const data = input.blob();
      for (const element of second ? readListpack(data) : readZiplist(data)) elements.push(element);
    }
    // A node without elements is left out.
    if (elements.length > before) nodes++;
  }
  return nodes === 1 && !plain ? new ListValue(elements, limits) : quicklistOf(elements, limits);
}

/** A set that was written as a hash table: with more members than an intset may have, it stays one. */
function tableOf(members: readonly Bytes[], limits: Limits): SetValue {
  return setOf(members, limits, members.length > limits.setMaxIntset ? 'hashtable' : undefined);
}

function setOf(members: readonly Bytes[], limits: Limits, as?: 'listpack' | 'hashtable'): SetValue {
  const set = new SetValue(limits);
  if (as !== undefined) set.leaveIntset(as);
  for (const member of members) if (!set.add(member)) throw badFormat('set member twice');
  // A compact form has other limits where it was written. Here only the number of members counts.
  if (as === 'listpack' && members.length <= limits.setMaxEntries) set.stayPacked();
  return set;
}

/** A hash in a compact form, which it keeps unless it has too many fields. */
function packedHash(pairs: readonly Bytes[], limits: Limits): HashValue {
  const hash = hashOf(pairs, limits);
  if (hash.size <= limits.hashMaxEntries) hash.stayPacked();
  return hash;
}

function hashOf(pairs: readonly Bytes[], limits: Limits): HashValue {
  if (pairs.length % 2 !== 0) throw badFormat('hash field without value');
  const hash = new HashValue(limits);
  for (let i = 0; i < pairs.length; i += 2) {
    if (!hash.set(pairs[i]!, pairs[i + 1]!)) throw badFormat('hash field twice');
  }
  return hash;
}

function sortedSetOf(pairs: readonly Bytes[], limits: Limits): SortedSet {
  if (pairs.length % 2 !== 0) throw badFormat('sorted set member without score');
  const zset = new SortedSet(limits, pairs.length / 2);
  for (let i = 0; i < pairs.length; i += 2) {
    const score = parseDouble(pairs[i + 1]!);
    if (score === undefined || Number.isNaN(score)) throw badFormat('score');
    if (!zset.addStored(pairs[i]!, score)) throw badFormat('sorted set member twice');
  }
  return zset;
}

function sortedSet(input: RdbReader, limits: Limits, score: () => number): SortedSet {
  const pairs: [Bytes, number][] = [];
  for (let left = input.count(); left > 0; left--) pairs.push([input.string(), score()]);
  // A set that stays a skiplist must be one from the start, because only a skiplist can have a score of -0.
  const long = pairs.some(([member]) => member.length > limits.zsetMaxValue);
  const zset = new SortedSet(limits, long ? Infinity : pairs.length);
  for (const [member, value] of pairs) addScored(zset, member, value);
  return zset;
}

function addScored(zset: SortedSet, member: Bytes, score: number | undefined): void {
  if (score === undefined || Number.isNaN(score)) throw badFormat('score');
  if (zset.set(member, score) !== 'added') throw badFormat('sorted set member twice');
}

/** A score as the first RDB versions stored it: one byte of length and a text, or a special value. */
function textScore(input: RdbReader): number {
  const length = input.byte();
  if (length === 255) return -Infinity;
  if (length === 254) return Infinity;
  const score = length === 253 ? undefined : parseDouble(input.raw(length));
  if (score === undefined) throw badFormat('score');
  return score;
}
