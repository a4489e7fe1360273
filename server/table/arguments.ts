/** Reads a command's arguments: numbers, expiries and options, with Redis' errors. */
import {
  approximate,
  asciiUpper,
  type Bytes,
  type Millis,
  parseDouble,
  parseInteger,
  STRING_MAX,
} from '../../protocol/bytes.ts';
import { fail, invalidExpiry, NOT_FLOAT, NOT_INTEGER, SYNTAX } from '../../protocol/errors.ts';
import type { Dialect } from '../dialects/dialect.ts';

const INT64_MAX = 2n ** 63n - 1n;

/**
 * Returns a word whose position comes from a loop or a count, so that the arity cannot type it.
 * @throws RangeError when there is no such word: the handler has not checked the number of words
 */
export function wordAt(argv: readonly Bytes[], at: number): Bytes {
  return argv[at] ?? missing(argv, at);
}

function missing(argv: readonly Bytes[], at: number): never {
  throw new RangeError(`word ${at} of a request of ${argv.length} words was read`);
}

/**
 * Reads a 64-bit integer exactly: as a number up to 2^53, as a bigint beyond. Throws Redis' error for anything else.
 */
export function int64(text: Bytes, error = NOT_INTEGER): number | bigint {
  return parseInteger(text) ?? fail(error);
}

/** Reads a 64-bit integer as a number. Beyond 2^53 it is rounded, which is precise enough for counts and positions. */
export function integer(text: Bytes, error = NOT_INTEGER): number {
  const value = parseInteger(text) ?? fail(error);
  return typeof value === 'number' ? value : approximate(value);
}

/** Reads an integer within bounds. Throws `rangeError` outside them, `notInteger` for anything else. */
export function integerBetween(
  text: Bytes,
  min: number,
  max: number,
  rangeError = NOT_INTEGER,
  notInteger = NOT_INTEGER,
): number {
  const value = integer(text, notInteger);
  return value < min || value > max ? fail(rangeError) : value;
}

/** Returns the longest string that the client may create, in bytes. */
export function longestString({
  server,
}: {
  readonly server: { readonly settings: { readonly 'proto-max-bulk-len': number } };
}): number {
  return Math.min(server.settings['proto-max-bulk-len'], STRING_MAX);
}

const INT32_MAX = 2 ** 31 - 1;

/** Reads an integer that fits C's int, such as a database number. Throws Redis' error for anything else. */
export function int32(text: Bytes): number {
  return integerBetween(
    text,
    -INT32_MAX - 1,
    INT32_MAX,
    'ERR value is out of range, value must between -2147483648 and 2147483647',
  );
}

/** Reads a double. Throws Redis' error for anything else. */
export function float(text: Bytes, error = NOT_FLOAT): number {
  return parseDouble(text) ?? fail(error);
}

/**
 * Reads a score, a weight or a place, which some servers take in hexadecimal. Throws Redis' error for anything else.
 */
export function readScore({ hexadecimal }: ScoreTraits, text: Bytes, error = NOT_FLOAT): number {
  const value = float(text, error);
  return hexadecimal || !/x/i.test(text) ? value : fail(error);
}

/** What the reading of scores asks of the dialect. */
export type ScoreTraits = Pick<Dialect, 'hexadecimal'>;

/** The units of expiry options: EX and PX are relative, EXAT and PXAT are times since the epoch. */
export type ExpiryOption = 'EX' | 'PX' | 'EXAT' | 'PXAT';

/** Amounts below this can be multiplied and added to the time without loss of precision. */
const PLAIN_AMOUNT = 2 ** 40;

/**
 * Returns the deadline of an expiry option, in milliseconds since the epoch. Throws Redis' error for an amount that is
 * not an integer, not positive, or too large for 64 bits.
 * @param now the current time in milliseconds since the epoch
 * @param command the command's name, for the error
 */
export function deadline(option: ExpiryOption, text: Bytes, now: Millis, command: Bytes): Millis {
  const amount = int64(text);
  const unit = option === 'EX' || option === 'EXAT' ? 1000 : 1;
  const base = option === 'EX' || option === 'PX' ? now : 0;
  if (typeof amount === 'number' && amount > 0 && amount < PLAIN_AMOUNT) return amount * unit + base;
  const exact = BigInt(amount);
  if (exact <= 0n || exact > INT64_MAX / BigInt(unit)) throw invalidExpiry(command);
  if (exact * BigInt(unit) > INT64_MAX - BigInt(base)) throw invalidExpiry(command);
  return instantOf(exact * BigInt(unit) + BigInt(base));
}

/** The largest double that fits 64 bits. */
const LAST_INSTANT = 2 ** 63 - 1024;

/** Returns an exact time in milliseconds as a number: the nearest one that fits 64 bits. */
export function instantOf(exact: bigint): Millis {
  return Math.min(approximate(exact), LAST_INSTANT);
}

/** Iterates over optional words: `while (options.more()) switch (options.next()) …`. */
export class Options {
  readonly #argv: readonly Bytes[];
  #at: number;

  constructor(argv: readonly Bytes[], from: number) {
    this.#argv = argv;
    this.#at = from;
  }

  /** Returns whether there is another word. */
  more(): boolean {
    return this.#at < this.#argv.length;
  }

  /** The position of the next word in the request. */
  get at(): number {
    return this.#at;
  }

  /** The number of words left. */
  get left(): number {
    return this.#argv.length - this.#at;
  }

  /** Returns the next word in upper case, as an option's name. */
  next(): Bytes {
    return asciiUpper(this.value());
  }

  /** Returns the next word unchanged. Throws a syntax error if there is none. */
  value(): Bytes {
    return this.#argv[this.#at++] ?? fail(SYNTAX);
  }

  /** Goes back one word. */
  back(): void {
    this.#at--;
  }
}
