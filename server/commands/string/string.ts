/** Commands that set and get whole strings (https://redis.io/docs/latest/commands/?group=string). */
import type { Entry } from '../../../keyspace/entry.ts';
import { xxh3Hex } from '../../../keyspace/xxh3.ts';
import { asciiLower, asciiUpper, type Bytes, type Millis } from '../../../protocol/bytes.ts';
import { fail, SYNTAX, WRONGTYPE, wrongArity } from '../../../protocol/errors.ts';
import { OK, type Reply } from '../../../protocol/reply.ts';
import { SCRIPT } from '../../clients/client.ts';
import { overwrite } from '../../data/overwriting.ts';
import type { Caller, Server } from '../../server.ts';
import { keepText } from '../../settings/encodings.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, key, keys, noted } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import {
  COMPARES,
  CONDITIONS,
  combinesConditions,
  EXAT,
  expiryOf,
  GET,
  GETEX_OPTIONS,
  IFDEQ,
  IFDNE,
  IFEQ,
  IFNE,
  KEEPTTL,
  NX,
  PERSIST,
  PXAT,
  parseStringOptions,
  SET_OPTIONS,
  type StringOptions,
  XX,
} from './options.ts';

/**
 * Stores a string, reports it, and sets its deadline if one is given.
 * @param expiresAt in milliseconds since the epoch
 * @param keepTtl keep the current deadline
 * @param asSent replicas receive the request as it was sent, although it sets a deadline
 */
export function store(
  client: Caller,
  name: Bytes,
  value: Bytes,
  expiresAt?: Millis,
  keepTtl = false,
  asSent = false,
): void {
  const { db, server } = client;
  if (expiresAt !== undefined && isPast(server, expiresAt)) {
    if (db.find(name) !== undefined) endAtOnce(client, name);
    return;
  }
  const entry = overwrite(client, name, value, keepTtl || expiresAt !== undefined);
  if (client.has(SCRIPT)) keepText(client, name, entry);
  if (expiresAt !== undefined) db.expireAt(name, entry, expiresAt);
  db.changed(name, 'set');
  if (expiresAt === undefined) return;
  db.changed(name, 'expire', 0);
  if (client.server.effects.feeding && !asSent)
    client.server.effects.propagateAs(['SET', name, value, 'PXAT', String(expiresAt)]);
}

/** True for a deadline in the past on a server that then stores nothing. */
function isPast(server: Server, expiresAt: Millis): boolean {
  // Where others decide about deadlines, it is stored: on a replica, in import mode, from an append-only file.
  const decides = server.world.expiryPolicy === 'delete';
  return expiresAt <= server.now && decides && server.dialect.setInThePast === 'not stored';
}

/** Removes a key that a command has given a deadline in the past. */
export function endAtOnce(client: Caller, name: Bytes): void {
  const { db, server } = client;
  db.remove(name);
  db.changed(name, server.dialect.pastDeadline);
  if (server.dialect.pastDeadline === 'expired') server.stats.expired++;
  const effect = server.settings['lazyfree-lazy-expire'] ? 'UNLINK' : 'DEL';
  if (server.effects.feeding) server.effects.propagateAs([effect, name]);
}

/** Returns the string of an entry. Throws WRONGTYPE for another type. */
export function stringOf(entry: Entry): Bytes {
  const value = entry.read();
  return typeof value === 'string' ? value : fail(WRONGTYPE);
}

/** Removes a key whose new deadline has passed, or that a command deletes. Propagated as DEL. */
export function removeAtOnce(client: Caller, name: Bytes): void {
  client.db.remove(name);
  client.db.changed(name, 'del');
  if (client.server.effects.feeding) client.server.effects.propagateAs(['DEL', name]);
}

const DIGEST_LENGTH = 16;

/** Returns whether a string satisfies a comparing condition. Throws Redis' error for a digest of the wrong length. */
export function compares(bits: number, operand: Bytes, value: Bytes): boolean {
  if ((bits & IFEQ) !== 0) return value === operand;
  if ((bits & IFNE) !== 0) return value !== operand;
  if (operand.length !== DIGEST_LENGTH) fail('ERR must be exactly 16 hexadecimal characters');
  return (xxh3Hex(value) === asciiLower(operand)) === ((bits & IFDEQ) !== 0);
}

