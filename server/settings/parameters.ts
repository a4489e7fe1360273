/** The kinds of configuration parameters: how their text is read, checked and printed. */
import {
  approximate,
  asciiLower,
  type Bytes,
  parseDouble,
  parseInteger,
  parseSafeInteger,
} from '../../protocol/bytes.ts';
import { quoted } from '../../protocol/inline.ts';
import { isAddress } from './addresses.ts';
import { parseEventClasses, printEventClasses } from './event-classes.ts';

/** A refused value, with the reason in Redis' words. */
export class BadSetting {
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

type ParseSetting<T> = (text: Bytes) => T | BadSetting;

/** Whether CONFIG SET refuses the parameter, because it is immutable or protected. */
type Fixed = boolean | 'protected';

/** What a parameter takes from JavaScript, by the type of its default. */
const ALLOWED = { boolean: 'true or false', string: 'a string' };

/**
 * Declares one parameter.
 * @param initial the default
 * @param read parses the text of a value
 * @param print formats a value as text
 * @param fixed whether CONFIG SET refuses it
 * @param write formats a value for a configuration file, by default as `print` does; undefined for what has no line there
 * @param allowed what a program may give as the value, for the error of a wrong one
 */
export function parameter<T>(
  initial: T,
  read: ParseSetting<T>,
  print: (value: T) => Bytes,
  fixed: Fixed = false,
  write: (value: T) => Bytes | undefined = print,
  allowed = ALLOWED[typeof initial as keyof typeof ALLOWED],
) {
  return { initial, read, print, fixed, write, allowed };
}

/** Text in a configuration file. Most parameters have no line there while they are empty. */
function writeText(value: Bytes): Bytes | undefined {
  return value === '' ? undefined : quoted(value);
}

/** A save point: the dataset is saved after this many seconds if at least this many changes were made. */
export interface SavePoint {
  readonly seconds: number;
  readonly changes: number;
}

/** Reads `save`: pairs of seconds and changes. Returns undefined for anything else. */
export function parseSavePoints(text: Bytes): SavePoint[] | undefined {
  const numbers = text === '' ? [] : text.split(' ').map(parseSafeInteger);
  const points: SavePoint[] = [];
  if (numbers.length % 2 !== 0) return undefined;
  for (let at = 0; at < numbers.length; at += 2) {
    const [seconds, changes] = [numbers[at], numbers[at + 1]];
    if (seconds === undefined || changes === undefined || seconds < 1 || changes < 0) return undefined;
    points.push({ seconds, changes });
  }
  return points;
}

/** Declares a list of save points. */
export function savePoints() {
  const read = (text: Bytes): Bytes | BadSetting => {
    const points = parseSavePoints(text);
    if (points === undefined) return new BadSetting('Invalid save parameters');
    return points.map(({ seconds, changes }) => `${seconds} ${changes}`).join(' ');
  };
  return parameter<Bytes>('', read, (value) => value);
}

/** Declares three numbers that are added to the process' score for the kernel. */
export function scores(name: Bytes, initial: Bytes) {
  const read = (words: Bytes): Bytes | BadSetting => {
    const values = words.split(' ');
    if (values.length !== 3 || values.includes('')) return new BadSetting('wrong number of arguments');
    const numbers = values.map((word) => (/^[+-]?\d+$/.test(word) ? (parseDouble(word) ?? NaN) : NaN));
    if (!numbers.every((number) => Math.abs(number) <= 2000)) {
      return new BadSetting(`Invalid ${name}, elements must be between -2000 and 2000.`);
    }
    return numbers.join(' ');
  };
  return parameter<Bytes>(initial, read, (value) => value);
}

const SHUTDOWN_WORDS = ['default', 'save', 'nosave', 'now', 'force'];

/**
 * Declares how a signal ends the server: SHUTDOWN's options, or `default`.
 * @param others words that lostlock refuses
 */
export function shutdownWords(others: readonly Bytes[] = []) {
  const read = (text: Bytes): Bytes | BadSetting => {
    const words = asciiLower(text).split(' ');
    const known = [...SHUTDOWN_WORDS, ...others];
    if (!words.every((word) => known.includes(word))) {
      return new BadSetting(`argument(s) must be one of the following: ${known.join(', ')}`);
    }
    if (words.some((word) => others.includes(word)))
      return new BadSetting('lostlock ends at once: it neither fails over nor looks whether that is safe');
    if (words.includes('save') && words.includes('nosave')) {
      return new BadSetting("shutdown options SAVE and NOSAVE can't be used simultaneously");
    }
    const named = SHUTDOWN_WORDS.filter((word) => word !== 'default' && words.includes(word));
    return named.length === 0 ? 'default' : named.join(' ');
  };
  return parameter<Bytes>('default', read, (value) => value);
}

/** Declares percentages that are separated by spaces. */
export function percentages(initial: Bytes) {
  const read = (words: Bytes): Bytes | BadSetting => {
    const values = words === '' ? [] : words.split(' ').map(parseDouble);
    if (values.includes(undefined)) {
      return new BadSetting('Invalid latency-tracking-info-percentiles parameters');
    }
    if (values.some((value = 0) => value < 0 || value > 100)) {
      return new BadSetting('latency-tracking-info-percentiles parameters should sit between [0.0,100.0]');
    }
    return values.join(' ');
  };
  const write = (value: Bytes): Bytes => (value === '' ? '""' : value);
  return parameter<Bytes>(initial, read, (value) => value, false, write);
}

/** The limits of 64-bit integers, signed and unsigned, to the precision of a number. */
const INT64 = 2 ** 63;
/** The limit of an unsigned 64-bit integer. */
export const UINT64 = 2 ** 64;
/** The limit of an int in C. */
export const INT = 2 ** 31 - 1;

function printNumber(value: number): Bytes {
  if (value >= UINT64) return '18446744073709551615';
  return value === INT64 ? '9223372036854775807' : `${BigInt(value)}`;
}

function between(value: number, min: number, max: number): number | BadSetting {
  if (value >= min && value <= max) return value;
  return new BadSetting(`argument must be between ${min} and ${printNumber(max)} inclusive`);
}

/**
 * Declares a parameter that takes one of several words.
 * @param same words that mean the same as others, which are shown instead
 */
export function choice(
  initial: Bytes,
  words: readonly Bytes[],
  fixed: Fixed = false,
  same: Readonly<Record<Bytes, Bytes>> = {},
) {
  const why = `argument(s) must be one of the following: ${words.join(', ')}`;
  const read = (value: Bytes): Bytes | BadSetting => {
    const lower = asciiLower(value);
    const word = words.find((each) => asciiLower(each) === lower);
    return word === undefined ? new BadSetting(why) : (same[word] ?? word);
  };
  const print = (value: Bytes): Bytes => value;
  const allowed = words.map((word) => `'${word}'`).join(', ');
  return parameter<Bytes>(initial, read, print, fixed, print, allowed);
}

/** Declares an integer within bounds. `brought` may convert an accepted value. */
export function integer(
  initial: number,
  min = 0,
  max = INT64,
  fixed = false,
  brought: (value: number) => number = (value) => value,
) {
  const read = (text: Bytes): number | BadSetting => {
    const value = parseInteger(text);
    if (value === undefined) return new BadSetting("argument couldn't be parsed into an integer");
    const fits = between(approximate(value), min, max);
    return fits instanceof BadSetting ? fits : brought(fits);
  };
  const allowed = `an integer from ${printNumber(min)} to ${printNumber(max)}`;
  return parameter<number>(initial, read, printNumber, fixed, printNumber, allowed);
}

/** Declares the name of a machine. */
export function hostName() {
  const why = 'Hostnames may only contain alphanumeric characters, hyphens or dots';
  const read = (name: Bytes): Bytes | BadSetting => {
    if (name.length > 255) return new BadSetting('Hostnames must be less than 256 characters');
    return /^[A-Za-z0-9.-]*$/.test(name) ? name : new BadSetting(why);
  };
  return parameter<Bytes>('', read, (value) => value, false, writeText);
}

/** What the name of a node that people read may not have. */
const ODD_IN_NAME = /[!#$%&()*+:;<>?@[\]^{|}~]/;
/** What names and addresses may not have since Valkey 9. */
export const ODD_SINCE_VALKEY_9 = /[\x01-,;-@[-^{-\x7f]/;
const ODD_NODE_NAME = 'Announced human node name contained invalid character';

/** Declares the name of a node that people read, or another text. @param why the error of a character that is not allowed */
export function nodeName(odd: RegExp = ODD_IN_NAME, why = ODD_NODE_NAME) {
  const read = (name: Bytes): Bytes | BadSetting => (odd.test(name) ? new BadSetting(why) : name);
  return parameter<Bytes>('', read, (value) => value, false, writeText);
}

/** Declares an IP address, or none. */
export function ipAddress(version: 4 | 6) {
  const read = (text: Bytes): Bytes | BadSetting =>
    text === '' || isAddress(text, version) ? text : new BadSetting(`Invalid IPv${version} address`);
  return parameter<Bytes>('', read, (value) => value, false, writeText);
}

const UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  k: 1000,
  kb: 1024,
  m: 1e6,
  mb: 1024 ** 2,
  g: 1e9,
  gb: 1024 ** 3,
};

/** Reads a size such as 100mb and returns it in bytes; undefined if it is not a size. */
export function parseMemory(text: Bytes): number | undefined {
  const [, digits = '', unit = ''] = /^(\d*)([a-z]*)$/.exec(asciiLower(text)) ?? [];
  const factor = UNITS[unit];
  if (text === '' || digits + unit === '' || factor === undefined) return undefined;
  if (digits.length > 20) return UINT64;
  const bytes = BigInt(digits) * BigInt(factor);
  // 2^63 exceeds the signed limit but rounds to the same number, so the next larger number stands for it.
  return bytes === 2n ** 63n ? 2 ** 63 + 2048 : Math.min(approximate(bytes), UINT64);
}

/** Formats bytes with the largest unit that divides them. */
export function writeMemory(bytes: number): Bytes {
  for (const [unit, size] of [
    ['gb', 1024 ** 3],
    ['mb', 1024 ** 2],
    ['kb', 1024],
  ] as const) {
    if (bytes !== 0 && bytes % size === 0) return `${printNumber(bytes / size)}${unit}`;
  }
  return printNumber(bytes);
}

/** Declares a number of bytes, which may have a unit. */
export function memory(initial: number, min = 0, max = INT64) {
  const read = (text: Bytes): number | BadSetting => {
    const signed = min < 0 && /^-\d{1,19}$/.test(text) ? approximate(parseInteger(text) ?? 0n) : undefined;
    const value = signed ?? (text === '' ? 0 : parseMemory(text));
    if (value === undefined) return new BadSetting('argument must be a memory value');
    return between(value, min, max);
  };
  const allowed = `a number of bytes from ${printNumber(min)} to ${printNumber(max)}`;
  return parameter<number>(initial, read, printNumber, false, writeMemory, allowed);
}

/** Declares a number of bytes, or a share of maxmemory such as 5%. */
export function memoryOrShare(initial: Bytes) {
  const read = (text: Bytes): Bytes | BadSetting => {
    const share = /^(\d{1,19})%$/.exec(text)?.[1];
    const value = share ?? text;
    const bytes = value === '' ? 0 : parseMemory(value);
    if (bytes === undefined) return new BadSetting('argument must be a memory or percent value');
    if (share === undefined || bytes === 0) return printNumber(bytes);
    return bytes <= 100 ? `${bytes}%` : new BadSetting('percentage argument must be less or equal to 100');
  };
  const write = (value: Bytes): Bytes => (value.endsWith('%') ? value : writeMemory(parseMemory(value) ?? 0));
  return parameter<Bytes>(initial, read, (value) => value, false, write);
}

/**
 * Returns the bytes of a value of `memoryOrShare`; 0: no limit.
 * @param maxmemory the setting, in bytes
 */
export function bytesOf(value: Bytes, maxmemory: number): number {
  const amount = parseMemory(value.replace('%', '')) ?? 0;
  return value.endsWith('%') ? Math.floor((maxmemory * amount) / 100) : amount;
}

/**
 * Declares a yes/no parameter.
 * @param refusal the error of `yes`, if it is refused
 * @param why the error of other words
 */
export function flag(
  initial: boolean,
  fixed: Fixed = false,
  refusal?: Bytes,
  why = "argument must be 'yes' or 'no'",
) {
  const read = (text: Bytes): boolean | BadSetting => {
    const word = asciiLower(text);
    if (word === 'yes') return refusal === undefined ? true : new BadSetting(refusal);
    return word === 'no' ? false : new BadSetting(why);
  };
  return parameter<boolean>(initial, read, (value) => (value ? 'yes' : 'no'), fixed);
}

/** Declares a parameter that takes any text. */
export function text(
  initial: Bytes,
  fixed: Fixed = false,
  write: (value: Bytes) => Bytes | undefined = writeText,
) {
  return parameter<Bytes>(
    initial,
    (value) => value,
    (value) => value,
    fixed,
    write,
  );
}

/** Declares the directory of a server's files. @param empty the error of an empty name */
export function directory(empty: string) {
  const read = (value: Bytes): Bytes | BadSetting => (value === '' ? new BadSetting(empty) : value);
  return parameter<Bytes>('.', read, (value) => value, 'protected', writeText);
}

/** Declares the name of the dump file. */
export function dumpName() {
  const read = (value: Bytes): Bytes | BadSetting =>
    /[/\\]/.test(value) ? new BadSetting("dbfilename can't be a path, just a filename") : value;
  return parameter<Bytes>('dump.rdb', read, (value) => value, 'protected', quoted);
}

/** Declares a name without folders that CONFIG SET refuses to change. @param kind what Redis' error calls such a name */
export function fileName(initial: Bytes, name: string, kind: 'filename' | 'dirname') {
  const read = (value: Bytes): Bytes | BadSetting => {
    if (value === '') return new BadSetting(`${name} can't be empty`);
    return /[/\\]/.test(value) ? new BadSetting(`${name} can't be a path, just a ${kind}`) : value;
  };
  return parameter<Bytes>(initial, read, (value) => value, true, quoted);
}

/** Declares a file mode, as octal digits. */
export function permissions() {
  const read = (digits: Bytes): Bytes | BadSetting => {
    if (!/^[0-7]+$/.test(digits)) return new BadSetting("argument couldn't be parsed into an integer");
    return /^0*[0-7]{1,3}$/.test(digits)
      ? digits
      : new BadSetting('argument must be between 0 and 777 inclusive');
  };
  return parameter<Bytes>(
    '0',
    read,
    (value) => value,
    true,
    (value) => value.replace(/^0+(?=.)/, ''),
  );
}

/** Why a class of keyspace events is refused. */
export const BAD_EVENT_CLASS = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";

/**
 * Declares the letters of keyspace event classes.
 * @param more letters of classes that Redis 7.0 does not have
 */
export function eventClasses(more = '') {
  const read = (letters: Bytes): Bytes | BadSetting => {
    const classes = parseEventClasses(letters, more);
    return classes === undefined ? new BadSetting(BAD_EVENT_CLASS) : [...classes].join('');
  };
  const write = (classes: Bytes): Bytes => quoted(printEventClasses(classes));
  return parameter<Bytes>('', read, printEventClasses, false, write);
}
