/** Strings as arrays of bits (https://redis.io/docs/latest/commands/?group=bitmap). */

import { byteAt, type HeldString } from '../../../keyspace/collections/edited-string.ts';
import { allocateOutside } from '../../../protocol/allowance.ts';
import {
  approximate,
  asciiUpper,
  type Bytes,
  fromBuffer,
  STRING_MAX,
  toBuffer,
} from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { PRIMARY_LINK } from '../../clients/client.ts';
import { overwrite } from '../../data/overwriting.ts';
import type { Caller } from '../../server.ts';
import { noteEncoding } from '../../settings/encodings.ts';
import { int64, integer } from '../../table/arguments.ts';
import { type Argv, key, keys } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { firstOther, ONES, onesIn } from './counting-bits.ts';

const BAD_OFFSET = 'ERR bit offset is not an integer or out of range';
const BAD_BIT = 'ERR bit is not an integer or out of range';

function bitOffset(client: Caller, text: Bytes): number {
  const offset = integer(text, BAD_OFFSET);
  if (
    offset < 0 ||
    (!client.has(PRIMARY_LINK) && Math.floor(offset / 8) >= client.server.settings['proto-max-bulk-len'])
  )
    fail(BAD_OFFSET);
  return offset;
}

/** Returns the bit at an offset; a byte's first bit is its highest. Bits beyond the end are 0. */
function bitAt(value: HeldString, offset: number): 0 | 1 {
  return ((byteAt(value, Math.floor(offset / 8)) >> (7 - (offset % 8))) & 1) as 0 | 1;
}

/** Returns a short string with a byte set, padded with zeros up to that byte. */
function withByte(value: Bytes, at: number, byte: number): Bytes {
  const filled = value.padEnd(at + 1, '\0');
  return filled.slice(0, at) + String.fromCharCode(byte) + filled.slice(at + 1);
}

function setbit(client: Caller, name: Bytes, offsetText: Bytes, bitText: Bytes): Reply {
  const { db } = client;
  const offset = bitOffset(client, offsetText);
  const bit = integer(bitText, BAD_BIT);
  if (bit !== 0 && bit !== 1) fail(BAD_BIT);
  const value = db.getPart(name) ?? '';
  const at = Math.floor(offset / 8);
  if (at >= STRING_MAX) fail(BAD_OFFSET);
  const mask = 1 << (7 - (offset % 8));
  const old = byteAt(value, at);
  const byte = bit === 1 ? old | mask : old & ~mask;
  allocateOutside(at + 1 > value.length ? at + 1 : 0);
  // A write of the same bit does not count as a change.
  const same = byte === old && at < value.length;
  const edited = same ? undefined : db.edit(name, Math.max(value.length, at + 1));
  edited?.set(at, byte);
  if (edited === undefined && typeof value === 'string') {
    noteEncoding(db.put(name, same ? value : withByte(value, at, byte), true), 'raw');
  }
  if (!same) db.changed(name, 'setbit');
  return (old & mask) === 0 ? 0 : 1;
}

/** A range of bits, both ends inclusive; empty if start is greater than end. */
interface BitRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the number of bits in a unit. Throws a syntax error for an unknown unit. */
function unitBits(text: Bytes | undefined): 1 | 8 {
  const unit = text === undefined ? 'BYTE' : asciiUpper(text);
  return unit === 'BIT' ? 1 : unit === 'BYTE' ? 8 : fail(SYNTAX);
}

/** Converts a range in bytes or bits to bits; negative positions count from the end. */
function bitRange(value: HeldString, start: number, stop: number, scale: 1 | 8): BitRange {
  const total = (value.length * 8) / scale;
  const from = start < 0 ? Math.max(0, total + start) : start;
  const to = Math.min(stop < 0 ? Math.max(0, total + stop) : stop, total - 1);
  return { start: from * scale, end: (to + 1) * scale - 1 };
}

/** Strings are read in pieces. The first one is small, because the result may be near the start. Sizes in bytes. */
const FIRST_PIECE = 4096;
const LARGEST_PIECE = 1024 ** 2;

/** Yields the bytes from `start` up to, but not including, `end` in pieces, each with its position. */
function* pieces(text: HeldString, start: number, end: number): Generator<readonly [number, Uint8Array]> {
  if (typeof text !== 'string') {
    yield [start, text.bytes.subarray(start, end)];
    return;
  }
  let size = FIRST_PIECE;
  for (let at = start; at < end; ) {
    yield [at, toBuffer(text.slice(at, Math.min(end, at + size)))];
    at += size;
    size = Math.min(size * 4, LARGEST_PIECE);
  }
}

