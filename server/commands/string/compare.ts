/**
 * Lock commands that redis-server 7.0 does not have: DELEX, DIGEST and MSETEX of Redis 8.4, DELIFEQ of Valkey 9, CAS
 * and CAD of Tair. They follow the documentation (redis.io, valkey.io) and the source of the module TairString
 * (github.com/tair-opensource/TairString). DIGEST is checked against xxhash.
 */
import { xxh3Hex } from '../../../keyspace/xxh3.ts';
import {
  asciiUpper,
  type Bytes,
  type Millis,
  parseInteger,
  parseSafeInteger,
} from '../../../protocol/bytes.ts';
import { fail, SYNTAX, wrongArity } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { SCRIPT } from '../../clients/client.ts';
import { overwrite } from '../../data/overwriting.ts';
import type { Caller } from '../../server.ts';
import { keepText } from '../../settings/encodings.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import {
  CAS_OPTIONS,
  CONDITIONS,
  expiryOf,
  hasExpiry,
  KEEPTTL,
  MSETEX_OPTIONS,
  NX,
  parseStringOptions,
  type StringOptions,
  XX,
} from './options.ts';
import { compares, removeAtOnce, store, stringOf } from './string.ts';

function delex(client: Caller, argv: Argv<-2>): Reply {
  const [, name, condition, operand] = argv;
  if (argv.length !== 2 && argv.length !== 4) throw wrongArity('delex');
  if (condition === undefined || operand === undefined) return removePlainly(client, name);
  const entry = client.db.lookup(name);
  if (entry === undefined) return 0;
  const value = entry.read();
  if (typeof value !== 'string') return fail('ERR Key should be of string type if conditions are specified');
  const bit = CONDITIONS.get(asciiUpper(condition));
  if (bit === undefined) return fail('ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE');
  if (!compares(bit, operand, value)) return 0;
  removeAtOnce(client, name);
  return 1;
}

/**
 * DELEX without a condition. Replicas receive the command itself if the node's server has it. Otherwise they receive DEL,
 * which every server knows.
 */
function removePlainly(client: Caller, name: Bytes): number {
  if (client.db.find(name) === undefined) return 0;
  if (isExtra(client, 'delex')) removeAtOnce(client, name);
  else {
    client.db.remove(name);
    client.db.changed(name, 'del');
  }
  return 1;
}

/** Returns whether the node serves the command although its server does not have it. */
function isExtra({ server }: Caller, command: Bytes): boolean {
  return server.declared.get(command)?.spec.extra === true;
}

/**
 * Removes the key if its string equals the value. Answers 1 if removed, 0 if not, `absent` if the key does not exist.
 */
function removeIfEqual(client: Caller, name: Bytes, value: Bytes, absent: number): Reply {
  const entry = client.db.find(name);
  if (entry === undefined) return absent;
  if (stringOf(entry) !== value) return 0;
  removeAtOnce(client, name);
  return 1;
}

/** The number of words of CAS with one expiry option. */
const CAS_WITH_EXPIRY = 6;

/**
 * Returns the deadline of CAS' expiry option, in milliseconds since the epoch. Like TairString, it throws a syntax
 * error for an amount that is not a positive integer, and for more than one option. A time in the past counts as now.
 */
function casDeadline(client: Caller, argv: readonly Bytes[], options: StringOptions): Millis {
  const { now } = client.server;
  const amount = parseInteger(options.expiry);
  if (amount === undefined || amount <= 0 || argv.length !== CAS_WITH_EXPIRY) fail(SYNTAX);
  return Math.max(now, expiryOf(options, now, 'cas') ?? now);
}

function cas(client: Caller, argv: Argv<-4>): Reply {
  const [, name, old, value] = argv;
  const options = parseStringOptions(argv, 4, CAS_OPTIONS);
  const expiresAt = hasExpiry(options) ? casDeadline(client, argv, options) : undefined;
  const entry = client.db.find(name);
  if (entry === undefined) return -1;
  if (stringOf(entry) !== old) return 0;
  const keepTtl = (options.bits & KEEPTTL) !== 0;
  store(client, name, value, expiresAt, keepTtl);
  if (expiresAt === undefined && client.server.effects.feeding) {
    client.server.effects.propagateAs(['SET', name, value, ...(keepTtl ? ['KEEPTTL'] : [])]);
  }
  return 1;
}

