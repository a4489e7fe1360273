/** Strings as arrays of bits (https://redis.io/docs/latest/commands/?group=bitmap). */
import { byteAt, type HeldString } from '../../keyspace/edited-string.ts';
import { asciiUpper, type Bytes, fromBuffer, STRING_MAX, toBuffer } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import type { Reply } from '../../protocol/reply.ts';
import { integer } from '../arguments.ts';
import type { Client } from '../client.ts';
import { PRIMARY_LINK } from '../client.ts';
import { defineCommands, key, keys } from '../command.ts';
import { noteEncoding } from '../encodings.ts';

const BAD_OFFSET = 'ERR bit offset is not an integer or out of range';
const BAD_BIT = 'ERR bit is not an integer or out of range';

function bitOffset(client: Client, text: Bytes): number {
  const offset = integer(text, BAD_OFFSET);
  if (
    offset < 0 ||
    (!client.has(PRIMARY_LINK) && Math.floor(offset / 8) >= client.server.settings['proto-max-bulk-len'])
  )
    fail(BAD_OFFSET);
  return offset;
}

/** The bit at an offset; the first bit of a byte is its highest. Bits beyond the end are 0. */
function bitAt(value: HeldString, offset: number): 0 | 1 {
  return ((byteAt(value, Math.floor(offset / 8)) >> (7 - (offset % 8))) & 1) as 0 | 1;
}

/** A short string with a byte set, filled up with zeros as far as that. */
function withByte(value: Bytes, at: number, byte: number): Bytes {
  const filled = value.padEnd(at + 1, '\0');
  return filled.slice(0, at) + String.fromCharCode(byte) + filled.slice(at + 1);
}

function setbit(client: Client, name: Bytes, offsetText: Bytes, bitText: Bytes): Reply {
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
  // What is the same as before is no write.
  const same = byte === old && at < value.length;
  const edited = same ? undefined : db.edit(name, Math.max(value.length, at + 1));
  edited?.set(at, byte);
  if (edited === undefined && typeof value === 'string') {
    noteEncoding(db.put(name, same ? value : withByte(value, at, byte), true), 'raw');
  }
  if (!same) db.changed(name, 'setbit');
  return (old & mask) === 0 ? 0 : 1;
}

/** A range of bits, both ends inclusive; empty when start is beyond end. */
interface BitRange {
  readonly start: number;
  readonly end: number;
}

/** How many bits a unit has. */
function unitBits(text: Bytes | undefined): 1 | 8 {
  const unit = text === undefined ? 'BYTE' : asciiUpper(text);
  return unit === 'BIT' ? 1 : unit === 'BYTE' ? 8 : fail(SYNTAX);
}

/** A range in bytes or bits; negative positions count from the end. */
function bitRange(value: HeldString, start: number, stop: number, scale: 1 | 8): BitRange {
  const total = (value.length * 8) / scale;
  const from = start < 0 ? Math.max(0, total + start) : start;
  const to = Math.min(stop < 0 ? Math.max(0, total + stop) : stop, total - 1);
  return { start: from * scale, end: (to + 1) * scale - 1 };
}

/** The bytes that a range of bits lies in, and its place in them. */
function around(text: HeldString, { start, end }: BitRange): BitRange & { readonly value: Bytes } {
  const first = Math.floor(start / 8);
  const value = text.slice(first, Math.floor(end / 8) + 1);
  return { value, start: start - first * 8, end: end - first * 8 };
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replace(/0/g, '').length);

function countOnes(text: HeldString, range: BitRange): number {
  const { value, start, end } = around(text, range);
  let count = 0;
  for (let at = start; at <= end; ) {
    if (at % 8 === 0 && at + 7 <= end) {
      count += ONES[value.charCodeAt(at / 8)]!;
      at += 8;
    } else count += bitAt(value, at++);
  }
  return count;
}

function bitcount(client: Client, argv: readonly Bytes[]): Reply {
  const value = client.db.readPart(argv[1]!);
  if (value === undefined) return 0;
  if (argv.length === 3 || argv.length > 5) fail(SYNTAX);
  const [first = '0', last = '-1', unit] = argv.slice(2);
  const [start, stop] = [integer(first), integer(last)];
  // Redis knows this range for empty before it reads the unit.
  if (start < 0 && stop < 0 && start > stop) return 0;
  return countOnes(value, bitRange(value, start, stop, unitBits(unit)));
}

function bitpos(client: Client, argv: readonly Bytes[]): Reply {
  const bit = integer(argv[2]!);
  if (bit !== 0 && bit !== 1) fail('ERR The bit argument must be 1 or 0.');
  const text = client.db.readPart(argv[1]!);
  if (text === undefined) return bit === 1 ? -1 : 0;
  if (argv.length > 6) fail(SYNTAX);
  const [first = '0', last = '-1', unit] = argv.slice(3);
  const from = integer(first);
  const scale = unitBits(unit);
  const range = bitRange(text, from, integer(last), scale);
  const { value, start, end } = around(text, range);
  const skipped = bit === 1 ? 0 : 255;
  for (let at = start; at <= end; ) {
    if (at % 8 === 0 && at + 7 <= end && value.charCodeAt(at / 8) === skipped) at += 8;
    else if (bitAt(value, at) === bit) return at + range.start - start;
    else at++;
  }
  // A string without an end given is followed by zeros for ever.
  return bit === 0 && argv.length < 5 && start <= end ? text.length * 8 : -1;
}

const COMBINE: Record<string, (a: number, b: number) => number> = {
  AND: (a, b) => a & b,
  OR: (a, b) => a | b,
  XOR: (a, b) => a ^ b,
};

function bitop(client: Client, operation: Bytes, target: Bytes, names: readonly Bytes[]): Reply {
  const { db } = client;
  const name = asciiUpper(operation);
  const combine = COMBINE[name];
  if (combine === undefined && name !== 'NOT') fail(SYNTAX);
  if (combine === undefined && names.length !== 1) {
    fail('ERR BITOP NOT must be called with a single source key.');
  }
  const [first, ...others] = names.map((each) => toBuffer(db.read(each, 'string') ?? ''));
  const length = Math.max(first!.length, ...others.map((other) => other.length));
  const result = Buffer.alloc(length);
  result.set(first!);
  if (combine === undefined) for (let i = 0; i < length; i++) result[i] = ~result[i]! & 255;
  else {
    for (const other of others) {
      for (let i = 0; i < length; i++) result[i] = combine(result[i]!, other[i] ?? 0);
    }
  }
  if (length > 0) {
    noteEncoding(db.put(target, fromBuffer(result)), 'raw');
    db.changed(target, 'set');
  } else if (db.remove(target)) db.changed(target, 'del');
  return length;
}

export const bitmapCommands = defineCommands('bitmap', {
  setbit: {
    summary: 'Sets or clears a bit of a string and answers what it was.',
    since: '2.2.0',
    complexity: 'O(1), and O(N) where the string becomes longer',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: key('RW ACCESS UPDATE'),
    run: (client, [, name, offset, bit]) => setbit(client, name, offset, bit),
  },
  getbit: {
    summary: 'Answers a bit of a string.',
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
    summary: 'Finds the first bit that is set, or the first that is not.',
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
