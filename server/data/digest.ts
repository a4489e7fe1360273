/** DEBUG DIGEST: equal datasets have equal digests, computed as by the server whose dump format is used. */
import { createHash } from 'node:crypto';
import type { HashValue } from '../../keyspace/collections/hash.ts';
import type { Entry } from '../../keyspace/entry.ts';
import { NONE } from '../../keyspace/expiry/deadlines.ts';
import type { Keyspace } from '../../keyspace/keyspace.ts';
import type { RdbFormat } from '../../keyspace/rdb/formats.ts';
import { idMillis, idSequence, MAX_ID, MIN_ID } from '../../keyspace/stream/id.ts';
import { typeOf } from '../../keyspace/value.ts';
import type { VectorSet } from '../../keyspace/vector/vector-set.ts';
import { type Bytes, fromBuffer, toBuffer } from '../../protocol/bytes.ts';

const LENGTH = 20;
const TYPES = { string: 0, list: 1, set: 2, zset: 3, hash: 4, vectorset: 5, own: 5, stream: 6 } as const;

function sha1(data: Uint8Array): Buffer {
  return createHash('sha1').update(data).digest();
}

/** Mixes in data whose order does not matter. */
function xor(digest: Buffer, data: Uint8Array): void {
  const hash = sha1(data);
  for (let i = 0; i < LENGTH; i++) digest[i]! ^= hash[i]!;
}

/** Mixes in data whose order matters. */
function mix(digest: Buffer, data: Uint8Array): void {
  xor(digest, data);
  sha1(digest).copy(digest);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Mixes in members that have no order, each with its parts. */
function mixSets(digest: Buffer, items: Iterable<readonly Bytes[]>): void {
  for (const parts of items) {
    const own = Buffer.alloc(LENGTH);
    for (const part of parts) mix(own, toBuffer(part));
    xor(digest, own);
  }
}

/** Mixes in a hash's fields and values. Redis marks a field with a TTL, Valkey does not. */
function mixHash(digest: Buffer, hash: HashValue, format: RdbFormat): void {
  const times = format.fieldTimes === 'redis' ? hash.times : undefined;
  for (const [field, value] of hash.entries()) {
    const own = Buffer.alloc(LENGTH);
    mix(own, toBuffer(field));
    mix(own, toBuffer(value));
    if (times?.endOf(field) !== undefined) xor(own, toBuffer('!!hexpire!!'));
    xor(digest, own);
  }
}

/** Mixes in the digest that the module of vector sets makes, in which the order of the elements does not matter. */
function mixVectors(digest: Buffer, set: VectorSet): void {
  const own = Buffer.alloc(LENGTH);
  const shape = [String(set.size), String(set.dimension)];
  const nodes = [...set.nodes()].map(({ data, element, attributes }) => {
    const vector = fromBuffer(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return attributes === undefined ? [vector, element] : [vector, element, attributes];
  });
  for (const parts of [shape, ...nodes]) {
    const sequence = Buffer.alloc(LENGTH);
    for (const part of parts) mix(sequence, toBuffer(part));
    xor(own, sequence);
  }
  xor(digest, own);
}

function mixEntry(digest: Buffer, entry: Entry, format: RdbFormat): void {
  const value = entry.read();
  const { deadline } = entry;
  mix(digest, word(TYPES[typeOf(value)]));
  if (typeof value === 'string') mix(digest, toBuffer(value));
  else if (value.type === 'list') for (const item of value.values()) mix(digest, toBuffer(item));
  else if (value.type === 'set') for (const member of value.values()) xor(digest, toBuffer(member));
  else if (value.type === 'hash') mixHash(digest, value, format);
  else if (value.type === 'zset') {
    mixSets(
      digest,
      [...value.entries()].map(({ member, score }) => [member, format.scoreText(score)]),
    );
  } else if (value.type === 'vectorset') mixVectors(digest, value);
  else if (value.type === 'own') for (const part of [value.word, value.data]) mix(digest, toBuffer(part));
  else {
    for (const { id, fields } of value.range(MIN_ID, MAX_ID)) {
      mix(digest, toBuffer(`${idMillis(id)}.${idSequence(id)}`));
      for (const part of fields) mix(digest, toBuffer(part));
    }
  }
  if (deadline !== NONE) xor(digest, toBuffer('!!expire!!'));
}

/**
 * Returns the digest of one key's value; zeros if the key does not exist.
 * @param format the dump format of the server whose digest is computed
 */
export function digestOfValue(db: Keyspace, key: Bytes, format: RdbFormat): Bytes {
  const digest = Buffer.alloc(LENGTH);
  const entry = db.peek(key);
  if (entry !== undefined) mixEntry(digest, entry, format);
  return digest.toString('hex');
}

/**
 * Returns the digest of all databases.
 * @param format the dump format of the server whose digest is computed
 */
export function digestOfAll(databases: readonly Keyspace[], format: RdbFormat): Bytes {
  const all = Buffer.alloc(LENGTH);
  for (const db of databases) {
    if (db.size === 0) continue;
    mix(all, word(db.index));
    for (const [key, entry] of db.entries) {
      const digest = Buffer.alloc(LENGTH);
      mix(digest, toBuffer(key));
      mixEntry(digest, entry, format);
      xor(all, digest);
    }
  }
  return all.toString('hex');
}
