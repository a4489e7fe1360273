/**
 * HGETEX, HSETEX and HGETDEL: read, set or delete fields together with their TTL. redis-server 7.0 does not have them.
 * They follow the documentation of 8.0 (https://redis.io/docs/latest/commands/hsetex/).
 */
import { asciiUpper, type Bytes, cString, type Millis, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail, wrongArity } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, key, noted } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { createHash, writeHash } from './access.ts';
import { type FieldArguments, fieldArguments, takesAnyOrder } from './arguments.ts';
import { FieldEffects, fieldEnd, fieldsAt, namesForEvents } from './fields.ts';
import { readAndExpire, setAndExpire, takeFields } from './valkey.ts';

/** Options with an amount: the unit in milliseconds, and whether the amount is relative to now. */
const TIMES: ReadonlyMap<Bytes, { readonly unit: 1 | 1000; readonly relative: boolean }> = new Map([
  ['EX', { unit: 1000, relative: true }],
  ['PX', { unit: 1, relative: true }],
  ['EXAT', { unit: 1000, relative: false }],
  ['PXAT', { unit: 1, relative: false }],
]);

/** Returns the expiry time that an option asks for. The word is such an option. */
function endOf(client: Caller, word: Bytes, text: Bytes | undefined, command: Bytes): Millis {
  const { unit, relative } = TIMES.get(asciiUpper(word))!;
  if (text === undefined) fail('ERR missing expire time');
  return fieldEnd(text, unit, relative ? client.server.now : 0, command);
}

/** The arguments of HGETEX where each has its place. */
function placedArguments(
  client: Caller,
  argv: Argv<-3>,
): Pick<FieldArguments, 'place' | 'words' | 'persist' | 'at'> {
  const [, , word, text] = argv;
  const timed = TIMES.has(asciiUpper(word));
  const persist = asciiUpper(word) === 'PERSIST';
  const at = timed ? endOf(client, word, text, 'hgetex') : undefined;
  const place = timed ? 4 : persist ? 3 : 2;
  if (place + 1 === argv.length && asciiUpper(wordAt(argv, place)) === 'FIELDS') throw wrongArity('hgetex');
  return { place, words: fieldsAt(argv, place), persist, at };
}

function hgetex(client: Caller, argv: Argv<-3>): Reply {
  const name = argv[1];
  const hash = writeHash(client, name, argv);
  const { place, words, persist, at } = takesAnyOrder(client)
    ? fieldArguments(client, argv, 'hgetex')
    : placedArguments(client, argv);
  if (hash === undefined) return words.map(() => null);
  if (at !== undefined || persist) hash.keepTimes();
  const effects = new FieldEffects();
  const replies = words.map((field) => {
    const value = hash.get(field);
    if (value === undefined) return null;
    if (at !== undefined) effects.end(client, hash, field, at);
    else if (persist) effects.persist(hash, field);
    return value;
  });
  const inAnyOrder = client.server.dialect.fieldArguments === 'in any order';
  const rest = [
    inAnyOrder ? 'FIELDS' : wordAt(argv, place),
    ...argv.slice(place + 1, place + 2 + words.length),
  ];
  effects.report(
    client,
    name,
    at === undefined ? ['HPERSIST', name, ...rest] : ['HPEXPIREAT', name, String(at), ...rest],
  );
  return replies;
}

function hgetdel(client: Caller, argv: Argv<-2>): Reply {
  const name = argv[1];
  const hash = writeHash(client, name, argv);
  const fields = fieldsAt(argv, 2);
  const deleted: Bytes[] = [];
  const replies = fields.map((field) => {
    const value = hash?.get(field);
    if (value === undefined) return null;
    hash?.delete(field);
    deleted.push(field);
    return value;
  });
  if (deleted.length === 0) return replies;
  client.db.changed(name, 'hdel', deleted.length, deleted);
  if (client.server.effects.feeding) client.server.effects.propagateAs(['HDEL', name, ...fields]);
  return replies;
}

interface SetRequest {
  condition: 'FNX' | 'FXX' | undefined;
  keepTtl: boolean;
  at: Millis | undefined;
  /** The position of the option that says so. */
  timePlace: number;
  /** Fields and values, alternating. */
  pairs: readonly Bytes[];
}