/** Returns whether SET's conditions are satisfied. */
function allows({ bits, operand }: StringOptions, old: Entry | undefined): boolean {
  if ((bits & NX) !== 0 && old !== undefined) return false;
  if ((bits & XX) !== 0 && old === undefined) return false;
  if ((bits & COMPARES) === 0) return true;
  return old === undefined ? (bits & (IFNE | IFDNE)) !== 0 : compares(bits, operand, stringOf(old));
}

/** Returns whether the node's own server has the comparisons. */
function hasComparisons({ server }: Caller, bits: number): boolean {
  for (const [word, bit] of CONDITIONS) {
    if ((bits & bit) !== 0 && !server.vocabulary.isNative('set', word)) return false;
  }
  return true;
}

/** Throws a syntax error for a comparison that the node's server does not have, or has only alone. */
function checkComparison({ server }: Caller, options: StringOptions): void {
  if (server.dialect.conditions === 'one' && combinesConditions(options)) fail(SYNTAX);
  const { bits } = options;
  for (const [word, bit] of CONDITIONS) {
    if ((bits & bit) !== 0 && !server.vocabulary.knows('set', word)) fail(SYNTAX);
  }
}

function set(client: Caller, argv: Argv<-3>): Reply {
  const name = argv[1];
  const value = argv[2];
  if (argv.length === 3) {
    store(client, name, value);
    return OK;
  }
  const options = parseStringOptions(argv, 3, SET_OPTIONS);
  const { bits } = options;
  if ((bits & COMPARES) !== 0) checkComparison(client, options);
  const expiresAt = expiryOf(options, client.server.now, 'set');
  const wantsOld = (bits & GET) !== 0;
  const old = wantsOld ? client.db.lookup(name) : client.db.find(name);
  const answer = wantsOld && old !== undefined ? stringOf(old) : null;
  if (!allows(options, old)) return answer;
  if (wantsOld) client.output.reserve(); // redis-server writes the old value before it reports the change.
  const asSent =
    (bits & PXAT) !== 0 && client.server.dialect.setWithPxat === 'as sent' && hasComparisons(client, bits);
  store(client, name, value, expiresAt, (bits & KEEPTTL) !== 0, asSent);
  if (expiresAt === undefined && client.server.effects.feeding) propagateSet(client, argv, bits);
  return wantsOld ? answer : OK;
}

/**
 * Propagates a SET without GET, which replicas do not need, and without comparisons that their server may not know.
 */
function propagateSet(client: Caller, argv: Argv<-3>, bits: number): void {
  const [, name, value] = argv;
  const plain = ['SET', name, value];
  if ((bits & COMPARES) !== 0 && !hasComparisons(client, bits)) {
    client.server.effects.propagateAs((bits & KEEPTTL) === 0 ? plain : [...plain, 'KEEPTTL']);
  } else if ((bits & GET) !== 0) {
    const kept = argv.slice(3).filter((word) => asciiUpper(word) !== 'GET');
    client.server.effects.propagateAs([...plain, ...kept]);
  }
}

/** SETEX and PSETEX: the amount precedes the value. */
function setWithExpiry(client: Caller, argv: Argv<-4>, option: 'EX' | 'PX', command: Bytes): Reply {
  const options = parseStringOptions([option, argv[2]], 0, SET_OPTIONS);
  store(client, argv[1], argv[3], expiryOf(options, client.server.now, command));
  return OK;
}

/**
 * Returns whether a deadline (milliseconds since the epoch) has passed. On a replica it has not: the primary decides.
 */
export function isOver({ server }: Caller, at: Millis): boolean {
  return at <= server.now && server.world.expiryPolicy === 'delete';
}

function getex(client: Caller, argv: Argv<-2>): Reply {
  const { db, server } = client;
  const name = argv[1];
  const options = parseStringOptions(argv, 2, GETEX_OPTIONS);
  const early = server.dialect.getexExpiry === 'before the key';
  if (early) expiryOf(options, server.now, 'getex');
  const entry = db.lookup(name);
  if (entry === undefined) return null;
  const value = stringOf(entry);
  const expiresAt = expiryOf(options, server.now, 'getex');
  if (expiresAt === undefined) {
    if ((options.bits & PERSIST) !== 0 && db.persist(entry)) {
      db.changed(name, 'persist');
      server.effects.propagateAs(['PERSIST', name]);
    }
  } else if ((options.bits & (EXAT | PXAT)) !== 0 && isOver(client, expiresAt)) {
    endAtOnce(client, name);
  } else {
    db.expireAt(name, entry, expiresAt);
    db.changed(name, 'expire');
    server.effects.propagateAs(['PEXPIREAT', name, String(expiresAt)]);
  }
  return value;
}

