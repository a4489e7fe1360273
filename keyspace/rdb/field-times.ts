/**
 * Expiry times of hash fields. Redis 7.4 and Valkey 9 have forms of hashes with times. In files for servers without such
 * forms, the times are beside a plain hash, in an auxiliary field that these servers ignore.
 */
import { type Bytes, fromBuffer, type Millis, parseSafeInteger, toBuffer } from '../../protocol/bytes.ts';
import type { EncodingLimits } from '../collections/encoding.ts';
import { HashValue } from '../collections/hash.ts';
import { badFormat } from '../format/errors.ts';
import { ListpackBuilder, readListpack } from '../format/listpack.ts';
import { RdbReader } from '../format/reader.ts';
import { RdbWriter } from '../format/writer.ts';
import type { Value } from '../value.ts';
import type { RdbFormat } from './formats.ts';
import { VALUE } from './types.ts';

/** Valkey's expiry time of a field without a TTL. */
const NEVER = -1n;

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

/**
 * The number of the form in which Redis or Valkey stores a hash with field TTLs; undefined for a hash that it stores like
 * any other. Redis keeps the form of a small hash that once had TTLs.
 */
export function timedType(hash: HashValue, where: RdbFormat['fieldTimes']): number | undefined {
  if (hash.times === undefined || where === 'beside') return undefined;
  const has = hash.times.size > 0;
  if (where === 'valkey') return has ? VALUE.hashTimedValkey : undefined;
  if (hash.encoding() === 'hashtable') return has ? VALUE.hashTimed : undefined;
  return VALUE.hashTimedListpack;
}

/** Writes a hash with field TTLs in the form with this number. */
export function writeTimedHash(out: RdbWriter, hash: HashValue, type: number): void {
  if (type === VALUE.hashTimedValkey) {
    writeValkeyHash(out, hash);
    return;
  }
  const first = hash.times?.first ?? 0;
  out.int64(first);
  if (type === VALUE.hashTimedListpack) {
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

function writeValkeyHash(out: RdbWriter, hash: HashValue): void {
  out.size(hash.size);
  for (const [field, value] of hash.entries()) {
    out.string(field);
    out.string(value);
    out.int64(hash.times?.endOf(field) ?? NEVER);
  }
}

/** Fields, values and times, earliest first. Fields without a TTL come last, with time zero. */
function pack(hash: HashValue): Buffer {
  const builder = new ListpackBuilder();
  for (const [field, value] of hash.entries()) {
    builder.add(field);
    builder.add(value);
    builder.addInteger(BigInt(hash.times?.endOf(field) ?? 0));
  }
  return builder.finish();
}

/**
 * Reads Redis' hash table with field TTLs. Throws RdbError for inconsistent data.
 * @param draft the form of 7.4's release candidates, which has absolute times
 */
export function readTimedHash(input: RdbReader, limits: Readonly<EncodingLimits>, draft: boolean): HashValue {
  const hash = new HashValue(limits);
  const first = draft ? 1n : input.int64();
  for (let left = input.count(); left > 0; left--) {
    const distance = BigInt(input.size());
    const field = input.string();
    if (!hash.set(field, input.string())) throw badFormat('hash field twice');
    if (distance > 0n) expire(hash, field, first + distance - 1n);
  }
  return hash;
}

/**
 * Reads Redis' listpack with field TTLs. Throws RdbError for inconsistent data.
 * @param draft the form of 7.4's release candidates, without the earliest time in front
 */
export function readTimedListpack(
  input: RdbReader,
  limits: Readonly<EncodingLimits>,
  draft: boolean,
): HashValue {
  if (!draft) input.skip(8);
  const hash = new HashValue(limits);
  hash.keepTimes();
  const items = readListpack(input.blob());
  if (items.length % 3 !== 0) throw badFormat('hash field without value or time');
  for (let i = 0; i < items.length; i += 3) {
    if (!hash.set(items[i]!, items[i + 1]!)) throw badFormat('hash field twice');
  }
  // Of several fields with the same time, the one that was set last comes first.
  for (let i = items.length - 3; i >= 0; i -= 3) {
    const at = parseSafeInteger(items[i + 2]!) ?? -1;
    if (at !== 0) expire(hash, items[i]!, at);
  }
  return hash;
}

/** Reads Valkey's hash with field TTLs. Throws RdbError for inconsistent data. */
export function readValkeyHash(input: RdbReader, limits: Readonly<EncodingLimits>): HashValue {
  const hash = new HashValue(limits);
  for (let left = input.count(); left > 0; left--) {
    const field = input.string();
    if (!hash.set(field, input.string())) throw badFormat('hash field twice');
    const at = input.int64();
    if (at !== NEVER) expire(hash, field, at);
  }
  return hash;
}
