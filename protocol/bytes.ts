/** Byte strings, and the ASCII, number and pattern rules that Redis applies to them. */

/** A string whose char codes are bytes (latin1): keys, values, arguments and Lua strings. */
export type Bytes = string;

declare global {
  interface Buffer {
    /** Node's own fast path behind toString('latin1', start, end); its types leave it out. */
    latin1Slice(start?: number, end?: number): string;
    /** Node's own fast path behind write(text, offset, 'latin1'). */
    latin1Write(text: string, offset?: number, length?: number): number;
  }
}

/** The longest string that is taken or made: V8's strings end 24 bytes short of 512 MiB, and a reply needs a head. */
export const STRING_MAX = 2 ** 29 - 1024;

/** Milliseconds since the Unix epoch. */
export type Millis = number;

const UPPER = /[A-Z]/;
const LOWER = /[a-z]/;

/** Lower-cases A to Z and leaves every other byte alone, as Redis does with command names. */
export function asciiLower(text: Bytes): Bytes {
  return UPPER.test(text) ? shiftCase(text, 65, 90, 32) : text;
}

/** Upper-cases a to z and leaves every other byte alone ('ÿ'.toUpperCase() would leave latin1). */
export function asciiUpper(text: Bytes): Bytes {
  return LOWER.test(text) ? shiftCase(text, 97, 122, -32) : text;
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

/** Joined letter by letter, a long string would take forty times its own length. */
const LONG = 64;

function shiftLong(bytes: Buffer, first: number, last: number, by: number): Bytes {
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i] as number;
    if (code >= first && code <= last) bytes[i] = code + by;
  }
  return bytes.latin1Slice();
}

/** UTF-8 encodes ordinary text from the API's edge. */
export function fromText(text: string): Bytes {
  return fromBuffer(Buffer.from(text, 'utf8'));
}

/** The bytes of a Buffer or typed array. */
export function fromBuffer(buffer: Uint8Array): Bytes {
  return sliceBytes(Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength), 0, buffer.byteLength);
}

/** Node puts a longer string outside V8's heap, into memory from malloc. */
const INSIDE_MAX = 1_000_000;

/** Above this glibc's malloc maps each block by itself, and unmaps it when it is freed. */
const MAPPED_MIN = 32 * 1024 ** 2;

/**
 * A part of a Buffer. Long strings are put together from pieces that V8 keeps in its heap: what malloc has given for
 * blocks of a few megabytes glibc keeps when they are freed, and the process would stay as large as it ever was.
 */
export function sliceBytes(buffer: Buffer, start: number, end: number): Bytes {
  if (end - start <= INSIDE_MAX || end - start > MAPPED_MIN) return buffer.latin1Slice(start, end);
  let bytes = '';
  for (let at = start; at < end; at += INSIDE_MAX) {
    bytes += buffer.latin1Slice(at, Math.min(end, at + INSIDE_MAX));
  }
  return bytes;
}

/** A Buffer that holds the bytes. */
export function toBuffer(bytes: Bytes): Buffer {
  return Buffer.from(bytes, 'latin1');
}

/** What C prints of a string (`%.*s`): at most so many bytes, and none from a NUL on. */
export function cString(text: Bytes, most = Infinity): Bytes {
  const nul = text.indexOf('\0');
  return text.slice(0, nul < 0 ? most : Math.min(nul, most));
}

/** Orders byte strings as memcmp does: negative, 0 or positive. */
export function compareBytes(a: Bytes, b: Bytes): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The text without the white space that C's strtod and its like skip at the start. */
export function stripBlanks(text: Bytes): Bytes {
  return text.replace(/^[ \t\n\v\f\r]+/, '');
}

const INT64_MAX = 9223372036854775807n;
const INT64_MIN = -9223372036854775808n;

/**
 * Reads a 64-bit integer as strictly as Redis' string2ll: no blanks, no plus sign, no leading zero.
 * Answers a number while that is exact, a bigint beyond 2^53, undefined for anything else.
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

/** As parseInteger, but only integers that a JavaScript number holds exactly. */
export function parseSafeInteger(text: Bytes): number | undefined {
  const value = parseInteger(text);
  return typeof value === 'number' ? value : undefined;
}

/** True when the value fits a signed 64-bit integer. */
export function isInt64(value: bigint): boolean {
  return value <= INT64_MAX && value >= INT64_MIN;
}

/** A bigint back as a number where that loses nothing. */
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

/**
 * Reads a double as C's strtod does when nothing may be left over, hexadecimal and infinity included. Undefined for
 * NaN, nonsense, and what is too large or too close to zero, which Redis refuses.
 */
export function parseDouble(text: Bytes): number | undefined {
  const value = parseAnyDouble(text);
  if (value === undefined) return undefined;
  if (value === 0) return /^[+-]?(0[xX][0.]*([pP]|$)|[0.]*([eE]|$))/.test(text) ? value : undefined;
  return Number.isFinite(value) || INFINITE.test(text) ? value : undefined;
}

/** The same, but what is too large is infinite and what is too close to zero is zero. */
export function parseAnyDouble(text: Bytes): number | undefined {
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
  // What lies below the last place of the result is rounded away here, so that the multiplications are exact.
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

/** C's printf("%.<digits>g"): Redis 7.0 prints doubles with 17 digits, Lua with 14. */
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

/** As toExponential, which rounds a tie up, but to the even figure, as C does (12345678901234.5 has 14 figures: …234). */
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

/** A double as Redis 7.0 prints scores: integers bare, everything else with 17 significant digits. */
export function formatDouble(value: number): Bytes {
  if (Number.isSafeInteger(value) && Math.abs(value) < 1e17) {
    return Object.is(value, -0) ? '-0' : String(value);
  }
  return formatGeneral(value, 17);
}

/** Up to here whole numbers are printed with all their digits, as 64-bit integers. */
const WHOLE_MAX = 2 ** 62;

/**
 * A double as Redis 7.2 and later print scores: in the fewest digits that are read back as the same number, in the layout of
 * fpconv (https://github.com/night-shift/fpconv), and whole numbers as 64-bit integers.
 */
export function formatShortest(value: number): Bytes {
  if (Number.isInteger(value) && Math.abs(value) <= WHOLE_MAX) {
    return Object.is(value, -0) ? '-0' : String(BigInt(value));
  }
  if (!Number.isFinite(value)) return formatGeneral(value, 17);
  const [mantissa = '', power = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  return (value < 0 ? '-' : '') + layOut(digits, +power);
}

/** Digits with a point, with zeros, or with an exponent. @param power that of the first digit */
function layOut(digits: string, power: number): string {
  const end = power - digits.length + 1;
  if (end >= 0 && Math.abs(power) < digits.length + 7) return digits + '0'.repeat(end);
  if (end < 0 && (end > -7 || Math.abs(power) < 4)) {
    const point = digits.length + end;
    return point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : `${digits.slice(0, point)}.${digits.slice(point)}`;
  }
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${digits[0]}${rest}e${power < 0 ? '-' : '+'}${Math.abs(power)}`;
}
