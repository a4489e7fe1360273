/** BITFIELD: integers of any width within a string (https://redis.io/docs/latest/commands/bitfield/). */
import { allocateOutside } from '../../../protocol/allowance.ts';
import {
  asciiUpper,
  type Bytes,
  cString,
  fromBuffer,
  narrow,
  parseInteger,
  STRING_MAX,
  toBuffer,
} from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { PRIMARY_LINK } from '../../clients/client.ts';
import type { Caller } from '../../server.ts';
import { noteEncoding } from '../../settings/encodings.ts';
import { int64, wordAt } from '../../table/arguments.ts';
import { type Argv, key, noted } from '../../table/command.ts';
import { defineCommands } from '../define.ts';

const BAD_OFFSET = 'ERR bit offset is not an integer or out of range';
const BAD_TYPE =
  'ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.';

type Overflow = 'WRAP' | 'SAT' | 'FAIL';

interface BitfieldStep {
  readonly kind: 'GET' | 'SET' | 'INCRBY';
  readonly signed: boolean;
  readonly bits: number;
  /** The position of the integer's highest bit, counted from the string's first bit. */
  readonly offset: number;
  readonly operand: bigint;
  readonly overflow: Overflow;
}

/** The number of operands of each subcommand. */
const OPERANDS: ReadonlyMap<Bytes, number> = new Map([
  ['GET', 2],
  ['SET', 3],
  ['INCRBY', 3],
  ['OVERFLOW', 1],
]);

function typeOfField(client: Caller, word: Bytes): { signed: boolean; bits: number } {
  const text = client.server.dialect.bitfieldTypes === 'to the end' ? word : cString(word);
  const signed = text.startsWith('i');
  const bits = parseInteger(text.slice(1));
  if ((!signed && !text.startsWith('u')) || typeof bits !== 'number') return fail(BAD_TYPE);
  if (bits < 1 || bits > (signed ? 64 : 63)) return fail(BAD_TYPE);
  return { signed, bits };
}

/** Reads an offset in bits, or behind # in multiples of the width. The product wraps as in C. */
function offsetOf(client: Caller, text: Bytes, bits: number): number {
  const counted = text.startsWith('#');
  const value = BigInt(int64(counted ? text.slice(1) : text, BAD_OFFSET));
  const offset = counted ? BigInt.asIntN(64, value * BigInt(bits)) : value;
  if (
    offset < 0n ||
    (!client.has(PRIMARY_LINK) && offset >> 3n >= BigInt(client.server.settings['proto-max-bulk-len']))
  )
    fail(BAD_OFFSET);
  return +offset.toString();
}

function parseSteps(client: Caller, argv: readonly Bytes[]): BitfieldStep[] {
  const steps: BitfieldStep[] = [];
  let overflow: Overflow = 'WRAP';
  for (let at = 2; at < argv.length; at++) {
    const kind = asciiUpper(wordAt(argv, at));
    const operands = OPERANDS.get(kind) ?? fail(SYNTAX);
    if (argv.length - at - 1 < operands) fail(SYNTAX);
    if (kind === 'OVERFLOW') {
      const name = asciiUpper(wordAt(argv, ++at));
      if (name !== 'WRAP' && name !== 'SAT' && name !== 'FAIL') fail('ERR Invalid OVERFLOW type specified');
      overflow = name as Overflow;
      continue;
    }
    const { signed, bits } = typeOfField(client, wordAt(argv, at + 1));
    const offset = offsetOf(client, wordAt(argv, at + 2), bits);
    const operand = operands === 3 ? BigInt(int64(wordAt(argv, at + 3))) : 0n;
    steps.push({ kind: kind as BitfieldStep['kind'], signed, bits, offset, operand, overflow });
    at += operands;
  }
  return steps;
}

/** Reads an integer. Bits beyond the end are 0. */
function readField(data: Uint8Array, { offset, bits, signed }: BitfieldStep): bigint {
  const first = Math.floor(offset / 8);
  const last = Math.floor((offset + bits - 1) / 8);
  let value = 0n;
  for (let at = first; at <= last; at++) value = (value << 8n) | BigInt(data[at] ?? 0);
  value >>= BigInt(last * 8 + 7 - (offset + bits - 1));
  return signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}

function writeField(data: Uint8Array, { offset, bits }: BitfieldStep, value: bigint): void {
  const last = Math.floor((offset + bits - 1) / 8);
  const below = BigInt(last * 8 + 7 - (offset + bits - 1));
  let mask = ((1n << BigInt(bits)) - 1n) << below;
  let rest = BigInt.asUintN(bits, value) << below;
  for (let at = last; mask > 0n; at--, mask >>= 8n, rest >>= 8n) {
    data[at] = (data[at]! & +(~mask & 255n).toString()) | +(rest & 255n).toString();
  }
}