function storePairs(client: Caller, argv: readonly Bytes[]): void {
  for (let i = 1; i < argv.length; i += 2) store(client, wordAt(argv, i), wordAt(argv, i + 1));
}

export const stringCommands = defineCommands('string', {
  get: {
    summary: 'Returns the string a key holds.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    run: (client, argv) => client.db.read(argv[1], 'string') ?? null,
  },
  set: {
    summary: 'Stores a string, on conditions and with an expiry where asked.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -3,
    flags: ['write', 'denyoom'],
    keys: noted('It reads where GET is given', key('RW ACCESS UPDATE VARIABLE_FLAGS')),
    getFlags: (argv) =>
      argv.slice(3).some((word) => asciiUpper(word) === 'GET') ? 'RW ACCESS UPDATE' : 'OW UPDATE',
    run: set,
  },
  getset: {
    summary: 'Stores a string and returns the old one.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run(client, argv) {
      const [, name, value] = argv;
      const old = client.db.read(name, 'string') ?? null;
      store(client, name, value);
      if (client.server.effects.feeding) client.server.effects.propagateAs(['SET', name, value]);
      return old;
    },
  },
  getdel: {
    summary: 'Returns the string of a key and removes the key.',
    since: '6.2.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS DELETE'),
    run(client, argv) {
      const old = client.db.read(argv[1], 'string');
      if (old === undefined) return null;
      removeAtOnce(client, argv[1]);
      return old;
    },
  },
  getex: {
    summary: 'Returns the string of a key and changes its expiry.',
    since: '6.2.0',
    complexity: 'O(1)',
    arity: -2,
    flags: ['write', 'fast'],
    keys: noted('UPDATE: it may change the TTL', key('RW ACCESS UPDATE')),
    run: getex,
  },
  mget: {
    summary: 'Returns the strings of several keys, nil for a missing one.',
    since: '1.0.0',
    complexity: 'O(N), N keys',
    arity: -2,
    flags: ['readonly', 'fast'],
    keys: keys('RO ACCESS'),
    tips: ['request_policy:multi_shard'],
    run: (client, argv) =>
      argv.slice(1).map((name) => {
        const value = client.db.lookup(name)?.read();
        return typeof value === 'string' ? value : null;
      }),
  },
  mset: {
    summary: 'Stores several strings at once.',
    since: '1.0.1',
    complexity: 'O(N), N keys',
    arity: -3,
    flags: ['write', 'denyoom'],
    keys: keys('OW UPDATE', 1, 2),
    tips: ['request_policy:multi_shard', 'response_policy:all_succeeded'],
    run(client, argv) {
      if (argv.length % 2 === 0) throw wrongArity('mset');
      storePairs(client, argv);
      return OK;
    },
  },
  msetnx: {
    summary: 'Stores several strings at once, but only when none of the keys exists.',
    since: '1.0.1',
    complexity: 'O(N), N keys',
    changes: [{ since: '7.2.0', tips: [] }],
    arity: -3,
    flags: ['write', 'denyoom'],
    keys: keys('OW INSERT', 1, 2),
    tips: ['request_policy:multi_shard', 'response_policy:agg_min'],
    run(client, argv) {
      if (argv.length % 2 === 0) throw wrongArity('msetnx');
      for (let i = 1; i < argv.length; i += 2) if (client.db.find(wordAt(argv, i)) !== undefined) return 0;
      storePairs(client, argv);
      return 1;
    },
  },
  setnx: {
    summary: 'Stores a string unless the key exists.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('OW INSERT'),
    run(client, argv) {
      if (client.db.find(argv[1]) !== undefined) return 0;
      store(client, argv[1], argv[2]);
      return 1;
    },
  },
  setex: {
    summary: 'Stores a string that expires after some seconds.',
    since: '2.0.0',
    complexity: 'O(1)',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: key('OW UPDATE'),
    run: (client, argv) => setWithExpiry(client, argv, 'EX', 'setex'),
  },
  psetex: {
    summary: 'Stores a string that expires after some milliseconds.',
    since: '2.6.0',
    complexity: 'O(1)',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: key('OW UPDATE'),
    run: (client, argv) => setWithExpiry(client, argv, 'PX', 'psetex'),
  },
  strlen: {
    summary: 'Returns the length of a string in bytes.',
    since: '2.2.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO'),
    run: (client, argv) => client.db.readPart(argv[1])?.length ?? 0,
  },
});
