/** Unions, intersections and differences of sorted sets and sets (https://redis.io/docs/latest/commands/zunion/). */

import type { SetValue } from '../../../keyspace/collections/set.ts';
import type { SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import { allocate } from '../../../protocol/allowance.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX, WRONGTYPE } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { integer, integerBetween, Options, readScore, wordAt } from '../../table/arguments.ts';
import { type Argv, countedKeys, type Flag, type KeySpec, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { emptySet, membersReply, storeResult } from './parts.ts';

type Operation = 'union' | 'inter' | 'diff';
type Combine = (a: number, b: number) => number;

/** One input: a sorted set, or a set whose members all have the score 1. */
interface WeightedSet {
  readonly value: SortedSet | SetValue | undefined;
  readonly size: number;
  weight: number;
  /** AGGREGATE COUNT: every member counts as its weight, whatever its score. */
  counts: boolean;
}

interface AlgebraRequest {
  readonly inputs: WeightedSet[];
  readonly aggregate: Combine;
  readonly withScores: boolean;
  readonly limit: number;
}

/** Replaces a result that is not a number (0 × inf, inf - inf) by 0. */
/** Members of a result are counted in parts of so many. */
const COUNTED = 64;
/** What a member of a result takes with its score, in bytes. */
const SCORED_BYTES = 160;

function finite(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

const AGGREGATES: ReadonlyMap<Bytes, Combine> = new Map<Bytes, Combine>([
  ['SUM', (a, b) => finite(a + b)],
  ['MIN', (a, b) => (b < a ? b : a)],
  ['MAX', (a, b) => (b > a ? b : a)],
  ['COUNT', (a, b) => finite(a + b)],
]);

function inputAt(client: Caller, name: Bytes): WeightedSet {
  const value = client.db.lookup(name)?.held;
  if (value === undefined) return { value, size: 0, weight: 1, counts: false };
  if (typeof value === 'string' || (value.type !== 'zset' && value.type !== 'set')) return fail(WRONGTYPE);
  return { value, size: value.size, weight: 1, counts: false };
}

/** The options that a command accepts. */
interface AlgebraOptions {
  readonly operation: Operation;
  readonly command: Bytes;
  readonly storing?: boolean;
  readonly counting?: boolean;
}

const NO_WEIGHT = 'ERR weight value is not a float';

/** Reads `numkeys key …` and the options from a position on. Throws Redis' error for bad arguments. */
function parse(client: Caller, argv: readonly Bytes[], at: number, form: AlgebraOptions): AlgebraRequest {
  const numkeys = integer(wordAt(argv, at));
  if (numkeys < 1) fail(`ERR at least 1 input key is needed for '${form.command}' command`);
  if (numkeys > argv.length - at - 1) fail(SYNTAX);
  const inputs = argv.slice(at + 1, at + 1 + numkeys).map((name) => inputAt(client, name));
  const options = new Options(argv, at + 1 + numkeys);
  const combining = form.operation !== 'diff' && form.counting !== true;
  let aggregate: Combine | undefined = AGGREGATES.get('SUM');
  let withScores = false;
  let limit = 0;
  while (options.more()) {
    const option = options.next();
    if (option === 'WEIGHTS' && combining && options.left >= numkeys) {
      const { dialect } = client.server;
      for (const input of inputs) input.weight = readScore(dialect, options.value(), NO_WEIGHT);
    } else if (option === 'AGGREGATE' && combining && options.more()) {
      const word = options.next();
      aggregate = AGGREGATES.get(word) ?? fail(SYNTAX);
      const counts = word === 'COUNT';
      if (counts && !client.server.vocabulary.knows(form.command, word)) fail(SYNTAX);
      for (const input of inputs) input.counts = counts;
    } else if (option === 'WITHSCORES' && form.storing !== true && form.counting !== true) {
      withScores = true;
    } else if (option === 'LIMIT' && form.counting === true && options.more()) {
      const negative = "ERR LIMIT can't be negative";
      limit = integerBetween(options.value(), 0, 2 ** 63, negative, negative);
    } else {
      fail(SYNTAX);
    }
  }
  return { inputs, aggregate: aggregate!, withScores, limit };
}

function* scoresOf({ value, weight, counts }: WeightedSet): Iterable<[Bytes, number]> {
  if (value === undefined) return;
  // Redis iterates from the highest score down. The order affects the rounding of sums.
  if (value.type === 'zset') {
    for (const { member, score } of value.entries(true))
      yield [member, finite(counts ? weight : weight * score)];
  } else {
    for (const member of value.values()) yield [member, finite(weight)];
  }
}

/**
 * Returns a member's weighted score; undefined if the input lacks the member. Unlike in `scoresOf`, 0 × inf stays NaN,
 * which Redis aggregates unchanged: SUM yields 0, and MIN and MAX keep the previous score.
 */
function scoreIn({ value, weight, counts }: WeightedSet, member: Bytes): number | undefined {
  if (value === undefined) return undefined;
  const score = value.type === 'zset' ? value.score(member) : value.has(member) ? 1 : undefined;
  if (score === undefined) return undefined;
  return counts ? weight : weight * score;
}

/** Yields the members that every input has, with their aggregated scores. Iterates over the smallest input. */
function* intersect(inputs: readonly WeightedSet[], aggregate: Combine): Iterable<[Bytes, number]> {
  const [smallest, ...others] = inputs;
  for (const [member, first] of scoresOf(smallest!)) {
    let score: number | undefined = first;
    for (const other of others) {
      const next = scoreIn(other, member);
      score = next === undefined || score === undefined ? undefined : aggregate(score, next);
    }
    if (score !== undefined) yield [member, score];
  }
}

function unite(inputs: readonly WeightedSet[], aggregate: Combine): Iterable<[Bytes, number]> {
  const scores = new Map<Bytes, number>();
  for (const input of inputs) {
    for (const [member, score] of scoresOf(input)) {
      const old = scores.get(member);
      scores.set(member, old === undefined ? score : aggregate(old, score));
      if (scores.size % COUNTED === 0) allocate(COUNTED * SCORED_BYTES);
    }
  }
  return scores;
}

function* subtract([first, ...others]: readonly WeightedSet[]): Iterable<[Bytes, number]> {
  for (const entry of scoresOf(first!)) {
    if (!others.some((other) => scoreIn(other, entry[0]) !== undefined)) yield entry;
  }
}

function combine(
  client: Caller,
  { operation, storing }: AlgebraOptions,
  { inputs, aggregate }: AlgebraRequest,
): SortedSet {
  const bySize = [...inputs].sort((a, b) => a.size - b.size);
  const members = [
    ...(operation === 'diff'
      ? subtract(inputs)
      : operation === 'inter'
        ? intersect(bySize, aggregate)
        : unite(bySize, aggregate)),
  ];
  allocate(members.length * SCORED_BYTES);
  const result = emptySet(client);
  const { zsetMaxEntries, zsetMaxValue } = client.server.encoding;
  const isLarge = members.length > zsetMaxEntries || members.some(([{ length }]) => length > zsetMaxValue);
  // Redis converts a stored result to a listpack only at the end. Until then -0 stays -0.
  if (storing !== true || isLarge) result.outgrow();
  for (const [member, score] of members) result.set(member, score);
  return result;
}

function answering(form: AlgebraOptions) {
  return (client: Caller, argv: readonly Bytes[]): Reply => {
    const request = parse(client, argv, 1, form);
    const result = combine(client, form, request);
    return membersReply(result.rangeByRank(0, result.size - 1), request.withScores);
  };
}

function storing(operation: Operation, command: Bytes) {
  const form: AlgebraOptions = { operation, command, storing: true };
  return (client: Caller, argv: Argv<-2>): Reply =>
    storeResult(client, argv[1], combine(client, form, parse(client, argv, 2, form)), command);
}

function count(client: Caller, argv: readonly Bytes[]): Reply {
  const form: AlgebraOptions = { operation: 'inter', command: 'zintercard', counting: true };
  const { inputs, aggregate, limit } = parse(client, argv, 1, form);
  const bySize = [...inputs].sort((a, b) => a.size - b.size);
  let found = 0;
  for (const _ of intersect(bySize, aggregate)) if (++found === limit) break;
  return found;
}

const READS: readonly Flag[] = ['readonly', 'movablekeys'];
const STORES: readonly Flag[] = ['write', 'denyoom', 'movablekeys'];
const SOURCES = countedKeys('RO ACCESS', 1);
const TARGET: KeySpec[] = [...key('OW UPDATE'), ...countedKeys('RO ACCESS', 2)];

export const sortedSetAlgebraCommands = defineCommands('sorted-set', {
  zunion: {
    summary: 'Returns the members of any of several sorted sets.',
    since: '6.2.0',
    complexity: 'O(N)+O(M*log(M)), N members in all, M of the result',
    arity: -3,
    flags: READS,
    keys: SOURCES,
    run: answering({ operation: 'union', command: 'zunion' }),
  },
  zunionstore: {
    summary: 'Keeps the members of any of several sorted sets.',
    since: '2.0.0',
    complexity: 'O(N)+O(M*log(M)), N members in all, M of the result',
    arity: -4,
    flags: STORES,
    keys: TARGET,
    run: storing('union', 'zunionstore'),
  },
  zinter: {
    summary: 'Returns the members that several sorted sets share.',
    since: '6.2.0',
    complexity: 'O(N*K)+O(M*log(M)), N members of the smallest of K sets, M of the result',
    arity: -3,
    flags: READS,
    keys: SOURCES,
    run: answering({ operation: 'inter', command: 'zinter' }),
  },
  zinterstore: {
    summary: 'Keeps the members that several sorted sets share.',
    since: '2.0.0',
    complexity: 'O(N*K)+O(M*log(M)), N members of the smallest of K sets, M of the result',
    arity: -4,
    flags: STORES,
    keys: TARGET,
    run: storing('inter', 'zinterstore'),
  },
  zintercard: {
    summary: 'Counts the members that several sorted sets share.',
    since: '7.0.0',
    complexity: 'O(N*K), N members of the smallest of K sets',
    arity: -3,
    flags: READS,
    keys: SOURCES,
    run: count,
  },
  zdiff: {
    summary: 'Returns the members of the first sorted set that no other has.',
    since: '6.2.0',
    complexity: 'O(L+(N-K)*log(N)), L members in all, N of the first set, K of the result',
    arity: -3,
    flags: READS,
    keys: SOURCES,
    run: answering({ operation: 'diff', command: 'zdiff' }),
  },
  zdiffstore: {
    summary: 'Keeps the members of the first sorted set that no other has.',
    since: '6.2.0',
    complexity: 'O(L+(N-K)*log(N)), L members in all, N of the first set, K of the result',
    arity: -4,
    flags: STORES,
    keys: TARGET,
    run: storing('diff', 'zdiffstore'),
  },
});