function parseSet(client: Caller, argv: readonly Bytes[]): SetRequest {
  if (takesAnyOrder(client)) {
    const { condition, keepTtl, at, timePlace, words } = fieldArguments(client, argv, 'hsetex');
    return { condition, keepTtl, at, timePlace, pairs: words };
  }
  const request: SetRequest = {
    condition: undefined,
    keepTtl: false,
    at: undefined,
    timePlace: 0,
    pairs: [],
  };
  for (let i = 2; i < argv.length; i++) {
    const word = asciiUpper(wordAt(argv, i));
    if (word === 'FIELDS') {
      request.pairs = pairsAt(argv, i);
      return request;
    }
    if (word === 'FNX' || word === 'FXX') {
      if (request.condition !== undefined) fail('ERR Only one of FXX or FNX arguments can be specified');
      request.condition = word;
    } else if (word === 'KEEPTTL' || TIMES.has(word)) {
      if (request.keepTtl || request.at !== undefined) {
        fail('ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified');
      }
      if (word === 'KEEPTTL') request.keepTtl = true;
      else {
        request.timePlace = i;
        request.at = endOf(client, word, argv[++i], 'hsetex');
      }
    } else fail(`ERR unknown argument: ${cString(wordAt(argv, i))}`);
  }
  throw wrongArity('hsetex');
}

/** Returns the fields and values behind FIELDS and their number. They must end the request. */
function pairsAt(argv: readonly Bytes[], at: number): readonly Bytes[] {
  if (at + 3 >= argv.length) throw wrongArity('hsetex');
  const count = parseSafeInteger(wordAt(argv, at + 1)) ?? 0;
  if (count < 1 || count >= 2 ** 31) fail('ERR invalid number of fields');
  if (argv.length - at - 2 !== count * 2) throw wrongArity('hsetex');
  return argv.slice(at + 2);
}

function hsetex(client: Caller, argv: Argv<-2>): Reply {
  const name = argv[1];
  const { condition, keepTtl, at, timePlace, pairs } = parseSet(client, argv);
  const found = writeHash(client, name, argv);
  for (let i = 0; condition !== undefined && i < pairs.length; i += 2) {
    if ((found?.has(wordAt(pairs, i)) ?? false) !== (condition === 'FXX')) return 0;
  }
  const hash = found ?? createHash(client, name);
  hash.expect(pairs.length / 2);
  const effects = new FieldEffects();
  if (at !== undefined) hash.keepTimes();
  for (let i = 0; i < pairs.length; i += 2) hash.set(wordAt(pairs, i), wordAt(pairs, i + 1), keepTtl);
  client.db.changed(name, 'hset', pairs.length / 2, namesForEvents(client, pairs, 0));
  for (let i = 0; at !== undefined && i < pairs.length; i += 2)
    effects.end(client, hash, wordAt(pairs, i), at);
  const effect = [...argv];
  if (at !== undefined && asciiUpper(wordAt(argv, timePlace)) !== 'PXAT')
    effect.splice(timePlace, 2, 'PXAT', String(at));
  effects.report(client, name, effect);
  return 1;
}

export const hashExtendedCommands = defineCommands('hash', {
  hgetex: {
    summary: 'Returns the values of fields and changes when they end.',
    since: { redis: '8.0.0', valkey: '9.0.0' },
    extra: true,
    complexity: 'O(N), N fields',
    arity: -5,
    flags: ['write', 'fast'],
    keys: noted('It updates, as it may change the TTL', key('RW ACCESS UPDATE')),
    changes: [{ since: { valkey: '9.0.0' }, keys: key('RW ACCESS UPDATE') }],
    run: (client, argv) =>
      client.server.dialect.fieldCommands === 'valkey' ? readAndExpire(client, argv) : hgetex(client, argv),
  },
  hsetex: {
    summary: 'Sets fields, on conditions and with a TTL where asked.',
    since: { redis: '8.0.0', valkey: '9.0.0' },
    extra: true,
    complexity: 'O(N), N fields',
    arity: -6,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW UPDATE'),
    changes: [{ since: { valkey: '9.0.0' }, keys: key('RW INSERT') }],
    run: (client, argv) =>
      client.server.dialect.fieldCommands === 'valkey' ? setAndExpire(client, argv) : hsetex(client, argv),
  },
  hgetdel: {
    summary: 'Returns the values of fields and deletes them.',
    since: { redis: '8.0.0', valkey: '9.1.0' },
    extra: true,
    complexity: 'O(N), N fields',
    arity: -5,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS DELETE'),
    run: (client, argv) =>
      client.server.dialect.fieldCommands === 'valkey' ? takeFields(client, argv) : hgetdel(client, argv),
  },
});