/** MSETEX numkeys key value … [NX|XX] [EX …|KEEPTTL]: sets all keys or none. */
function msetex(client: Caller, argv: Argv<-2>): Reply {
  const count = parseSafeInteger(argv[1]) ?? 0;
  const errors = client.server.dialect.msetexErrors;
  if (count < 1 || count >= 2 ** 31) fail(errors.number);
  const end = 2 + count * 2;
  if (end > argv.length) fail(errors.pairs);
  const options = parseStringOptions(argv, end, MSETEX_OPTIONS);
  const { bits } = options;
  const expiresAt = expiryOf(options, client.server.now, 'msetex');
  for (let i = 2; (bits & (NX | XX)) !== 0 && i < end; i += 2) {
    if ((client.db.find(wordAt(argv, i)) !== undefined) !== ((bits & XX) !== 0)) return 0;
  }
  const keepTtl = (bits & KEEPTTL) !== 0;
  const how = expiresAt !== undefined ? ['PXAT', String(expiresAt)] : keepTtl ? ['KEEPTTL'] : [];
  const effects: Bytes[][] = [];
  for (let i = 2; i < end; i += 2) {
    storeOne(client, wordAt(argv, i), wordAt(argv, i + 1), expiresAt, keepTtl);
    effects.push(['SET', wordAt(argv, i), wordAt(argv, i + 1), ...how]);
  }
  if (!client.server.effects.feeding) return 1;
  if (isExtra(client, 'msetex')) client.server.effects.propagateAs(...effects);
  else client.server.effects.propagateAs(withAbsoluteExpiry(client, argv, end, expiresAt));
  return 1;
}

/** Stores one pair of MSETEX and reports it: unlike SET, Redis' MSETEX reports `expire` first. */
function storeOne(
  client: Caller,
  name: Bytes,
  value: Bytes,
  expiresAt: Millis | undefined,
  keepTtl: boolean,
): void {
  const { db } = client;
  const setFirst = client.server.dialect.msetexEvents === 'set first';
  const entry = overwrite(client, name, value, keepTtl || expiresAt !== undefined);
  if (client.has(SCRIPT)) keepText(client, name, entry);
  if (expiresAt !== undefined) db.expireAt(name, entry, expiresAt);
  if (setFirst) db.changed(name, 'set');
  if (expiresAt !== undefined) db.changed(name, 'expire', 0);
  if (!setFirst) db.changed(name, 'set');
}

/** Returns MSETEX as replicas receive it: a relative time has become PXAT with an absolute time. */
function withAbsoluteExpiry(
  { server }: Caller,
  argv: readonly Bytes[],
  end: number,
  expiresAt: Millis | undefined,
): readonly Bytes[] {
  if (expiresAt === undefined) return argv;
  const rewritten = server.dialect.msetexWithExat === 'as PXAT' ? /^(EX|PX|EXAT)$/i : /^(EX|PX)$/i;
  const at = argv.findIndex((word, i) => i >= end && rewritten.test(word));
  return at < 0 ? argv : argv.with(at, 'PXAT').with(at + 1, String(expiresAt));
}

export const lockCommands = defineCommands('string', {
  delex: {
    summary: 'Removes a key if its string, or the digest of it, meets a condition (Redis 8.4).',
    since: '8.4.0',
    extra: true,
    complexity: 'O(1) for IFEQ and IFNE, O(N) for IFDEQ and IFDNE, N bytes of the string',
    arity: -2,
    flags: ['write', 'fast'],
    keys: key('RW DELETE VARIABLE_FLAGS'),
    getFlags: (argv) => (argv.length === 2 ? 'RM DELETE' : 'RW DELETE'),
    run: delex,
  },
  digest: {
    summary: 'Returns the XXH3 hash of a string, 16 hexadecimal digits (Redis 8.4).',
    since: '8.4.0',
    extra: true,
    complexity: 'O(N), N bytes of the string',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    run(client, argv) {
      const value = client.db.read(argv[1], 'string');
      return value === undefined ? null : xxh3Hex(value);
    },
  },
  msetex: {
    summary: 'Stores several strings at once, on a condition and with an expiry where asked (Redis 8.4).',
    since: { redis: '8.4.0', valkey: '9.1.0' },
    extra: true,
    complexity: 'O(N), N keys',
    arity: -4,
    flags: ['write', 'denyoom', 'movablekeys'],
    tips: ['request_policy:multi_shard', 'response_policy:all_succeeded'],
    keys: [{ flags: 'OW UPDATE', begin: 1, find: { count: 0, first: 1, step: 2 } }],
    run: msetex,
  },
  delifeq: {
    summary: 'Removes a key when its string equals the value (Valkey 9).',
    since: { valkey: '9.0.0' },
    extra: true,
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'fast'],
    keys: key('RM DELETE'),
    run: (client, argv) => removeIfEqual(client, argv[1], argv[2], 0),
  },
  cas: {
    summary: 'Replaces a string when it equals the old value; -1 where there is no key (Tair).',
    since: { tair: '1.2.3' },
    extra: true,
    complexity: 'O(1)',
    arity: -4,
    flags: ['write', 'denyoom'],
    keys: key('RW ACCESS UPDATE'),
    run: cas,
  },
  cad: {
    summary: 'Removes a key when its string equals the value; -1 where there is no key (Tair).',
    since: { tair: '1.2.3' },
    extra: true,
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom'],
    keys: key('RW ACCESS DELETE'),
    run: (client, argv) => removeIfEqual(client, argv[1], argv[2], -1),
  },
});
