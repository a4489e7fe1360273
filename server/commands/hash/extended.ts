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
import { fieldArguments } from './arguments.ts';
import { FieldEffects, fieldEnd, fieldsAt, hasEnded, namesForEvents } from './fields.ts';
import { readAndExpire, setAndExpire, takeFields } from './valkey.ts';

/** Options with an amount: the unit in milliseconds, and whether the amount is relative to now. */
const TIMES: ReadonlyMap<Bytes, { readonly unit: 1 | 1000; readonly relative: boolean }> = new Map([
  ['EX', { unit: 1000, relative: true }],
  ['PX', { unit: 1, relative: true }],
  ['EXAT', { unit: 1000, relative: false }],
  ['PXAT', { unit: 1, relative: false }],
]);

/** Returns the expiry time that an option asks for; undefined if the word is not such an option. */
function endOf(client: Caller, word: Bytes, text: Bytes | undefined, command: Bytes): Millis | undefined {
  const time = TIMES.get(asciiUpper(word));
  if (time === undefined) return undefined;
  if (text === undefined) fail('ERR missing expire time');
  return fieldEnd(text, time.unit, time.relative ? client.server.now : 0, command);
}

function hgetex(client: Caller, argv: Argv<-3>): Reply {
  const [, name, word, text] = argv;
  const anywhere =
    client.server.dialect.fieldArguments === 'in any order'
      ? fieldArguments(client, argv, 'hgetex')
      : undefined;
  const hash = writeHash(client, name);
  const persists = anywhere?.persist ?? asciiUpper(word) === 'PERSIST';
  const timed = TIMES.has(asciiUpper(word));
  const fields = anywhere?.words ?? fieldsAt(argv, timed ? 4 : persists ? 3 : 2);
  const at = anywhere === undefined ? endOf(client, word, text, 'hgetex') : anywhere.at;
  if (hash === undefined) return fields.map(() => null);
  const effects = new FieldEffects();
  const replies = fields.map((field) => {
    const value = hash.get(field);
    if (value === undefined) return null;
    if (at !== undefined) effects.end(client, hash, field, at);
    else if (persists) effects.persist(hash, field);
    return value;
  });
  effects.report(client, name, at ?? 0);
  return replies;
}

function hgetdel(client: Caller, argv: Argv<-2>): Reply {
  const name = argv[1];
  const hash = writeHash(client, name);
  const fields = fieldsAt(argv, 2);
  const effects = new FieldEffects();
  const replies = fields.map((field) => {
    const value = hash?.get(field);
    if (value === undefined) return null;
    hash?.delete(field);
    effects.deleted.push(field);
    return value;
  });
  effects.report(client, name, 0);
  return replies;
}

interface SetRequest {
  condition: 'FNX' | 'FXX' | undefined;
  keepTtl: boolean;
  at: Millis | undefined;
  /** Fields and values, alternating. */
  pairs: readonly Bytes[];
}

function parseSet(client: Caller, argv: readonly Bytes[]): SetRequest {
  if (client.server.dialect.fieldArguments === 'in any order') {
    const { condition, keepTtl, at, words } = fieldArguments(client, argv, 'hsetex');
    return { condition, keepTtl, at, pairs: words };
  }
  const request: SetRequest = { condition: undefined, keepTtl: false, at: undefined, pairs: [] };
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
      else request.at = endOf(client, word, argv[++i], 'hsetex');
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
  const { condition, keepTtl, at, pairs } = parseSet(client, argv);
  const found = writeHash(client, name);
  for (let i = 0; condition !== undefined && i < pairs.length; i += 2) {
    if ((found?.has(wordAt(pairs, i)) ?? false) !== (condition === 'FXX')) return 0;
  }
  const ended = at !== undefined && hasEnded(client, at);
  // With an expiry time in the past, nothing would remain of a new hash.
  if (ended && found === undefined) return 1;
  const hash = found ?? createHash(client, name);
  const effects = new FieldEffects();
  const kept: [Bytes, Millis][] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const [field, value] = [wordAt(pairs, i), wordAt(pairs, i + 1)];
    const end = keepTtl ? hash.times?.endOf(field) : undefined;
    if (end === undefined) hash.set(field, value);
    else {
      hash.set(field, value, true);
      kept.push([field, end]);
    }
  }
  client.db.changed(name, 'hset', pairs.length / 2, namesForEvents(client, pairs, 0));
  for (let i = 0; at !== undefined && i < pairs.length; i += 2)
    effects.end(client, hash, wordAt(pairs, i), at);
  const keeping = kept.map(([field, end]) => ['HPEXPIREAT', name, String(end), 'FIELDS', '1', field]);
  effects.report(client, name, at ?? 0, [['HSET', name, ...pairs], ...keeping]);
  return 1;
}

export const hashExtendedCommands = defineCommands('hash', {
  hgetex: {
    summary: 'Answers the values of fields and changes when they end.',
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
    summary: 'Answers the values of fields and deletes them.',
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
