/** The bit library: 32-bit integers, as in LuaJIT. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { LuaFunction, LuaValue } from '../runtime/values.ts';
import { checkNumber } from './args.ts';
import type { Module } from './builder.ts';

const doubles = new Float64Array(1);
const words = new Int32Array(doubles.buffer);
/** Adding this constant leaves a number's integer part in the low bits of the double, rounded to even. */
const MAGIC = 2 ** 52 + 2 ** 51;

/** The low 32 bits of a number, computed as the library does. */
function bitsOf(args: readonly LuaValue[], at: number): number {
  const value = checkNumber(args, at);
  const integer = value | 0;
  if (integer === value) return integer;
  doubles[0] = value + MAGIC;
  return words[0]!;
}

function folded(combine: (a: number, b: number) => number): LuaFunction {
  return (...args) => {
    let result = bitsOf(args, 0);
    for (let i = args.length - 1; i > 0; i--) result = combine(result, bitsOf(args, i));
    return result;
  };
}

function shift(move: (value: number, by: number) => number): LuaFunction {
  return (...args) => {
    const value = bitsOf(args, 0);
    return move(value, bitsOf(args, 1) & 31) | 0;
  };
}

const toHex: LuaFunction = (...args) => {
  const value = bitsOf(args, 0);
  const wanted = args.length < 2 ? 8 : bitsOf(args, 1);
  const digits = Math.min(8, Math.abs(wanted) >>> 0);
  const text = (value >>> 0)
    .toString(16)
    .padStart(8, '0')
    .slice(8 - digits);
  return wanted < 0 ? upperHex(text) : text;
};

function upperHex(text: Bytes): Bytes {
  return text.replace(/[a-f]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 32));
}

const swap: LuaFunction = (...args) => {
  const value = bitsOf(args, 0);
  return (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24);
};

/** The table `bit`. */
export const BIT: Module = {
  entries: [
    ['tobit', (...args) => bitsOf(args, 0)],
    ['bnot', (...args) => ~bitsOf(args, 0)],
    ['band', folded((a, b) => a & b)],
    ['bor', folded((a, b) => a | b)],
    ['bxor', folded((a, b) => a ^ b)],
    ['lshift', shift((value, by) => value << by)],
    ['rshift', shift((value, by) => value >>> by)],
    ['arshift', shift((value, by) => value >> by)],
    ['rol', shift((value, by) => (value << by) | (value >>> (32 - by)))],
    ['ror', shift((value, by) => (value >>> by) | (value << (32 - by)))],
    ['bswap', swap],
    ['tohex', toHex],
  ],
  announced: 12,
  single: [
    'tobit',
    'bnot',
    'band',
    'bor',
    'bxor',
    'lshift',
    'rshift',
    'arshift',
    'rol',
    'ror',
    'bswap',
    'tohex',
  ],
};
