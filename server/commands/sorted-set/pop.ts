/** Sorted set commands that pop the members with the lowest or highest scores, at once or after waiting for them. */

import type { SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, NOT_POSITIVE, SYNTAX } from '../../../protocol/errors.ts';
import { Double, NULL_ARRAY, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { integerBetween, wordAt } from '../../table/arguments.ts';
import { type Argv, countedKeys, key, keys } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { secondsToWait } from '../../table/timeouts.ts';
import { defineCommands } from '../define.ts';

type ScoreEnd = 'MIN' | 'MAX';

/** Pops up to `count` members from an end. Returns members and scores, alternating. */
function take(client: Caller, name: Bytes, set: SortedSet, end: ScoreEnd, count: number): Reply[] {
  const taken: Reply[] = [];
  for (let left = Math.min(count, set.size); left > 0; left--) {
    const { member, score } = (end === 'MIN' ? set.popMin() : set.popMax())!;
    taken.push(member, new Double(score));
  }
  client.db.changed(name, end === 'MIN' ? 'zpopmin' : 'zpopmax', taken.length / 2);
  return taken;
}

/** Returns the command that has the same effect on a replica. */
function effectOf(name: Bytes, end: ScoreEnd, count?: number): Bytes[] {
  const command = end === 'MIN' ? 'ZPOPMIN' : 'ZPOPMAX';
  return count === undefined ? [command, name] : [command, name, String(count)];
}

function inPairs(items: readonly Reply[]): Reply[] {
  const pairs: Reply[] = [];
  for (let i = 0; i < items.length; i += 2) pairs.push([items[i]!, items[i + 1]!]);
  return pairs;
}

/** ZPOPMIN and ZPOPMAX. Pairs are nested only in RESP3 with a count. */
function pop(client: Caller, argv: Argv<-2>, end: ScoreEnd): Reply {
  const [, name, text] = argv;
  if (argv.length > 3) fail(SYNTAX);
  const count = text === undefined ? 1 : integerBetween(text, 0, 2 ** 63, NOT_POSITIVE, NOT_POSITIVE);
  const set = client.db.get(name, 'zset');
  if (set === undefined || count === 0) return [];
  const taken = take(client, name, set, end, count);
  return text !== undefined && client.protocol === 3 ? inPairs(taken) : taken;
}

/** The arguments of ZMPOP and BZMPOP: the sets, the end, and how many members to pop from the first non-empty set. */
interface ScoredPop {
  readonly names: readonly Bytes[];
  readonly end: ScoreEnd;
  readonly count: number;
}

const TOO_FEW_KEYS = 'ERR numkeys should be greater than 0';
const TOO_FEW = 'ERR count should be greater than 0';

/** Reads `numkeys key … MIN|MAX [COUNT count]` from a position on. Throws Redis' error for bad arguments. */
function parseMultiPop(argv: readonly Bytes[], at: number): ScoredPop {
  const numkeys = integerBetween(wordAt(argv, at), 1, 2 ** 63, TOO_FEW_KEYS, TOO_FEW_KEYS);
  const behind = at + 1 + numkeys;
  const end = asciiUpper(argv[behind] ?? fail(SYNTAX));
  if (end !== 'MIN' && end !== 'MAX') return fail(SYNTAX);
  let count = 1;
  for (let i = behind + 1; i < argv.length; i += 2) {
    const text = argv[i + 1];
    if (i > behind + 1 || asciiUpper(wordAt(argv, i)) !== 'COUNT' || text === undefined) return fail(SYNTAX);
    count = integerBetween(text, 1, 2 ** 63, TOO_FEW, TOO_FEW);
  }
  return { names: argv.slice(at + 1, behind), end, count };
}

/** Pops from one key for ZMPOP; undefined if it is empty. */
function takeMany(client: Caller, name: Bytes, { end, count }: ScoredPop) {
  const set = client.db.get(name, 'zset');
  if (set === undefined) return undefined;
  const taken = take(client, name, set, end, count);
  return { reply: [name, inPairs(taken)], effect: effectOf(name, end, taken.length / 2) };
}

/** Pops one member from a key for BZPOPMIN and BZPOPMAX; undefined if it is empty. */
function takeOne(client: Caller, name: Bytes, end: ScoreEnd) {
  const set = client.db.get(name, 'zset');
  if (set === undefined) return undefined;
  return { reply: [name, ...take(client, name, set, end, 1)], effect: effectOf(name, end) };
}

type PoppedMember = { readonly reply: Reply; readonly effect: readonly Bytes[] } | undefined;

/** Pops from the first non-empty key; undefined if all are empty. */
function firstOf(names: readonly Bytes[], from: (name: Bytes) => PoppedMember): PoppedMember {
  for (const name of names) {
    const taken = from(name);
    if (taken !== undefined) return taken;
  }
  return undefined;
}

/** Does the same, and replaces what replicas receive. */
function takeFirst(
  client: Caller,
  names: readonly Bytes[],
  from: (name: Bytes) => PoppedMember,
): Reply | undefined {
  const taken = firstOf(names, from);
  if (taken !== undefined && client.server.effects.feeding) client.server.effects.propagateAs(taken.effect);
  return taken?.reply;
}

/** Does the same, and blocks the client if all keys are empty. */
function takeOrWait(
  client: Caller,
  names: readonly Bytes[],
  timeout: number,
  from: (name: Bytes) => PoppedMember,
): Outcome {
  const { server } = client;
  const serve = (ready: readonly Bytes[]): Reply | undefined => {
    const taken = firstOf(ready, from);
    if (taken !== undefined) server.effects.propagateAlso(client.db, taken.effect);
    return taken?.reply;
  };
  return (
    takeFirst(client, names, from) ??
    server.blocking.block(client, { type: 'zset', keys: names, timeout, serve, timeoutReply: NULL_ARRAY })
  );
}

function blockingPop(client: Caller, argv: readonly Bytes[], end: ScoreEnd): Outcome {
  const timeout = secondsToWait(client, wordAt(argv, argv.length - 1));
  return takeOrWait(client, argv.slice(1, -1), timeout, (name) => takeOne(client, name, end));
}

export const sortedSetPopCommands = defineCommands('sorted-set', {
  zpopmin: {
    summary: 'Takes the members with the lowest scores.',
    since: '5.0.0',
    complexity: 'O(log(N)*M), N members, M of them taken',
    arity: -2,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS DELETE'),
    run: (client, argv) => pop(client, argv, 'MIN'),
  },
  zpopmax: {
    summary: 'Takes the members with the highest scores.',
    since: '5.0.0',
    complexity: 'O(log(N)*M), N members, M of them taken',
    arity: -2,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS DELETE'),
    run: (client, argv) => pop(client, argv, 'MAX'),
  },
  zmpop: {
    summary: 'Takes members from the first of several sorted sets that has any.',
    since: '7.0.0',
    complexity: 'O(K)+O(M*log(N)), K keys, N members, M of them taken',
    arity: -4,
    flags: ['write', 'movablekeys'],
    keys: countedKeys('RW ACCESS DELETE', 1),
    run(client, argv) {
      const wanted = parseMultiPop(argv, 1);
      return takeFirst(client, wanted.names, (name) => takeMany(client, name, wanted)) ?? NULL_ARRAY;
    },
  },
  bzpopmin: {
    summary: 'Takes the member with the lowest score from the first sorted set that has one; waits for it.',
    since: '5.0.0',
    complexity: 'O(log(N)), N members',
    changes: [{ since: '7.2.0', flags: ['write', 'blocking', 'fast'] }],
    arity: -3,
    flags: ['write', 'noscript', 'blocking', 'fast'],
    keys: keys('RW ACCESS DELETE', 1, 1, -2),
    run: (client, argv) => blockingPop(client, argv, 'MIN'),
  },
  bzpopmax: {
    summary: 'Takes the member with the highest score from the first sorted set that has one; waits for it.',
    since: '5.0.0',
    complexity: 'O(log(N)), N members',
    changes: [{ since: '7.2.0', flags: ['write', 'blocking', 'fast'] }],
    arity: -3,
    flags: ['write', 'noscript', 'blocking', 'fast'],
    keys: keys('RW ACCESS DELETE', 1, 1, -2),
    run: (client, argv) => blockingPop(client, argv, 'MAX'),
  },
  bzmpop: {
    summary: 'Takes members from the first of several sorted sets that has any; waits for one.',
    since: '7.0.0',
    complexity: 'O(K)+O(M*log(N)), K keys, N members, M of them taken',
    arity: -5,
    flags: ['write', 'blocking', 'movablekeys'],
    keys: countedKeys('RW ACCESS DELETE', 2),
    run(client, argv) {
      const wanted = parseMultiPop(argv, 2);
      const timeout = secondsToWait(client, argv[1]);
      return takeOrWait(client, wanted.names, timeout, (name) => takeMany(client, name, wanted));
    },
  },
});
