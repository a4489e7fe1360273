/** The options of SET, GETEX and similar commands. */
import type { Bytes, Millis } from '../../../protocol/bytes.ts';
import { asciiUpper } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { deadline, type ExpiryOption, wordAt } from '../../table/arguments.ts';

/** The options, as bits. */
export const NX = 1;
export const XX = 2;
export const IFEQ = 4;
export const IFNE = 8;
export const IFDEQ = 16;
export const IFDNE = 32;
export const GET = 64;
export const KEEPTTL = 128;
export const PERSIST = 256;
export const EX = 512;
export const PX = 1024;
export const EXAT = 2048;
export const PXAT = 4096;
/** IFEQ was given more than once. */
const IFEQ_AGAIN = 8192;

const EXPIRY = EX | PX | EXAT | PXAT;
const TTL = EXPIRY | KEEPTTL | PERSIST;
/** The conditions with an operand. */
export const COMPARES = IFEQ | IFNE | IFDEQ | IFDNE;
/** The conditions with an operand, by the words of SET and DELEX. */
export const CONDITIONS: ReadonlyMap<Bytes, number> = new Map([
  ['IFEQ', IFEQ],
  ['IFNE', IFNE],
  ['IFDEQ', IFDEQ],
  ['IFDNE', IFDNE],
]);
export const CONDITION = NX | XX | COMPARES;

/** An option's bit, the earlier options that it excludes, and whether a word follows. */
interface OptionRule {
  readonly bit: number;
  readonly excludes: number;
  readonly operand: boolean;
}

/** Repeating an option is no error in Redis: the last one counts. */
const RULES = new Map<Bytes, OptionRule>();
function rule(name: Bytes, bit: number, group: number, operand: boolean): void {
  RULES.set(name, { bit, excludes: group & ~bit, operand });
}
rule('NX', NX, NX | XX, false);
rule('XX', XX, NX | XX, false);
rule('IFEQ', IFEQ, CONDITION, true);
rule('IFNE', IFNE, CONDITION, true);
rule('IFDEQ', IFDEQ, CONDITION, true);
rule('IFDNE', IFDNE, CONDITION, true);
rule('GET', GET, 0, false);
rule('KEEPTTL', KEEPTTL, TTL, false);
rule('PERSIST', PERSIST, TTL, false);
rule('EX', EX, TTL, true);
rule('PX', PX, TTL, true);
rule('EXAT', EXAT, TTL, true);
rule('PXAT', PXAT, TTL, true);

/** Every lock uses NX, XX, EX or PX, so they are found by their letter codes, without changing the case of the word. */
const SHORT: (OptionRule | undefined)[] = new Array(26 * 26).fill(undefined);
for (const [name, found] of RULES) if (name.length === 2) SHORT[shortIndex(name)] = found;

/** Returns an index for two letters. For other words it is outside the table. */
function shortIndex(word: Bytes): number {
  const first = (word.charCodeAt(0) | 32) - 97;
  const second = (word.charCodeAt(1) | 32) - 97;
  return first >= 0 && second >= 0 && second < 26 ? first * 26 + second : -1;
}

function ruleOf(word: Bytes): OptionRule {
  const found = word.length === 2 ? SHORT[shortIndex(word)] : RULES.get(asciiUpper(word));
  return found ?? fail(SYNTAX);
}

/** The options that each command accepts. */
export const SET_OPTIONS = CONDITION | GET | KEEPTTL | EXPIRY;
export const GETEX_OPTIONS = PERSIST | EXPIRY;
export const CAS_OPTIONS = KEEPTTL | EXPIRY;
export const MSETEX_OPTIONS = NX | XX | KEEPTTL | EXPIRY;

/** The options of a request. */
export interface StringOptions {
  /** The given options, as bits. */
  readonly bits: number;
  /** The value or digest to compare with. */
  readonly operand: Bytes;
  /** The amount of the expiry option, as text; '' if there is none. */
  readonly expiry: Bytes;
}

/**
 * Reads the options from a position on. Throws a syntax error for a word that is not allowed.
 * @param allowed the accepted options, as bits
 */
export function parseStringOptions(argv: readonly Bytes[], from: number, allowed: number): StringOptions {
  let bits = 0;
  let operand = '';
  let expiry = '';
  for (let i = from; i < argv.length; i++) {
    const found = ruleOf(wordAt(argv, i));
    if ((found.bit & allowed) === 0 || (found.excludes & bits) !== 0) fail(SYNTAX);
    if ((found.bit & bits & IFEQ) !== 0) bits |= IFEQ_AGAIN;
    bits |= found.bit;
    if (found.operand) {
      const value = argv[++i] ?? fail(SYNTAX);
      if ((found.bit & EXPIRY) !== 0) expiry = value;
      else operand = value;
    }
  }
  return { bits, operand, expiry };
}

/** True if a comparison goes with NX or XX, or if IFEQ is given twice. Only some servers take that. */
export function combinesConditions({ bits }: StringOptions): boolean {
  return (bits & IFEQ_AGAIN) !== 0 || ((bits & COMPARES) !== 0 && (bits & (NX | XX)) !== 0);
}

/** Returns whether one of EX, PX, EXAT and PXAT was given. */
export function hasExpiry({ bits }: StringOptions): boolean {
  return (bits & EXPIRY) !== 0;
}

/**
 * Returns the deadline of the options, in milliseconds since the epoch; undefined if there is none. Throws Redis' error
 * for a bad amount.
 * @param now the current time in milliseconds since the epoch
 * @param command the command's name, for the error
 */
export function expiryOf(options: StringOptions, now: Millis, command: Bytes): Millis | undefined {
  const { bits } = options;
  if (!hasExpiry(options)) return undefined;
  return deadline(expiryName(bits), options.expiry, now, command);
}

function expiryName(bits: number): ExpiryOption {
  if ((bits & PX) !== 0) return 'PX';
  if ((bits & EX) !== 0) return 'EX';
  return (bits & PXAT) !== 0 ? 'PXAT' : 'EXAT';
}