/** Returns the mask of a byte's bits that are in the range. */
function maskAt(byte: number, { start, end }: BitRange): number {
  const first = Math.max(0, start - byte * 8);
  const last = Math.min(7, end - byte * 8);
  return (255 >> first) & (255 << (7 - last)) & 255;
}

function countOnes(text: HeldString, range: BitRange): number {
  if (range.start > range.end) return 0;
  const [first, last] = [Math.floor(range.start / 8), Math.floor(range.end / 8)];
  let count = 0;
  for (const [, bytes] of pieces(text, first, last + 1)) count += onesIn(bytes);
  // The bits of the first and last byte that are outside the range.
  for (const byte of new Set([first, last])) count -= ONES[byteAt(text, byte) & ~maskAt(byte, range)]!;
  return count;
}

/** Returns the first bit of that value in a range; -1 if there is none. */
function findBit(text: HeldString, range: BitRange, bit: number): number {
  if (range.start > range.end) return -1;
  const flip = bit === 1 ? 0 : 255;
  for (const [place, bytes] of pieces(text, Math.floor(range.start / 8), Math.floor(range.end / 8) + 1)) {
    for (let i = firstOther(bytes, flip); i < bytes.length; i++) {
      if (bytes[i] === flip) continue;
      const wanted = (bytes[i]! ^ flip) & maskAt(place + i, range);
      if (wanted !== 0) return (place + i) * 8 + Math.clz32(wanted) - 24;
    }
  }
  return -1;
}

function bitcount(client: Caller, argv: Argv<-2>): Reply {
  const { bitArguments, bitcountWithoutEnd } = client.server.dialect;
  const hasOpenEnd = bitcountWithoutEnd === 'to the end';
  const check = () => {
    if ((argv.length === 3 && !hasOpenEnd) || argv.length > 5) fail(SYNTAX);
    const [first = '0', last = '-1', unit] = argv.slice(2);
    const start = int64(first);
    // The servers that take an open end read the unit before the end.
    if (hasOpenEnd) unitBits(unit);
    const range = [start, int64(last), unit] as const;
    if (bitArguments === 'before the key') unitBits(unit);
    return range;
  };
  const early = bitArguments === 'before the key' ? check() : undefined;
  const value = client.db.readPart(argv[1]);
  if (value === undefined) return 0;
  const [start, stop, unit] = early ?? check();
  // Redis returns 0 for this empty range before it reads the unit.
  if (start < 0 && stop < 0 && start > stop) return 0;
  return countOnes(value, bitRange(value, approximate(start), approximate(stop), unitBits(unit)));
}

function bitpos(client: Caller, argv: Argv<-3>): Reply {
  const bit = integer(argv[2]);
  if (bit !== 0 && bit !== 1) fail('ERR The bit argument must be 1 or 0.');
  const check = () => {
    if (argv.length > 6) fail(SYNTAX);
    const [first = '0', last = '-1', unit] = argv.slice(3);
    const from = integer(first);
    const scale = unitBits(unit);
    return { from, to: integer(last), scale };
  };
  const early = client.server.dialect.bitArguments === 'before the key' ? check() : undefined;
  const text = client.db.readPart(argv[1]);
  if (text === undefined) return bit === 1 ? -1 : 0;
  const { from, to, scale } = early ?? check();
  const range = bitRange(text, from, to, scale);
  const found = findBit(text, range, bit);
  if (found >= 0) return found;
  // Without an explicit end, a string counts as followed by zeros.
  return bit === 0 && argv.length < 5 && range.start <= range.end ? text.length * 8 : -1;
}

const OPERATIONS: Record<string, (into: Uint32Array, other: Uint32Array) => void> = {
  AND(into, other) {
    for (let i = 0; i < into.length; i++) into[i]! &= other[i] ?? 0;
  },
  OR(into, other) {
    for (let i = 0; i < other.length; i++) into[i]! |= other[i]!;
  },
  XOR(into, other) {
    for (let i = 0; i < other.length; i++) into[i]! ^= other[i]!;
  },
};

/** The operations of Redis 8.2 that set the first string against all others: what they make of a word of both. */
const AGAINST: Record<string, (first: number, others: number) => number> = {
  DIFF: (first, others) => first & ~others,
  DIFF1: (first, others) => ~first & others,
  ANDOR: (first, others) => first & others,
};

