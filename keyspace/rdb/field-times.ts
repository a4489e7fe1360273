/**
 * Expiry times of hash fields. DUMP payloads use the form of Redis 7.4. Files and full syncs, which a redis-server 7.0
 * must be able to load, have a plain hash with the times beside it, in an auxiliary field that Redis ignores.
 */
import { type Bytes, fromBuffer, type Millis, parseSafeInteger, toBuffer } from '../../protocol/bytes.ts';
import type { EncodingLimits } from '../collections/encoding.ts';
import { HashValue } from '../collections/hash.ts';
import { badFormat } from '../format/errors.ts';
import { ListpackBuilder, readListpack } from '../format/listpack.ts';
import { RdbReader } from '../format/reader.ts';
import { RdbWriter } from '../format/writer.ts';
import type { Value } from '../value.ts';
import { VALUE } from './types.ts';

/** The name of the auxiliary field before a key. */
export const FIELD_TIMES = 'lostlock-field-times';

/** Writes the auxiliary field for a value with field TTLs; nothing for any other value. */
export function writeFieldTimes(out: RdbWriter, aux: number, value: Value): void {
  if (typeof value === 'string' || value.type !== 'hash' || !value.times?.size) return;
  const fact = new RdbWriter();
  fact.size(value.times.size);
  for (const { member, score } of value.times.entries()) {
    fact.string(member);
    fact.int64(score);
  }
  out.byte(aux);
  out.string(FIELD_TIMES);
  out.string(fromBuffer(fact.data()));
}

/** Applies an auxiliary field to the value of the key that follows it. */
export function applyFieldTimes(fact: Bytes, value: Value): void {
  if (typeof value === 'string' || value.type !== 'hash') throw badFormat('times of fields of no hash');
  const input = new RdbReader(toBuffer(fact));
  for (let left = input.count(); left > 0; left--) {
    const field = input.string();
    expire(value, field, input.int64());
  }
}

function expire(hash: HashValue, field: Bytes, at: number | bigint): void {
  const end: Millis = +at.toString();
  if (end < 0 || !hash.has(field)) throw badFormat('time of a field');
  hash.expireAt(field, end);
}

/** Writes a hash with field TTLs, and the number of its form before it. */
export function writeTimedHash(out: RdbWriter, hash: HashValue): void {
  const first = hash.times?.first ?? 0;
  const packed = hash.encoding() !== 'hashtable';
  out.byte(packed ? VALUE.hashTimedListpack : VALUE.hashTimed);
  out.int64(first);
  if (packed) {
    out.blob(pack(hash));
    return;
  }
  out.size(hash.size);
  for (const [field, value] of hash.entries()) {
    const at = hash.times?.endOf(field);
    out.size(at === undefined ? 0 : at - first + 1);
    out.string(field);
    out.string(value);
  }
}

/** Fields, values and times, earliest first. Fields without a TTL come last, with time zero. */
function pack(hash: HashValue): Buffer {
  const builder = new ListpackBuilder();
  for (const { member, score } of hash.times?.entries() ?? []) {
    builder.add(member);
    builder.add(hash.get(member)!);
    builder.addInteger(BigInt(score));
  }
  for (const [field, value] of hash.entries()) {
    if (hash.times?.endOf(field) !== undefined) continue;
    builder.add(field);
    builder.add(value);
    builder.addInteger(0n);
  }
  return builder.finish();
}

/** Reads a hash table with field TTLs. Throws RdbError for inconsistent data. */
export function readTimedHash(input: RdbReader, limits: Readonly<EncodingLimits>): HashValue {
  const hash = new HashValue(limits);
  const first = input.int64();
  for (let left = input.count(); left > 0; left--) {
    const distance = BigInt(input.size());
    const field = input.string();
    if (!hash.set(field, input.string())) throw badFormat('hash field twice');
    if (distance > 0n) expire(hash, field, first + distance - 1n);
  }
  return hash;
}

/** Reads a listpack with field TTLs. Throws RdbError for inconsistent data. */
export function readTimedListpack(input: RdbReader, limits: Readonly<EncodingLimits>): HashValue {
  input.int64();
  const hash = new HashValue(limits);
  const items = readListpack(input.blob());
  if (items.length % 3 !== 0) throw badFormat('hash field without value or time');
  for (let i = 0; i < items.length; i += 3) {
    const [field = '', value = '', time = ''] = items.slice(i, i + 3);
    if (!hash.set(field, value)) throw badFormat('hash field twice');
    const at = parseSafeInteger(time) ?? -1;
    if (at !== 0) expire(hash, field, at);
  }
  return hash;
}
