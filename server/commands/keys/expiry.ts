/** Commands for the time to live of keys (https://redis.io/docs/latest/commands/expire/). */
import { type Bytes, cString, type Millis } from '../../../protocol/bytes.ts';
import { fail, invalidExpiry } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { instantOf, int64, Options } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { endAtOnce, isOver } from '../string/string.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
/** Amounts below this can be multiplied and added to the time without loss of precision. */
const PLAIN_AMOUNT = 2 ** 40;

/** The conditions of EXPIRE and similar commands, as bits. */
const NX = 1;
const XX = 2;
const GT = 4;
const LT = 8;
const CONDITIONS: ReadonlyMap<Bytes, number> = new Map([
  ['NX', NX],
  ['XX', XX],
  ['GT', GT],
  ['LT', LT],
]);

/** Reads conditions as bits. Throws Redis' error for other words, and for conditions that exclude each other. */
export function conditionBits(words: readonly Bytes[]): number {
  const options = new Options(words, 0);
  let bits = 0;
  while (options.more()) {
    const word = options.value();
    options.back();
    bits |= CONDITIONS.get(options.next()) ?? fail(`ERR Unsupported option ${cString(word)}`);
  }
  if ((bits & NX) !== 0 && (bits & (XX | GT | LT)) !== 0) {
    fail('ERR NX and XX, GT or LT options at the same time are not compatible');
  }
  if ((bits & GT) !== 0 && (bits & LT) !== 0) {
    fail('ERR GT and LT options at the same time are not compatible');
  }
  return bits;
}

/**
 * Returns the time for an amount, in milliseconds since the epoch; it may be in the past. Throws if it exceeds 64 bits.
 */
function instant(text: Bytes, unit: number, base: Millis, command: Bytes): Millis {
  const given = int64(text);
  if (typeof given === 'number' && Math.abs(given) < PLAIN_AMOUNT) return given * unit + base;
  const amount = BigInt(given);
  const factor = BigInt(unit);
  if (amount > INT64_MAX / factor || amount < INT64_MIN / factor) throw invalidExpiry(command);
  const at = amount * factor + BigInt(base);
  if (at > INT64_MAX) throw invalidExpiry(command);
  return instantOf(at);
}

/** Returns whether the conditions allow the current deadline to be replaced. */
export function conditionsAllow(bits: number, present: Millis | undefined, at: Millis): boolean {
  if ((bits & NX) !== 0 && present !== undefined) return false;
  if ((bits & XX) !== 0 && present === undefined) return false;
  if ((bits & GT) !== 0 && (present === undefined || at <= present)) return false;
  return (bits & LT) === 0 || present === undefined || at < present;
}

/** EXPIRE and similar commands, for one unit and base. */
function expire(client: Caller, argv: Argv<-3>, unit: number, relative: boolean, command: Bytes): Reply {
  const { db, server } = client;
  const name = argv[1];
  const bits = argv.length === 3 ? 0 : conditionBits(argv.slice(3));
  const at = instant(argv[2], unit, relative ? server.now : 0, command);
  const entry = db.find(name);
  if (entry === undefined || !conditionsAllow(bits, db.expiresAt(entry), at)) return 0;
  if (isOver(client, at)) {
    endAtOnce(client, name);
    return 1;
  }
  db.expireAt(name, entry, at);
  db.changed(name, 'expire');
  if (server.effects.feeding && command !== 'pexpireat') {
    server.effects.propagateAs(['PEXPIREAT', name, String(at), ...argv.slice(3)]);
  }
  return 1;
}

/** Answers -2 if the key does not exist, -1 if it has no deadline, else `shape` of the deadline. */
function deadlineOf({ db }: Caller, name: Bytes, shape: (at: Millis) => number): Reply {
  const entry = db.inspect(name);
  if (entry === undefined) return -2;
  const at = db.expiresAt(entry);
  return at === undefined ? -1 : shape(at);
}

function seconds(millis: Millis): number {
  return Math.floor((millis + 500) / 1000);
}

export const expiryCommands = defineCommands('generic', {
  expire: {
    summary: 'Lets a key expire after some seconds.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run: (client, argv) => expire(client, argv, 1000, true, 'expire'),
  },
  pexpire: {
    summary: 'Lets a key expire after some milliseconds.',
    since: '2.6.0',
    complexity: 'O(1)',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run: (client, argv) => expire(client, argv, 1, true, 'pexpire'),
  },
  expireat: {
    summary: 'Lets a key expire at a time given in seconds since 1970.',
    since: '1.2.0',
    complexity: 'O(1)',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run: (client, argv) => expire(client, argv, 1000, false, 'expireat'),
  },
  pexpireat: {
    summary: 'Lets a key expire at a time given in milliseconds since 1970.',
    since: '2.6.0',
    complexity: 'O(1)',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run: (client, argv) => expire(client, argv, 1, false, 'pexpireat'),
  },
  ttl: {
    summary: 'Returns the seconds left until a key expires.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: (client, argv) => deadlineOf(client, argv[1], (at) => seconds(Math.max(0, at - client.server.now))),
  },
  pttl: {
    summary: 'Returns the milliseconds left until a key expires.',
    since: '2.6.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: (client, argv) => deadlineOf(client, argv[1], (at) => Math.max(0, at - client.server.now)),
  },
  expiretime: {
    summary: 'Returns when a key expires, in seconds since 1970.',
    since: '7.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    run: (client, argv) => deadlineOf(client, argv[1], seconds),
  },
  pexpiretime: {
    summary: 'Returns when a key expires, in milliseconds since 1970.',
    since: '7.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO ACCESS'),
    run: (client, argv) => deadlineOf(client, argv[1], (at) => at),
  },
  persist: {
    summary: 'Removes the expiry of a key.',
    since: '2.2.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run(client, argv) {
      const { db } = client;
      const entry = db.find(argv[1]);
      if (entry === undefined || !db.persist(entry)) return 0;
      db.changed(argv[1], 'persist');
      return 1;
    },
  },
});
