/** The arguments of HEXPIRE, HSETEX and HGETEX in any order, as Redis 8.6 reads them. */
import { asciiUpper, type Bytes, cString, type Millis, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail, wrongArity } from '../../../protocol/errors.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { fieldEnd } from './fields.ts';

const INT_MAX = 2 ** 31 - 1;
const TWICE = 'ERR FIELDS keyword specified multiple times';
const WORDS = 'ERR wrong number of arguments';
const MISSING = 'ERR missing FIELDS argument';

/** Reads the number of fields. Throws Redis' error for a bad one. */
function fieldCount(text: Bytes, error: string): number {
  const count = parseSafeInteger(text) ?? 0;
  return count < 1 || count > INT_MAX ? fail(error) : count;
}

/** True when FIELDS may be anywhere: in the newer servers, and in the stream of a primary, which may be newer. */
export function takesAnyOrder({ server }: Caller): boolean {
  return server.dialect.fieldArguments === 'in any order' || server.vocabulary.every;
}

/** The arguments of HEXPIRE and its kin behind the time. */
export interface ExpiryArguments {
  /** The position of the word FIELDS. */
  readonly place: number;
  readonly fields: readonly Bytes[];
  /** NX, XX, GT or LT; anything else is no condition. */
  readonly condition: Bytes | undefined;
}

/** Reads the arguments of HEXPIRE and its kin in any order. Throws Redis' error for bad ones. */
export function expiryArguments(argv: readonly Bytes[]): ExpiryArguments {
  let [place, fields]: [number, readonly Bytes[] | undefined] = [0, undefined];
  const conditions = new Set<Bytes>();
  for (let i = 3; i < argv.length; i++) {
    const word = asciiUpper(wordAt(argv, i));
    if (word === 'FIELDS') {
      if (fields !== undefined) fail(TWICE);
      if (i >= argv.length - 2) fail('ERR FIELDS requires at least numfields and one field argument');
      const count = fieldCount(wordAt(argv, i + 1), 'ERR Parameter `numFields` should be greater than 0');
      if (i + 2 + count > argv.length) fail(WORDS);
      [place, fields] = [i, argv.slice(i + 2, i + 2 + count)];
      i += 1 + count;
    } else if (word === 'NX' || word === 'XX' || word === 'GT' || word === 'LT') conditions.add(word);
    else fail(`ERR unknown argument: ${cString(wordAt(argv, i))}`);
  }
  if (fields === undefined) fail(MISSING);
  if (conditions.size > 1) fail('ERR Multiple condition flags specified');
  return { place, fields, condition: [...conditions][0] };
}

/** The arguments of HSETEX and HGETEX. */
export interface FieldArguments {
  /** The position of the word FIELDS. */
  readonly place: number;
  /** The fields, with their values in HSETEX. */
  readonly words: readonly Bytes[];
  readonly condition: 'FNX' | 'FXX' | undefined;
  readonly keepTtl: boolean;
  readonly persist: boolean;
  /** When the fields end, in milliseconds since the epoch. */
  readonly at: Millis | undefined;
  /** The position of the option that says so. */
  readonly timePlace: number;
}

/** The expiry options: their unit in milliseconds, and whether they count from now. */
const TIMES: ReadonlyMap<Bytes, readonly [unit: 1 | 1000, relative: boolean]> = new Map([
  ['EX', [1000, true]],
  ['PX', [1, true]],
  ['EXAT', [1000, false]],
  ['PXAT', [1, false]],
]);

/** Reads the arguments of HSETEX or HGETEX. Throws Redis' error for bad ones. */
export function fieldArguments(
  client: Caller,
  argv: readonly Bytes[],
  command: 'hsetex' | 'hgetex',
): FieldArguments {
  const each = command === 'hsetex' ? 2 : 1;
  let [place, words]: [number, readonly Bytes[] | undefined] = [0, undefined];
  let [condition, at, timePlace]: ['FNX' | 'FXX' | undefined, Millis | undefined, number] = [
    undefined,
    undefined,
    0,
  ];
  let [keepTtl, persist] = [false, false];
  for (let i = 2; i < argv.length; i++) {
    const word = asciiUpper(wordAt(argv, i));
    const time = TIMES.get(word);
    if (word === 'FIELDS') {
      if (words !== undefined) fail(TWICE);
      const text = argv[i + 1];
      if (text === undefined) throw wrongArity(command);
      const size = fieldCount(text, 'ERR invalid number of fields') * each;
      if (i + 2 + size > argv.length) fail(WORDS);
      [place, words] = [i, argv.slice(i + 2, i + 2 + size)];
      i += 1 + size;
    } else if (time !== undefined || word === 'PERSIST' || word === 'KEEPTTL') {
      const both = (word === 'PERSIST' && keepTtl) || (word === 'KEEPTTL' && persist);
      if (at !== undefined || ((keepTtl || persist) && !both)) {
        const third = command === 'hsetex' ? 'KEEPTTL' : 'PERSIST';
        fail(`ERR Only one of EX, PX, EXAT, PXAT or ${third} arguments can be specified`);
      }
      if (time === undefined)
        [keepTtl, persist] = [keepTtl || word === 'KEEPTTL', persist || word === 'PERSIST'];
      else {
        timePlace = i;
        const amount = argv[++i] ?? fail('ERR missing expire time');
        at = fieldEnd(amount, time[0], time[1] ? client.server.now : 0, command);
      }
    } else if (word === 'FNX' || word === 'FXX') {
      if (condition !== undefined) fail('ERR Only one of FXX or FNX arguments can be specified');
      condition = word;
    } else fail(`ERR unknown argument: ${cString(wordAt(argv, i))}`);
  }
  if (words === undefined) fail(MISSING);
  const foreign = command === 'hgetex' ? keepTtl || condition !== undefined : persist;
  if (foreign) fail('ERR unknown argument');
  return { place, timePlace, words, condition, keepTtl, persist, at };
}
