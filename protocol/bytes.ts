/** Byte strings, and Redis' rules for ASCII letters, numbers and patterns in them. */

/** A string whose char codes are bytes (latin1): keys, values, arguments and Lua strings. */
export type Bytes = string;

declare global {
  interface Buffer {
    /** The fast path behind toString('latin1', start, end), which Node's types leave out. */
    latin1Slice(start?: number, end?: number): string;
    /** The fast path behind write(text, offset, 'latin1'). */
    latin1Write(text: string, offset?: number, length?: number): number;
  }
}

/**
 * The maximum length of a string in bytes. V8's strings end 24 bytes below 512 MiB, and a reply needs room for its
 * header.
 */
export const STRING_MAX = 2 ** 29 - 1024;

/** Milliseconds since the Unix epoch. */
export type Millis = number;

/** Lower-cases A to Z and leaves every other byte alone, as Redis does with command names. */
export function asciiLower(text: Bytes): Bytes {
  return hasCodes(text, 65, 90) ? shiftCase(text, 65, 90, 32) : text;
}

/** Upper-cases a to z and leaves every other byte alone ('ÿ'.toUpperCase() would leave latin1). */
export function asciiUpper(text: Bytes): Bytes {
  return hasCodes(text, 97, 122) ? shiftCase(text, 97, 122, -32) : text;
}

/** A loop, because the few letters of a command or an option take a regular expression longer. */
function hasCodes(text: Bytes, first: number, last: number): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= first && code <= last) return true;
  }
  return false;
}

function shiftCase(text: Bytes, first: number, last: number, by: number): Bytes {
  if (text.length > LONG) return shiftLong(toBuffer(text), first, last, by);
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    out += String.fromCharCode(code >= first && code <= last ? code + by : code);
  }
  return out;
}

/** Longer strings are converted as a whole: joined letter by letter, they would need forty times their size. */
const LONG = 64;

function shiftLong(bytes: Buffer, first: number, last: number, by: number): Bytes {
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i] as number;
    if (code >= first && code <= last) bytes[i] = code + by;
  }
  return bytes.latin1Slice();
}

/** Encodes ordinary text as UTF-8. */
export function fromText(text: string): Bytes {
  return fromBuffer(Buffer.from(text, 'utf8'));
}

/** The bytes of a Buffer or typed array. */
export function fromBuffer(buffer: Uint8Array): Bytes {
  return sliceBytes(Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength), 0, buffer.byteLength);
}

/** Node allocates longer strings outside V8's heap, with malloc. */
const INSIDE_MAX = 1_000_000;

/** From this size on, glibc's malloc maps each block separately and unmaps it when it is freed. */
const MAPPED_MIN = 32 * 1024 ** 2;

/**
 * A part of a Buffer. A long string is joined from pieces that V8 keeps in its heap. Otherwise glibc would keep freed
 * blocks of a few megabytes, and the process would never shrink.
 */
export function sliceBytes(buffer: Buffer, start: number, end: number): Bytes {
  if (end - start <= INSIDE_MAX || end - start > MAPPED_MIN) return buffer.latin1Slice(start, end);
  let bytes = '';
  for (let at = start; at < end; at += INSIDE_MAX) {
    bytes += buffer.latin1Slice(at, Math.min(end, at + INSIDE_MAX));
  }
  return bytes;
}

/** The byte that `flat` has read. V8 leaves out a read whose result goes nowhere. */
const READ = { byte: 0 };

/**
 * The same bytes in one piece. V8 keeps what was joined as a tree, with 32 bytes for each `+`, until somebody reads a byte
 * of it: a request of three words takes seven times its size.
 */
export function flat(bytes: Bytes): Bytes {
  READ.byte = bytes.charCodeAt(0);
  return bytes;
}

/** Up to this length, a loop writes the bytes in half the time that a call into Node takes (50 and 120 ns for 4 bytes). */
const SHORT = 12;

export function toBuffer(bytes: Bytes): Buffer {
  const { length } = bytes;
  if (length > SHORT) return Buffer.from(bytes, 'latin1');
  const buffer = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) buffer[i] = bytes.charCodeAt(i);
  return buffer;
}

/** The bytes that C prints of a string (`%.*s`): up to the first NUL, and at most this many. */
export function cString(text: Bytes, most = Infinity): Bytes {
  const nul = text.indexOf('\0');
  return text.slice(0, nul < 0 ? most : Math.min(nul, most));
}

/** Orders byte strings as memcmp does: negative, 0 or positive. */
export function compareBytes(a: Bytes, b: Bytes): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The text without the leading white space that C's strtod skips. */
export function stripBlanks(text: Bytes): Bytes {
  return text.replace(/^[ \t\n\v\f\r]+/, '');
}

const INT64_MAX = 9223372036854775807n;
const INT64_MIN = -9223372036854775808n;

/**
 * Parses a 64-bit integer as strictly as Redis' string2ll: no blanks, no plus sign, no leading zero. Returns a number
 * when that is exact, a bigint above 2^53, and undefined for anything else.
 */
