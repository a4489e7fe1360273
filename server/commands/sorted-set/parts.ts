/** Shared parts of the sorted set commands: reading range requests, members as replies, storing results. */
import { type ScoredMember, SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { Double, PairsReply, type Reply } from '../../../protocol/reply.ts';
import { overwrite } from '../../data/overwriting.ts';
import type { Caller } from '../../server.ts';
import { integer, Options, wordAt } from '../../table/arguments.ts';
import { type Limit, lexRange, membersIn, type Range, rankRange, scoreRange } from './range.ts';

/** Creates an empty sorted set with the server's encoding thresholds. */
export function emptySet(client: Caller): SortedSet {
  return new SortedSet(client.server.encoding);
}

/** Returns members, with or without their scores, as ZRANGE answers them. */
export function membersReply(members: readonly ScoredMember[], withScores: boolean): Reply {
  if (!withScores) return members.map(({ member }) => member);
  // An array that grows is copied again and again.
  const items = new Array<Reply>(2 * members.length);
  for (let i = 0; i < members.length; i++) {
    const { member, score } = members[i]!;
    items[2 * i] = member;
    items[2 * i + 1] = new Double(score);
  }
  return new PairsReply(items);
}

/** The arguments of ZRANGE and similar commands. */
export interface RangeRequest {
  readonly range: Range;
  readonly reverse: boolean;
  readonly limit: Limit | undefined;
  readonly withScores: boolean;
}

type RangeKind = 'rank' | 'score' | 'lex';
const READERS: Record<RangeKind, (first: Bytes, last: Bytes, loose: boolean) => Range> = {
  rank: rankRange,
  score: scoreRange,
  lex: lexRange,
};

/**
 * Reads a range and its options from a position on. Throws Redis' error for bad arguments.
 * `kind` and `reverse` are set if the command's name determines them; ZRANGE and ZRANGESTORE take them from options.
 */
export function parseRange(
  { server }: Caller,
  argv: readonly Bytes[],
  at: number,
  { kind, reverse, storing = false }: { kind?: RangeKind; reverse?: boolean; storing?: boolean },
): RangeRequest {
  const options = new Options(argv, at + 2);
  let by = kind;
  let backwards = reverse;
  let withScores = false;
  let limit: Limit | undefined;
  const wraps = server.dialect.negativeOffset === 'from the end of a skiplist';
  while (options.more()) {
    const option = options.next();
    if (option === 'WITHSCORES' && !storing) withScores = true;
    else if (option === 'LIMIT' && options.left >= 2) {
      limit = { offset: integer(options.value()), count: integer(options.value()), wraps };
    } else if (option === 'REV' && backwards === undefined) backwards = true;
    else if (option === 'BYLEX' && by === undefined) by = 'lex';
    else if (option === 'BYSCORE' && by === undefined) by = 'score';
    else fail(SYNTAX);
  }
  if ((by ?? 'rank') === 'rank' && limit !== undefined && limit.count !== -1) {
    fail('ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX');
  }
  if (by === 'lex' && withScores) {
    fail('ERR syntax error, WITHSCORES not supported in combination with BYLEX');
  }
  const swapped = backwards === true && by !== undefined && by !== 'rank';
  const [first, last] = swapped
    ? [wordAt(argv, at + 1), wordAt(argv, at)]
    : [wordAt(argv, at), wordAt(argv, at + 1)];
  const range = READERS[by ?? 'rank'](first, last, server.dialect.looseScores);
  return {
    range,
    reverse: backwards ?? false,
    limit: (by ?? 'rank') === 'rank' ? undefined : limit,
    withScores,
  };
}

/** Returns the members that a request selects. */
export function select(set: SortedSet, { range, reverse, limit }: RangeRequest): ScoredMember[] {
  return membersIn(set, range, reverse, limit);
}

/** Removes the members of a range and answers their number. */
export function removeRange(client: Caller, name: Bytes, range: Range, event: string): Reply {
  const set = client.db.get(name, 'zset');
  if (set === undefined) return 0;
  const members = membersIn(set, range, false);
  for (const { member } of members) set.delete(member);
  if (members.length > 0) client.db.changed(name, event, members.length);
  return members.length;
}

/** Stores a result at a key and replaces its old value; an empty result removes the key. Answers the result's size. */
export function storeResult(client: Caller, name: Bytes, set: SortedSet, event: string): Reply {
  const { db } = client;
  const { size } = set;
  if (size > 0) {
    overwrite(client, name, set);
    db.changed(name, event);
  } else if (db.removeStored(name)) {
    db.changed(name, 'del');
  }
  return size;
}
