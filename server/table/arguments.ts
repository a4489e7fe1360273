/** Reading a command's arguments: numbers, expiries and options, with the errors that Redis gives. */
import {
  approximate,
  asciiUpper,
  type Bytes,
  type Millis,
  parseAnyDouble,
  parseDouble,
  parseInteger,
  STRING_MAX,
} from '../../protocol/bytes.ts';
import { fail, invalidExpiry, NOT_FLOAT, NOT_INTEGER, SYNTAX } from '../../protocol/errors.ts';
import { parseLongDouble } from '../../protocol/long-double.ts';

const INT64_MAX = 2n ** 63n - 1n;

/**
 * A word whose place follows from a loop or a count, so that its arity cannot type it. Throws RangeError for a word
 * that is not there: the handler has not checked the number of words.
 */
export function wordAt(argv: readonly Bytes[], at: number): Bytes {
  return argv[at] ?? missing(argv, at);
}

function missing(argv: readonly Bytes[], at: number): never {
  throw new RangeError(`word ${at} of a request of ${argv.length} words was read`);
}

/** A 64-bit integer, exact: a number up to 2^53, a bigint beyond. Throws what Redis answers. */
export function int64(text: Bytes, error = NOT_INTEGER): number | bigint {
  return parseInteger(text) ?? fail(error);
}

/** An integer as a number; beyond 2^53 it is rounded, which is near enough for counts and positions. */
export function integer(text: Bytes, error = NOT_INTEGER): number {
  const value = parseInteger(text) ?? fail(error);
  return typeof value === 'number' ? value : approximate(value);
}

/** An integer within bounds. Throws `rangeError` outside them, `notInteger` for anything else. */
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

/** The longest string that a client may make, in bytes. */
export function longestString({
  server,
}: {
  readonly server: { readonly settings: { readonly 'proto-max-bulk-len': number } };
}): number {
  return Math.min(server.settings['proto-max-bulk-len'], STRING_MAX);
}

const INT32_MAX = 2 ** 31 - 1;

/** An integer that fits C's int, as database numbers and the like are read. */
export function int32(text: Bytes): number {
  return integerBetween(
    text,
    -INT32_MAX - 1,
    INT32_MAX,
    'ERR value is out of range, value must between -2147483648 and 2147483647',
  );
}

/** A blocking command's time-out, given in seconds: whole milliseconds, rounded up; 0 waits for ever. */
export function waitingTime(text: Bytes): Millis {
  // Redis reads a long double, which reaches further than ours.
  if (parseLongDouble(text) === undefined) fail('ERR timeout is not a float or out of range');
  const millis = (parseAnyDouble(text) ?? 0) * 1000;
  // 7.0 lets what is too large for 64 bits become negative, and its 80-bit floats round -0.001 up to nothing.
  if (millis < -1 || millis >= 2 ** 63) fail('ERR timeout is negative');
  // A double's last digits may carry 57 ms a little beyond 57.
  return millis <= 0 ? 0 : Math.max(1, Math.ceil(millis - 1e-9));
}

/** A double. Throws what Redis answers. */
export function float(text: Bytes, error = NOT_FLOAT): number {
  const whole = parseInteger(text);
  return typeof whole === 'number' ? whole : (parseDouble(text) ?? fail(error));
}

/** The units of time options: EX and PX count from now, EXAT and PXAT from the epoch. */
export type ExpiryOption = 'EX' | 'PX' | 'EXAT' | 'PXAT';

/** Amounts up to here can be multiplied and added to the time without losing a digit. */
const PLAIN_AMOUNT = 2 ** 40;

/**
 * The absolute deadline, in milliseconds, that an expiry option asks for. Throws for an amount that is not an
 * integer, not positive, or too large for 64 bits.
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

/** The last double that is still a 64-bit number. */
const LAST_INSTANT = 2 ** 63 - 1024;

/** An exact time in milliseconds as a number: the nearest one that 64 bits hold, and Redis takes. */
export function instantOf(exact: bigint): Millis {
  return Math.min(approximate(exact), LAST_INSTANT);
}

/** Walks over optional words: `while (options.more()) switch (options.next()) …`. */
export class Options {
  readonly #argv: readonly Bytes[];
  #at: number;

  constructor(argv: readonly Bytes[], from: number) {
    this.#argv = argv;
    this.#at = from;
  }

  more(): boolean {
    return this.#at < this.#argv.length;
  }

  /** Words left. */
  get left(): number {
    return this.#argv.length - this.#at;
  }

  /** The next word in upper case, as an option's name. */
  next(): Bytes {
    return asciiUpper(this.value());
  }

  /** The next word as it is; a syntax error when there is none. */
  value(): Bytes {
    return this.#argv[this.#at++] ?? fail(SYNTAX);
  }

  /** Steps back one word. */
  back(): void {
    this.#at--;
  }
}