export function parseInteger(text: Bytes): number | bigint | undefined {
  const length = text.length;
  if (length === 0 || length > 20) return undefined;
  const negative = text.charCodeAt(0) === 45;
  let i = negative ? 1 : 0;
  const first = text.charCodeAt(i);
  if (first === 48) return length === 1 ? 0 : undefined;
  let value = 0;
  if (i === length) return undefined;
  for (; i < length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  if (value <= Number.MAX_SAFE_INTEGER) return negative ? -value : value;
  const exact = BigInt(text);
  return exact <= INT64_MAX && exact >= INT64_MIN ? exact : undefined;
}

/** Like parseInteger, but only for integers that a JavaScript number represents exactly. */
export function parseSafeInteger(text: Bytes): number | undefined {
  const value = parseInteger(text);
  return typeof value === 'number' ? value : undefined;
}

/** True when the value fits a signed 64-bit integer. */
export function isInt64(value: bigint): boolean {
  return value <= INT64_MAX && value >= INT64_MIN;
}

/** Converts a bigint to a number if that is exact. */
export function narrow(value: bigint): number | bigint {
  return value <= 9007199254740991n && value >= -9007199254740991n ? Number(value) : value;
}

/** An integer as the nearest number. */
export function approximate(value: number | bigint): number {
  return Number(value);
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const INFINITE = /^[+-]?inf(inity)?$/i;
const HEX_FLOAT = /^[+-]?0[xX](?:([0-9a-fA-F]+)(?:\.([0-9a-fA-F]*))?|\.([0-9a-fA-F]+))(?:[pP]([+-]?\d+))?$/;

/** Parses digits, with or without a minus sign. Undefined for anything else, and beyond 2^53. */
export function digitsOnly(text: Bytes): number | undefined {
  const negative = text.charCodeAt(0) === 45;
  const start = negative ? 1 : 0;
  if (text.length === start || text.length > 20) return undefined;
  let value = 0;
  for (let i = start; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  if (value > Number.MAX_SAFE_INTEGER) return undefined;
  return negative ? -value : value;
}

/**
 * Parses a double like C's strtod, including hexadecimal numbers and infinity, with nothing left over. Undefined for
 * NaN, invalid text, and numbers that are too large or too close to zero, which Redis refuses.
 */
export function parseDouble(text: Bytes): number | undefined {
  const whole = digitsOnly(text);
  if (whole !== undefined) return whole;
  const value = parseAnyDouble(text);
  if (value === undefined) return undefined;
  if (value === 0) return /^[+-]?(0[xX][0.]*([pP]|$)|[0.]*([eE]|$))/.test(text) ? value : undefined;
  return Number.isFinite(value) || INFINITE.test(text) ? value : undefined;
}

/**
 * Like parseDouble, but a number that is too large becomes infinity, and one that is too close to zero becomes zero.
 */
export function parseAnyDouble(text: Bytes): number | undefined {
  const plain = digitsOnly(text);
  if (plain !== undefined) return plain;
  if (DECIMAL.test(text)) return Number(text);
  const negative = text.charCodeAt(0) === 45;
  if (INFINITE.test(text)) return negative ? -Infinity : Infinity;
  const hex = HEX_FLOAT.exec(text);
  if (hex === null) return undefined;
  const [, whole = '', part = hex[3] ?? '', , power = '0'] = hex;
  const value = scaleBinary(BigInt(`0x0${whole}${part}`), Number(power) - 4 * part.length);
  return negative ? -value : value;
}

/** digits * 2^power, rounded once, half to even. */
function scaleBinary(digits: bigint, power: number): number {
  if (digits === 0n) return 0;
  const bits = digits.toString(2).length;
  if (bits + power > 1024) return Infinity;
  if (bits + power < -1074) return 0;
  // Bits below the last place of the result are rounded away here, so that the multiplications are exact.
  const last = Math.max(bits + power - 53, -1074);
  const surplus = last - power;
  let kept = digits;
  if (surplus > 0) {
    const half = 1n << BigInt(surplus - 1);
    const rest = digits & (2n * half - 1n);
    kept = digits >> BigInt(surplus);
    if (rest > half || (rest === half && (kept & 1n) === 1n)) kept += 1n;
  } else {
    kept = digits << BigInt(-surplus);
  }
  return Number(kept) * 2 ** Math.floor(last / 2) * 2 ** Math.ceil(last / 2);
}

/** C's printf("%.<digits>g"). Redis 7.0 prints doubles with 17 digits, Lua with 14. */
export function formatGeneral(value: number, digits: number): Bytes {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponent = '0'] = roundToEven(Math.abs(value), digits).split('e');
  const sign = value < 0 ? '-' : '';
  const power = parseInt(exponent, 10);
  if (power < -4 || power >= digits) {
    const exponentSign = power < 0 ? '-' : '+';
    return `${sign}${stripZeros(mantissa)}e${exponentSign}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  const figures = mantissa.replace('.', '');
  if (power < 0) return `${sign}${stripZeros(`0.${'0'.repeat(-power - 1)}${figures}`)}`;
  return sign + stripZeros(`${figures.slice(0, power + 1)}.${figures.slice(power + 1)}`);
}

const TIE = /^50*e/;

/** Like toExponential, but ties round to even, as in C (12345678901234.5 with 14 digits ends in 234). */
function roundToEven(value: number, digits: number): string {
  const text = value.toExponential(digits - 1);
  const end = text.indexOf('e') - 1;
  if ((text.charCodeAt(end) & 1) === 0) return text;
  const exact = value.toExponential(digits + 60);
  const carried = exact.slice(exact.indexOf('e')) !== text.slice(end + 1);
  if (carried || !TIE.test(exact.slice(end === 0 ? 2 : end + 1))) return text;
  return `${text.slice(0, end)}${String.fromCharCode(text.charCodeAt(end) - 1)}${text.slice(end + 1)}`;
}

function stripZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0*$/, '') : text;
}

/** A double as Redis 7.0 prints scores: integers without a fraction, everything else with 17 significant digits. */
export function formatDouble(value: number): Bytes {
  if (Number.isSafeInteger(value) && Math.abs(value) < 1e17) {
    return Object.is(value, -0) ? '-0' : String(value);
  }
  return formatGeneral(value, 17);
}
