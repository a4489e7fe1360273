/**
 * INCREX: adds to a number within bounds and sets its expiry (https://redis.io/docs/latest/commands/increx/, 2026-11-22).
 * It follows the documentation and the tests of Redis 8.8.
 */
import { EMBSTR_MAX } from '../../../keyspace/collections/encoding.ts';
import type { Entry } from '../../../keyspace/entry.ts';
import {
  asciiUpper,
  type Bytes,
  isInt64,
  type Millis,
  narrow,
  parseDouble,
} from '../../../protocol/bytes.ts';
import { fail, NOT_FLOAT, SYNTAX } from '../../../protocol/errors.ts';
import {
  addLongDoubles,
  compareLongDoubles,
  formatLongDouble,
  LARGEST,
  type LongDouble,
  negate,
  parseLongDouble,
} from '../../../protocol/long-double.ts';
import { Double, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { noteEncoding } from '../../settings/encodings.ts';
import { deadline, type ExpiryOption, int64, wordAt } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { endAtOnce, isOver, stringOf } from './string.ts';

/** Options that a value follows, and options that stand alone. */
const VALUED = ['BYINT', 'BYFLOAT', 'LBOUND', 'UBOUND', 'EX', 'PX', 'EXAT', 'PXAT'] as const;
const ALONE = ['SATURATE', 'PERSIST', 'ENX'] as const;
const TIMES: readonly ExpiryOption[] = ['EX', 'PX', 'EXAT', 'PXAT'];
/** Groups of options of which at most one may be given. */
const EXCLUSIVE: readonly (readonly string[])[] = [
  ['BYINT', 'BYFLOAT'],
  [...TIMES, 'PERSIST'],
  ['PERSIST', 'ENX'],
];

/** Reads the options in any order, each at most once. Throws a syntax error for anything else. */
function readOptions(argv: readonly Bytes[]): ReadonlyMap<string, Bytes> {
  const given = new Map<string, Bytes>();
  for (let i = 2; i < argv.length; i++) {
    const word = asciiUpper(wordAt(argv, i));
    if (given.has(word)) fail(SYNTAX);
    if (VALUED.some((each) => each === word)) given.set(word, argv[++i] ?? fail(SYNTAX));
    else if (ALONE.some((each) => each === word)) given.set(word, '');
    else fail(SYNTAX);
  }
  for (const group of EXCLUSIVE) if (group.filter((word) => given.has(word)).length > 1) fail(SYNTAX);
  return given;
}

/** The result of an addition. */
interface Sum {
  /** The value, and what was added, as replies. */
  readonly reply: [value: Reply, applied: Reply];
  /** The text to store; undefined when the addition was refused. */
  readonly text: Bytes | undefined;
}

/** The arithmetic of one kind of numbers. */
interface Arithmetic<T> {
  read(text: Bytes, what: string): T;
  /** The exact sum; an infinity, or a number that is out of range, when it does not fit. */
  add(a: T, b: T): T;
  less(a: T, b: T): boolean;
  readonly smallest: T;
  readonly greatest: T;
  /** The difference of two numbers. Throws when it does not fit. */
  subtract(a: T, b: T): T;
  print(value: T): Bytes;
  reply(value: T): Reply;
  readonly zero: T;
}

const INT64_MAX = 2n ** 63n - 1n;

const INTEGERS: Arithmetic<bigint> = {
  read: (text, what) => BigInt(int64(text, `ERR ${what} is not an integer or out of range`)),
  add: (a, b) => a + b,
  less: (a, b) => a < b,
  smallest: -INT64_MAX - 1n,
  greatest: INT64_MAX,
  subtract: (a, b) => (isInt64(a - b) ? a - b : fail('ERR applied increment would overflow')),
  print: String,
  reply: narrow,
  zero: 0n,
};

const FLOATS: Arithmetic<LongDouble> = {
  read: (text, what) => parseLongDouble(text) ?? fail(`ERR ${what} is not a valid float`),
  add: (a, b) => addLongDoubles(a, b) ?? (compareLongDoubles(b, ZERO) < 0 ? '-inf' : 'inf'),
  less: (a, b) => compareLongDoubles(a, b) < 0,
  smallest: negate(LARGEST),
  greatest: LARGEST,
  subtract: (a, b) => addLongDoubles(a, negate(b)) ?? fail('ERR applied increment would be Infinity'),
  print: formatLongDouble,
  reply: (value) => new Double(parseDouble(formatLongDouble(value)) ?? 0, formatLongDouble(value)),
  zero: { mantissa: 0n, exponent: 0 },
};
const ZERO = FLOATS.zero;

/** Adds within the bounds. Without SATURATE, a sum out of bounds changes nothing. */
function addWithin<T>(numbers: Arithmetic<T>, given: ReadonlyMap<string, Bytes>, old: T, by: T): Sum {
  const bound = (word: string): T | undefined => {
    const text = given.get(word);
    return text === undefined ? undefined : numbers.read(text, word);
  };
  const [low, high] = [bound('LBOUND') ?? numbers.smallest, bound('UBOUND') ?? numbers.greatest];
  if (numbers.less(high, low)) fail("ERR LBOUND can't be greater than UBOUND");
  let sum = numbers.add(old, by);
  if (numbers.less(sum, low) || numbers.less(high, sum)) {
    if (!given.has('SATURATE'))
      return { reply: [numbers.reply(old), numbers.reply(numbers.zero)], text: undefined };
    sum = numbers.less(sum, low) ? low : high;
  }
  const applied = numbers.subtract(sum, old);
  return { reply: [numbers.reply(sum), numbers.reply(applied)], text: numbers.print(sum) };
}

function addIntegers(given: ReadonlyMap<string, Bytes>, value: Bytes | undefined): Sum {
  const by = INTEGERS.read(given.get('BYINT') ?? '1', 'Increment');
  return addWithin(INTEGERS, given, value === undefined ? 0n : INTEGERS.read(value, 'value'), by);
}

function addFloats(given: ReadonlyMap<string, Bytes>, value: Bytes | undefined, text: Bytes): Sum {
  const by = FLOATS.read(text, 'Increment');
  if (typeof by === 'string') fail('ERR BYFLOAT increment cannot be Infinity');
  const old = value === undefined ? ZERO : (parseLongDouble(value) ?? fail(NOT_FLOAT));
  if (typeof old === 'string') fail('ERR value cannot be Infinity');
  return addWithin(FLOATS, given, old, by);
}

/** The deadline that the options ask for, in milliseconds since the epoch; undefined if there is none. */
function wantedDeadline({ server }: Caller, given: ReadonlyMap<string, Bytes>): Millis | undefined {
  const option = TIMES.find((word) => given.has(word));
  if (option === undefined) {
    if (given.has('ENX')) fail('ERR ENX flag requires an expiration');
    return undefined;
  }
  return deadline(option, given.get(option) ?? '', server.now, 'increx');
}

function increx(client: Caller, argv: Argv<-2>): Reply {
  const { db, server } = client;
  const name = argv[1];
  const given = readOptions(argv);
  const at = wantedDeadline(client, given);
  const old = db.find(name);
  const value = old === undefined ? undefined : stringOf(old);
  const byFloat = given.get('BYFLOAT');
  const sum = byFloat === undefined ? addIntegers(given, value) : addFloats(given, value, byFloat);
  if (sum.text === undefined) return sum.reply;
  const hadDeadline = old !== undefined && db.expiresAt(old) !== undefined;
  const expiresAt = given.has('ENX') && hadDeadline ? undefined : at;
  if (expiresAt !== undefined && isOver(client, expiresAt)) {
    if (old !== undefined) endAtOnce(client, name);
    return sum.reply;
  }
  const entry = db.put(name, sum.text, true);
  if (byFloat !== undefined) noteEncoding(entry, sum.text.length <= EMBSTR_MAX ? 'embstr' : 'raw');
  db.changed(name, byFloat === undefined ? 'incrby' : 'incrbyfloat');
  const effect = ['SET', name, sum.text, ...expire(client, name, entry, expiresAt, given.has('PERSIST'))];
  if (server.effects.feeding) server.effects.propagateAs(effect);
  return sum.reply;
}

/** Sets or removes the deadline. Returns the option with which replicas do the same. */
function expire(
  { db }: Caller,
  name: Bytes,
  entry: Entry,
  at: Millis | undefined,
  persist: boolean,
): Bytes[] {
  if (at !== undefined) {
    db.expireAt(name, entry, at);
    db.changed(name, 'expire', 0);
    return ['PXAT', String(at)];
  }
  if (!persist || !db.persist(entry)) return ['KEEPTTL'];
  db.changed(name, 'persist', 0);
  return [];
}

export const increxCommands = defineCommands('string', {
  increx: {
    summary: 'Adds to a number within bounds, and sets or removes its expiry.',
    since: { redis: '8.8.0' },
    complexity: 'O(1)',
    arity: -2,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run: increx,
  },
});
