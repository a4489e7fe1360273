/**
 * Estimates how much memory keys and values would use in redis-server: the sizes of its structures, rounded up as its
 * allocator does.
 */
import type { Bytes } from '../protocol/bytes.ts';
import { EMBSTR_MAX } from './collections/encoding.ts';
import { elementSize } from './format/listpack.ts';
import type { StreamValue } from './stream/stream.ts';
import type { Held, Value } from './value.ts';
import { vectorSetSize, vectorSetUsage } from './vector/memory.ts';

/**
 * The sizes in bytes of an object's header, of a hash table's entry as MEMORY USAGE counts it, and of that entry as
 * allocated.
 */
const OBJECT = 16;
const SLOT_ENTRY = 24;
const ALLOCATED_ENTRY = 32;
const TABLE = 56;
const POINTER = 8;
/** A key's share of its database's table, which is between half full and full. */
const PLACE = 12;
const LISTPACK_FRAME = 7;
const QUICKLIST = 48;
const QUICKLIST_NODE = 32;
/** A skip list's head, and a node with the average number of levels. */
const SKIPLIST = 680;
const SKIPLIST_NODE = 40;
/** A stream's own structures, a node's place in its radix tree, a group, and a pending entry in both of its trees. */
const STREAM = 160;
const STREAM_NODE = 64;
const GROUP = 200;
const PENDING = 96;

/** What a member of a collection takes here besides its text, in bytes. */
export const MEMBER_BYTES = 64;

/** The size class of an allocation of this many bytes. */
function allocated(bytes: number): number {
  if (bytes <= 8) return 8;
  if (bytes <= 128) return (bytes + 15) & ~15;
  if (bytes > 2 ** 30) return bytes;
  const step = 1 << (29 - Math.clz32(bytes - 1));
  return (bytes + step - 1) & -step;
}

/** The allocated size of a string with its header and its closing zero. */
function stringSize(length: number): number {
  return allocated(length + (length < 32 ? 2 : length < 256 ? 4 : length < 65536 ? 6 : 10));
}

/** The size of a string's object. Short strings are stored behind their header. */
function stringObject(length: number): number {
  return length <= EMBSTR_MAX ? allocated(length + 20) : OBJECT + stringSize(length);
}

/** The memory of a key's deadline: an entry of its own in the table of expiries. */
export const DEADLINE_BYTES = ALLOCATED_ENTRY + PLACE;

/**
 * The memory of a key and its value in bytes. O(1), because every write asks for it. Collections are estimated from
 * their number of items and the sum of their lengths.
 */
export function footprint(key: Bytes, value: Held): number {
  const own = ALLOCATED_ENTRY + PLACE + stringSize(key.length);
  if (typeof value === 'string' || value.type === 'string') return own + stringObject(value.length);
  return own + OBJECT + collectionSize(value);
}

type Collection = Exclude<Value, string>;

function collectionSize(value: Collection): number {
  switch (value.type) {
    case 'hash':
      return value.encoding() !== 'hashtable'
        ? allocated(LISTPACK_FRAME + value.bytes + 4 * value.size)
        : tableSize(value.size, value.bytes, 2);
    case 'list':
      return QUICKLIST + QUICKLIST_NODE + value.bytes + value.size * 3 + LISTPACK_FRAME;
    case 'set':
      return value.encoding() === 'intset'
        ? allocated(8 + value.bytes)
        : tableSize(value.size, value.bytes, 1);
    case 'zset':
      return value.encoding() === 'listpack'
        ? allocated(LISTPACK_FRAME + value.bytes + 6 * value.size)
        : tableSize(value.size, value.bytes, 1) + SKIPLIST + SKIPLIST_NODE * value.size;
    case 'stream':
      return streamSize(value);
    case 'vectorset':
      return vectorSetSize(value, OBJECT + 10);
    case 'own':
      return stringSize(value.data.length);
  }
}

/**
 * A hash table with this many items, each of which has `strings` strings whose headers and rounding add about ten
 * bytes.
 */
function tableSize(items: number, bytes: number, strings: number): number {
  return TABLE + tableSlots(items) * POINTER + items * (ALLOCATED_ENTRY + 10 * strings) + bytes;
}

/** The number of slots of a hash table that has grown to this many items. */
export function tableSlots(items: number): number {
  return items === 0 ? 0 : items <= 4 ? 4 : 2 << (31 - Math.clz32(items - 1));
}

function streamSize(stream: StreamValue): number {
  let size = STREAM + stream.bytes + STREAM_NODE * stream.nodeCount;
  for (const group of stream.groups.values()) size += GROUP + PENDING * group.pending.size;
  return size;
}

/**
 * The bytes that MEMORY USAGE reports: exact for strings and small collections. At most O(n).
 * @param encoding the value's encoding
 */
export function memoryUsage(key: Bytes, value: Held, encoding: Bytes): number {
  const own = SLOT_ENTRY + stringSize(key.length);
  if (typeof value === 'string' || value.type === 'string') {
    if (encoding === 'int') return own + OBJECT;
    return own + (encoding === 'raw' ? OBJECT + stringSize(value.length) : stringObject(value.length));
  }
  if (value.type === 'vectorset') return own + vectorSetUsage(value, stringObject);
  return own + OBJECT + sizeByEncoding(value, encoding);
}

function sizeByEncoding(value: Collection, encoding: Bytes): number {
  if (value.type === 'list') {
    return QUICKLIST + QUICKLIST_NODE + allocated(value.countPackedBytes());
  }
  if (encoding === 'listpack') {
    if (value.type === 'hash') return allocated(listpackSize([...value.entries()].flat()));
    if (value.type === 'zset') {
      return allocated(
        listpackSize([...value.entries()].flatMap(({ member, score }) => [member, `${score}`])),
      );
    }
  }
  if (value.type === 'set' && encoding === 'intset')
    return allocated(8 + value.size * integerWidth(value.values()));
  if (value.type === 'set' || value.type === 'hash') return tableUsage(value);
  return collectionSize(value);
}

function listpackSize(items: Iterable<Bytes>): number {
  let size = LISTPACK_FRAME;
  for (const item of items) size += elementSize(item);
  return size;
}

/** The size in bytes of each number in an intset: that of its largest number. */
function integerWidth(members: Iterable<Bytes>): number {
  let width = 2;
  for (const member of members) {
    const value = BigInt(member);
    if (BigInt.asIntN(16, value) !== value) width = Math.max(width, 4);
    if (BigInt.asIntN(32, value) !== value) return 8;
  }
  return width;
}

function tableUsage(value: Extract<Collection, { type: 'set' | 'hash' }>): number {
  let size = TABLE + tableSlots(value.size) * POINTER + value.size * SLOT_ENTRY;
  if (value.type === 'set') for (const member of value.values()) size += stringSize(member.length);
  else {
    for (const [field, text] of value.entries()) size += stringSize(field.length) + stringSize(text.length);
  }
  return size;
}

/** Estimates how many bytes a copy of the value takes here. O(1), and more often too much than too little. */
export function copyBytes(value: Held): number {
  if (typeof value === 'string') return 0;
  return value.type === 'own'
    ? 0
    : 2 * footprint('', value) + ('size' in value ? MEMBER_BYTES * value.size : 0);
}
