/** Lua's string library without the functions for patterns. */
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { type Conversion, formatFloat, formatInteger, formatText } from '../runtime/format.ts';
import { allocateText, joined } from '../runtime/memory.ts';
import { MAX_STRING } from '../runtime/operations.ts';
import { raise, raiseBare, S } from '../runtime/state.ts';
import type { LuaFunction, LuaValue } from '../runtime/values.ts';
import {
  argumentError,
  checkFunction,
  checkInt32,
  checkInteger,
  checkNumber,
  checkString,
  optionalInteger,
} from './args.ts';
import type { Module } from './builder.ts';

const MAX_FLAGS = 5;
const LONG_STRING = 100;

/** A position; a negative one counts from the end. */
export function absolutePosition(position: number, length: number): number {
  if (position >= 0) return position;
  return Math.max(0, length + position + 1);
}

const sub: LuaFunction = (...args) => {
  const text = checkString(args, 0);
  const from = Math.max(1, absolutePosition(checkInteger(args, 1), text.length));
  const to = Math.min(text.length, absolutePosition(optionalInteger(args, 2, -1), text.length));
  return from <= to ? text.slice(from - 1, to) : '';
};

const byte: LuaFunction = (...args) => {
  const text = checkString(args, 0);
  const start = absolutePosition(optionalInteger(args, 1, 1), text.length);
  const to = Math.min(text.length, absolutePosition(optionalInteger(args, 2, start), text.length));
  const from = Math.max(1, start);
  if (to - from + 1 + args.length > 8000) raise('stack overflow (string slice too long)');
  const codes: number[] = [];
  for (let i = from; i <= to; i++) codes.push(text.charCodeAt(i - 1));
  return codes;
};

const char: LuaFunction = (...args) => {
  let text = '';
  for (let i = 0; i < args.length; i++) {
    const code = checkInt32(args, i);
    if (code < 0 || code > 255) argumentError(i, 'invalid value');
    text += String.fromCharCode(code);
  }
  return joined(text);
};

const rep: LuaFunction = (...args) => {
  const text = checkString(args, 0);
  const count = checkInt32(args, 1);
  if (count <= 0 || text === '') return '';
  const size = count * text.length;
  if (size > MAX_STRING) raiseBare('not enough memory');
  S.fuel -= size >>> 6;
  return joined(text.repeat(count));
};

/** Spends fuel for processing a long text. */
function payFor(text: Bytes): Bytes {
  S.fuel -= text.length >>> 4;
  allocateText(text.length);
  return text;
}

const reverse: LuaFunction = (...args) => {
  const text = checkString(args, 0);
  S.fuel -= text.length >>> 2;
  allocateText(2 * text.length);
  return Buffer.from(text, 'latin1').reverse().latin1Slice();
};

/** %q: a literal that Lua can read back. */
function quoted(text: Bytes): Bytes {
  allocateText(4 * text.length);
  const escapes: Record<string, string> = {
    '"': '\\"',
    '\\': '\\\\',
    '\n': '\\\n',
    '\r': '\\r',
    '\0': '\\000',
  };
  return `"${text.replace(/["\\\n\r\0]/g, (letter) => escapes[letter]!)}"`;
}

/** Reads flags, width and precision, and returns them with the position of the conversion letter. */
function scanSpec(format: Bytes, from: number): Conversion & { at: number } {
  let at = from;
  while (at < format.length && '-+ #0'.includes(format.charAt(at))) at++;
  if (at - from > MAX_FLAGS) raise('invalid format (repeated flags)');
  const flags = format.slice(from, at);
  const number = () => {
    const start = at;
    while (at < start + 2 && format.charCodeAt(at) >= 48 && format.charCodeAt(at) <= 57) at++;
    return +format.slice(start, at);
  };
  const width = number();
  let precision: number | undefined;
  if (format.charAt(at) === '.') {
    at++;
    precision = number();
  }
  if (format.charCodeAt(at) >= 48 && format.charCodeAt(at) <= 57) {
    raise('invalid format (width or precision too long)');
  }
  return { flags, width, precision, at };
}

function untilNul(text: Bytes): Bytes {
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

function convert(conversion: Bytes, spec: Conversion, args: readonly LuaValue[], at: number): Bytes {
  switch (conversion) {
    case 'c':
      return untilNul(
        formatText(String.fromCharCode(checkInt32(args, at) & 255), { ...spec, precision: undefined }),
      );
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return formatInteger(checkNumber(args, at), conversion, spec);
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return formatFloat(checkNumber(args, at), conversion, spec);
    case 'q':
      return quoted(checkString(args, at));
    case 's': {
      const text = checkString(args, at);
      if (spec.precision === undefined && text.length >= LONG_STRING) return text;
      return formatText(untilNul(text), spec);
    }
    default:
      return raise(`invalid option '%${conversion}' to 'format'`);
  }
}

const format: LuaFunction = (...args) => {
  const pattern = checkString(args, 0);
  let out = '';
  let at = 0;
  for (let argument = 0; ; ) {
    const percent = pattern.indexOf('%', at);
    if (percent < 0) return joined(out + pattern.slice(at));
    out += pattern.slice(at, percent);
    if (pattern.charAt(percent + 1) === '%') {
      out += '%';
      at = percent + 2;
      continue;
    }
    if (++argument >= args.length) argumentError(argument, 'no value');
    const spec = scanSpec(pattern, percent + 1);
    out += joined(convert(pattern.charAt(spec.at), spec, args, argument));
    if (out.length > MAX_STRING) raiseBare('not enough memory');
    at = spec.at + 1;
  }
};

/** The header of Lua 5.1's bytecode on a 64-bit machine. */
const BYTECODE_HEADER = '\x1bLuaQ\x00\x01\x04\x08\x04\x08\x00';

/** string.dump: returns the header of bytecode without any code. Redis loads no bytecode, so nothing can tell. */
const dump: LuaFunction = (...args) => {
  checkFunction(args, 0);
  return BYTECODE_HEADER;
};

/** The table `string`. */
export const STRING: Module = {
  entries: [
    ['byte', byte],
    ['char', char],
    ['dump', dump],
    ['format', format],
    ['len', (...args) => checkString(args, 0).length],
    ['lower', (...args) => asciiLower(payFor(checkString(args, 0)))],
    ['rep', rep],
    ['reverse', reverse],
    ['sub', sub],
    ['upper', (...args) => asciiUpper(payFor(checkString(args, 0)))],
  ],
  announced: 15,
  single: ['char', 'format', 'len', 'lower', 'rep', 'reverse', 'sub', 'upper'],
};