/** Combines the first string with the bits that any of the others has. */
function against(name: string, texts: readonly Bytes[], length: number): Uint32Array {
  const others = wordsOf('', length);
  for (const text of texts.slice(1)) OPERATIONS.OR?.(others, wordsOf(text));
  const result = wordsOf(texts[0]!, length);
  const combine = AGAINST[name]!;
  for (let i = 0; i < result.length; i++) result[i] = combine(result[i]!, others[i]!);
  return result;
}

/** The bits that exactly one of the strings has. */
function onlyOnce(texts: readonly Bytes[], length: number): Uint32Array {
  const result = wordsOf('', length);
  const several = wordsOf('', length);
  for (const text of texts) {
    const bits = wordsOf(text);
    for (let i = 0; i < bits.length; i++) {
      several[i]! |= result[i]! & bits[i]!;
      result[i]! |= bits[i]!;
    }
  }
  for (let i = 0; i < result.length; i++) result[i]! &= ~several[i]!;
  return result;
}

/** The result of an operation, as words. */
function combined(name: string, texts: readonly Bytes[], length: number): Uint32Array {
  if (name in AGAINST) return against(name, texts, length);
  if (name === 'ONE') return onlyOnce(texts, length);
  const result = wordsOf(texts[0]!, length);
  const combine = OPERATIONS[name];
  if (combine === undefined) for (let i = 0; i < result.length; i++) result[i] = ~result[i]!;
  else for (const text of texts.slice(1)) combine(result, wordsOf(text));
  return result;
}

/**
 * Returns a string's bytes as 32-bit words, padded with zeros.
 * @param length in bytes
 */
function wordsOf(text: Bytes, length = text.length): Uint32Array {
  const bytes = Buffer.from(new ArrayBuffer(Math.ceil(length / 4) * 4));
  bytes.latin1Write(text);
  return new Uint32Array(bytes.buffer);
}

function bitop(client: Caller, operation: Bytes, target: Bytes, names: readonly Bytes[]): Reply {
  const { db, server } = client;
  const name = asciiUpper(operation);
  const isOld = name in OPERATIONS || name === 'NOT';
  if (!isOld && !server.vocabulary.knows('bitop', name)) fail(SYNTAX);
  if (name === 'NOT' && names.length !== 1) fail('ERR BITOP NOT must be called with a single source key.');
  if (name in AGAINST && names.length < 2) {
    fail(`ERR BITOP ${name} must be called with at least two source keys.`);
  }
  const texts = names.map((each) => db.read(each, 'string') ?? '');
  const length = Math.max(...texts.map((text) => text.length));
  allocateOutside(length * 3);
  const result = combined(name, texts, length);
  if (length > 0) {
    noteEncoding(overwrite(client, target, fromBuffer(new Uint8Array(result.buffer, 0, length))), 'raw');
    db.changed(target, 'set');
  } else if (db.removeStored(target)) db.changed(target, 'del');
  return length;
}

export const bitmapCommands = defineCommands('bitmap', {
  setbit: {
    summary: 'Sets or clears a bit of a string and returns its old value.',
    since: '2.2.0',
    complexity: 'O(1), and O(N) where the string becomes longer',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: key('RW ACCESS UPDATE'),
    run: (client, [, name, offset, bit]) => setbit(client, name, offset, bit),
  },
  getbit: {
    summary: 'Returns a bit of a string.',
    since: '2.2.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    run(client, [, name, text]) {
      const offset = bitOffset(client, text);
      return bitAt(client.db.readPart(name) ?? '', offset);
    },
  },
  bitcount: {
    summary: 'Counts the bits that are set in a string, or in a part of it.',
    since: '2.6.0',
    complexity: 'O(N), N bytes counted',
    arity: -2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: bitcount,
  },
  bitpos: {
    summary: 'Finds the first bit that is set, or the first that is clear.',
    since: '2.8.7',
    complexity: 'O(N), N bytes looked at',
    arity: -3,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: bitpos,
  },
  bitop: {
    summary: 'Combines strings bit by bit and stores the result.',
    since: '2.6.0',
    complexity: 'O(N), N bytes of the longest string',
    arity: -4,
    flags: ['write', 'denyoom'],
    keys: [...key('OW UPDATE', 2), ...keys('RO ACCESS', 3)],
    run: (client, [, operation, target, ...names]) => bitop(client, operation, target, names),
  },
});
