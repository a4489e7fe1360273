/**
 * The commands for hash fields with a TTL as Valkey 9 answers them (https://valkey.io/commands/hexpire/). Arguments,
 * errors, events and effects differ from Redis'.
 */
import type { HashValue } from '../../../keyspace/collections/hash.ts';
import { asciiUpper, type Bytes, type Millis } from '../../../protocol/bytes.ts';
import { fail, invalidExpiry, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { instantOf, int64, integer, wordAt } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { conditionBits, conditionsAllow } from '../keys/expiry.ts';
import { createHash, readHash, writeHash } from './access.ts';
import { hasEnded } from './fields.ts';

const NUMFIELDS = 'ERR numfields should be greater than 0 and match the provided number of fields';
const INT64_MAX = 2n ** 63n - 1n;

/** The replies for one field. */
const NO_FIELD = -2;
const NO_TTL = -1;
const REFUSED = 0;
const DONE = 1;
const DELETED = 2;

/** The words between the key and FIELDS, and the fields behind their number. */
interface Request {
  readonly options: readonly Bytes[];
  readonly fields: readonly Bytes[];
}

/**
 * Splits a request at FIELDS. `check` reads the options, before the number of fields is checked.
 * @param from where FIELDS is looked for
 * @param each how many words belong to a field
 */
function split(
  argv: readonly Bytes[],
  from: number,
  each: 1 | 2,
  check: (options: readonly Bytes[]) => void,
): Request {
  const at = argv.findIndex((word, i) => i >= from && i < argv.length - 1 && asciiUpper(word) === 'FIELDS');
  if (at < 0) fail(NUMFIELDS);
  const options = argv.slice(from < 2 ? 2 : from, at);
  check(options);
  const fields = argv.slice(at + 2);
  if (integer(wordAt(argv, at + 1)) * each !== fields.length || fields.length === 0) fail(NUMFIELDS);
  return { options, fields };
}

/** The fields of a command without options, where FIELDS has one place. */
function plainFields(argv: readonly Bytes[], error = NUMFIELDS): readonly Bytes[] {
  if (asciiUpper(wordAt(argv, 2)) !== 'FIELDS') fail(SYNTAX);
  const fields = argv.slice(4);
  if (integer(wordAt(argv, 3)) !== fields.length || fields.length === 0) fail(error);
  return fields;
}

/** Reads an expiry: its time in milliseconds since the epoch. Throws Valkey's error for a bad one. */
function instant(text: Bytes, unit: 1 | 1000, base: Millis, command: Bytes): Millis {
  const amount = BigInt(int64(text));
  if (amount < 0n || amount * BigInt(unit) > INT64_MAX - BigInt(base)) throw invalidExpiry(command);
  return instantOf(amount * BigInt(unit) + BigInt(base));
}

/** Ends a change of a key's fields: reports the events, counts the changes, and sets what replicas receive. */
function finish(
  client: Caller,
  name: Bytes,
  events: readonly string[],
  changes: number,
  effect: readonly Bytes[],
): void {
  for (const [i, event] of events.entries()) client.db.changed(name, event, i === 0 ? changes : 0);
  if (client.server.effects.feeding) client.server.effects.propagateAs(effect);
}

/** HEXPIRE and its kin. */
export function expireFields(
  client: Caller,
  argv: Argv<-6>,
  command: Bytes,
  unit: 1 | 1000,
  relative: boolean,
): Reply {
  const [, name, text] = argv;
  let bits = 0;
  const { fields } = split(argv, 3, 1, (options) => {
    bits = conditionBits(options);
  });
  const at = instant(text, unit, relative ? client.server.now : 0, command);
  const hash = writeHash(client, name, argv);
  const [set, ended]: [Bytes[], Bytes[]] = [[], []];
  const replies = fields.map((field) => {
    if (!hash?.has(field)) return NO_FIELD;
    if (!conditionsAllow(bits, hash.times?.endOf(field), at)) return REFUSED;
    if (hasEnded(client, at)) {
      hash.delete(field);
      ended.push(field);
      return DELETED;
    }
    hash.expireAt(field, at);
    set.push(field);
    return DONE;
  });
  if (ended.length > 0)
    finish(client, name, ['hexpired'], ended.length + set.length, ['HDEL', name, ...ended]);
  else if (set.length > 0) {
    // Replicas receive the whole request, whichever fields were refused.
    const rest = argv.slice(3);
    const effect = command === 'hpexpireat' ? argv : ['HPEXPIREAT', name, String(at), ...rest];
    finish(client, name, ['hexpire'], set.length, effect);
  }
  return replies;
}

/** HPERSIST. */
export function persistFields(client: Caller, argv: Argv<-5>): Reply {
  const fields = plainFields(argv);
  const name = argv[1];
  const hash = writeHash(client, name, argv);
  let changes = 0;
  const replies = fields.map((field) => {
    if (!hash?.has(field)) return NO_FIELD;
    if (!hash.persist(field)) return NO_TTL;
    changes++;
    return DONE;
  });
  if (changes > 0) client.db.changed(name, 'hpersist', changes);
  return replies;
}

/** HTTL, HPTTL, HEXPIRETIME and HPEXPIRETIME. */
export function tellFields(client: Caller, argv: Argv<-5>, unit: 1 | 1000, relative: boolean): Reply {
  const fields = plainFields(argv, SYNTAX);
  const hash = readHash(client, argv[1], argv);
  return fields.map((field) => {
    if (!hash?.has(field)) return NO_FIELD;
    const at = hash.times?.endOf(field);
    if (at === undefined) return NO_TTL;
    const value = Math.max(0, at - (relative ? client.server.now : 0));
    return unit === 1 ? value : Math.floor((value + 500) / 1000);
  });
}

/** HGETDEL. */
export function takeFields(client: Caller, argv: Argv<-5>): Reply {
  const fields = plainFields(argv);
  const name = argv[1];
  const hash = writeHash(client, name, argv);
  let changes = 0;
  const replies = fields.map((field) => {
    const value = hash?.get(field) ?? null;
    if (hash?.delete(field) === true) changes++;
    return value;
  });
  if (changes > 0) client.db.changed(name, 'hdel', changes);
  return replies;
}

/** The expiry options: their unit in milliseconds, and whether they count from now. */
const TIMES = new Map<Bytes, readonly [unit: 1 | 1000, relative: boolean]>([
  ['EX', [1000, true]],
  ['PX', [1, true]],
  ['EXAT', [1000, false]],
  ['PXAT', [1, false]],
]);
/** Options that exclude each other. An option may be repeated: then the last one counts. */
const GROUPS: readonly (readonly Bytes[])[] = [
  ['NX', 'XX'],
  ['FNX', 'FXX'],
  [...TIMES.keys(), 'KEEPTTL', 'PERSIST'],
];

/** Reads options, each with its value. Throws a syntax error for those that the command does not have. */
function readOptions(words: readonly Bytes[], allowed: readonly Bytes[]): ReadonlyMap<Bytes, Bytes> {
  const given = new Map<Bytes, Bytes>();
  for (let i = 0; i < words.length; i++) {
    const word = asciiUpper(wordAt(words, i));
    if (!TIMES.has(word) && !allowed.includes(word)) fail(SYNTAX);
    const rivals = GROUPS.find((group) => group.includes(word)) ?? [];
    if (rivals.some((each) => each !== word && given.has(each))) fail(SYNTAX);
    given.set(word, TIMES.has(word) ? (words[++i] ?? fail(SYNTAX)) : '');
  }
  return given;
}

function deadlineOf(client: Caller, given: ReadonlyMap<Bytes, Bytes>, command: Bytes): Millis | undefined {
  for (const [word, [unit, relative]] of TIMES) {
    const text = given.get(word);
    if (text !== undefined) return instant(text, unit, relative ? client.server.now : 0, command);
  }
  return undefined;
}

/** HGETEX. */
export function readAndExpire(client: Caller, argv: Argv<-5>): Reply {
  let given: ReadonlyMap<Bytes, Bytes> = new Map();
  const { fields } = split(argv, 0, 1, (options) => {
    given = readOptions(options, ['PERSIST']);
  });
  const name = argv[1];
  // A read, for the counts of hits and misses, and then a change.
  const hash = client.db.read(name, 'hash') === undefined ? undefined : writeHash(client, name, argv);
  const at = deadlineOf(client, given, 'hgetex');
  const ended = at !== undefined && hasEnded(client, at);
  const changed: Bytes[] = [];
  const replies = fields.map((field) => {
    const value = hash?.get(field) ?? null;
    if (hash !== undefined && change(hash, field, at, ended, given.has('PERSIST'))) changed.push(field);
    return value;
  });
  if (changed.length === 0) return replies;
  const count = ['FIELDS', String(changed.length), ...changed];
  if (ended) finish(client, name, ['hexpired'], changed.length, ['HDEL', name, ...changed]);
  else if (at === undefined) finish(client, name, ['hpersist'], changed.length, ['HPERSIST', name, ...count]);
  else finish(client, name, ['hexpire'], changed.length, ['HPEXPIREAT', name, String(at), ...count]);
  return replies;
}

function change(
  hash: HashValue,
  field: Bytes,
  at: Millis | undefined,
  ended: boolean,
  persist: boolean,
): boolean {
  if (ended) return hash.delete(field);
  if (at === undefined) return persist && hash.persist(field);
  if (!hash.has(field)) return false;
  hash.expireAt(field, at);
  return true;
}

const CONDITIONS: readonly Bytes[] = ['NX', 'XX', 'FNX', 'FXX'];

/** HSETEX. */
export function setAndExpire(client: Caller, argv: Argv<-6>): Reply {
  let given: ReadonlyMap<Bytes, Bytes> = new Map();
  const { options, fields: pairs } = split(argv, 0, 2, (words) => {
    given = readOptions(words, [...CONDITIONS, 'KEEPTTL']);
  });
  const name = argv[1];
  const found = writeHash(client, name, argv);
  if ((given.has('NX') && found !== undefined) || (given.has('XX') && found === undefined)) return 0;
  const at = deadlineOf(client, given, 'hsetex');
  const names = pairs.filter((_, i) => i % 2 === 0);
  if (given.has('FNX') && names.some((field) => found?.has(field))) return 0;
  if (given.has('FXX') && !names.every((field) => found?.has(field))) return 0;
  if (at !== undefined && hasEnded(client, at)) {
    setInThePast(client, name, found, names);
    return 1;
  }
  const hash = found ?? createHash(client, name);
  for (let i = 0; i < pairs.length; i += 2) {
    hash.set(wordAt(pairs, i), wordAt(pairs, i + 1), given.has('KEEPTTL'));
    if (at !== undefined) hash.expireAt(wordAt(pairs, i), at);
  }
  const effect = [...argv.slice(0, 2), ...effectOptions(options, at), ...argv.slice(2 + options.length)];
  finish(client, name, at === undefined ? ['hset'] : ['hset', 'hexpire'], names.length, effect);
  return 1;
}

/** Fields that are set to end in the past are removed. A key that does not exist is created for a moment. */
function setInThePast(
  client: Caller,
  name: Bytes,
  hash: HashValue | undefined,
  fields: readonly Bytes[],
): void {
  const { db, server } = client;
  const report = (...events: string[]): void => {
    for (const event of events) if (db.world.listening) db.world.onChanged(db, name, event);
  };
  report(...(hash === undefined ? ['new'] : []), 'hset', 'hexpire');
  const removed = hash === undefined ? [] : fields.filter((field) => hash.delete(field));
  if (removed.length > 0) {
    db.changed(name, 'hexpired', removed.length);
    if (server.effects.feeding) server.effects.propagateAs(['HDEL', name, ...removed]);
  } else report('hexpired', ...(hash === undefined ? ['del'] : []));
}

/** The options as replicas receive them: without conditions, and with an absolute time. */
function effectOptions(options: readonly Bytes[], at: Millis | undefined): Bytes[] {
  const out: Bytes[] = [];
  for (let i = 0; i < options.length; i++) {
    const word = asciiUpper(wordAt(options, i));
    if (CONDITIONS.includes(word)) continue;
    if (!TIMES.has(word)) out.push(wordAt(options, i));
    else if (word === 'PXAT') out.push(wordAt(options, i), wordAt(options, ++i));
    else {
      out.push('PXAT', String(at));
      i++;
    }
  }
  return out;
}