/** Converts a value to a field of that width; `over` is set if it does not fit. */
function fitInto(
  value: bigint,
  { signed, bits, overflow, kind }: BitfieldStep,
): { value: bigint; over: boolean } {
  const width = BigInt(signed ? bits - 1 : bits);
  const max = (1n << width) - 1n;
  const min = signed ? -max - 1n : 0n;
  // SET passes its 64 bits unchanged to an unsigned field.
  const given = !signed && kind === 'SET' ? BigInt.asUintN(64, value) : value;
  if (given >= min && given <= max) return { value: given, over: false };
  const wrapped = signed ? BigInt.asIntN(bits, given) : BigInt.asUintN(bits, given);
  if (overflow !== 'SAT') return { value: wrapped, over: true };
  // Redis computes the distance to the maximum in 64 bits, which overflows for very low values.
  const wraps = kind === 'SET' && signed && bits < 64 && BigInt.asIntN(64, max - given) < 0n;
  return { value: given > max || wraps ? max : min, over: true };
}

interface Answers {
  readonly replies: Reply[];
  readonly changes: number;
}

/** Executes the steps on the bytes. If the string had to grow, every write counts as a change. */
function perform(steps: readonly BitfieldStep[], data: Uint8Array, grown: boolean): Answers {
  const replies: Reply[] = [];
  let changes = 0;
  for (const step of steps) {
    const old = readField(data, step);
    if (step.kind === 'GET') {
      replies.push(narrow(old));
      continue;
    }
    const { value, over } = fitInto(step.kind === 'SET' ? step.operand : old + step.operand, step);
    if (over && step.overflow === 'FAIL') {
      replies.push(null);
      continue;
    }
    writeField(data, step, value);
    replies.push(narrow(step.kind === 'SET' ? old : value));
    if (grown || value !== old) changes++;
  }
  return { replies, changes };
}

function bitfield(client: Caller, argv: Argv<-2>, readOnly: boolean): Reply {
  const { db } = client;
  const name = argv[1];
  const steps = parseSteps(client, argv);
  const writes = steps.filter(({ kind }) => kind !== 'GET');
  if (writes.length === 0) {
    const value = db.readPart(name) ?? '';
    return steps.map((step) => {
      const first = Math.floor(step.offset / 8);
      const part = toBuffer(value.slice(first, first + 9));
      return narrow(readField(part, { ...step, offset: step.offset % 8 }));
    });
  }
  if (readOnly) fail('ERR BITFIELD_RO only supports the GET subcommand');
  const value = db.getPart(name) ?? '';
  const needed = Math.max(...writes.map(({ offset, bits }) => Math.floor((offset + bits - 1) / 8) + 1));
  if (needed > STRING_MAX) fail(BAD_OFFSET);
  const length = Math.max(value.length, needed);
  const grown = needed > value.length;
  if (grown) allocateOutside(needed * 2);
  const edited = db.edit(name, length);
  const data = edited?.bytes ?? toBuffer(value.slice(0).padEnd(length, '\0'));
  const { replies, changes } = perform(steps, data, grown);
  // A string that had to grow stays longer even if no write took place; this is not reported.
  if (edited === undefined) noteEncoding(db.put(name, fromBuffer(data), true), 'raw');
  if (changes > 0) db.changed(name, 'setbit', changes);
  return replies;
}

/** The number of words of each subcommand that never writes. */
const READING: Readonly<Record<string, number>> = { GET: 2, OVERFLOW: 1 };

/** Returns whether a request certainly writes nothing. One that cannot be parsed may write. */
function onlyReads(argv: readonly Bytes[]): boolean {
  let at = 2;
  while (at < argv.length) {
    const words = READING[asciiUpper(wordAt(argv, at))];
    if (words === undefined) return false;
    at += words + 1;
  }
  return at === argv.length;
}

export const bitfieldCommands = defineCommands('bitmap', {
  bitfield: {
    summary: 'Reads, sets and adds to integers of any width within a string.',
    since: '3.2.0',
    complexity: 'O(1) per integer, and O(N) where the string becomes longer',
    arity: -2,
    flags: ['write', 'denyoom'],
    keys: noted('It reads and writes, as its operations ask', key('RW ACCESS UPDATE VARIABLE_FLAGS')),
    getFlags: (argv) => (onlyReads(argv) ? 'RO ACCESS' : 'RW ACCESS UPDATE'),
    run: (client, argv) => bitfield(client, argv, false),
  },
  bitfield_ro: {
    summary: 'Reads integers of any width within a string.',
    since: '6.0.0',
    complexity: 'O(1) per integer',
    arity: -2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    run: (client, argv) => bitfield(client, argv, true),
  },
});
