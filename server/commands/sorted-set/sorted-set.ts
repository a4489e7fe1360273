/** Commands on one sorted set that never wait (https://redis.io/docs/latest/commands/?group=sorted-set). */

import type { SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import { MEMBER_BYTES } from '../../../keyspace/footprint.ts';
import { allocate } from '../../../protocol/allowance.ts';
import { asciiLower, asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX, wrongArity } from '../../../protocol/errors.ts';
import { Double, NULL_ARRAY, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, type Flag, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { add, increment } from './add.ts';
import { emptySet, membersReply, parseRange, removeRange, select, storeResult } from './parts.ts';
import { randomMembers, scanMembers } from './pick.ts';
import { lexRange, type Range, rankRange, scoreRange } from './range.ts';

function read(client: Caller, name: Bytes): SortedSet | undefined {
  return client.db.read(name, 'zset');
}

/** ZRANK and ZREVRANK, with the score where it is asked for. */
function rank(client: Caller, argv: Argv<-3>, reverse: boolean): Reply {
  const [command, name, member, option] = argv;
  if (argv.length > 4) throw wrongArity(asciiLower(command));
  if (option !== undefined && asciiUpper(option) !== 'WITHSCORE') fail(SYNTAX);
  const set = read(client, name);
  const lower = set?.rank(member);
  if (set === undefined || lower === undefined) return option === undefined ? null : NULL_ARRAY;
  const place = reverse ? set.size - 1 - lower : lower;
  return option === undefined ? place : [place, new Double(set.score(member) ?? 0)];
}

/** Returns the handler of a ZRANGE-like command. `fixed` is what the command's name determines instead of options. */
function ranging(fixed: Parameters<typeof parseRange>[3]) {
  return (client: Caller, argv: Argv<-2>): Reply => {
    const request = parseRange(client, argv, 2, fixed);
    const set = read(client, argv[1]);
    return set === undefined ? [] : membersReply(select(set, request), request.withScores);
  };
}

function rangeStore(client: Caller, argv: Argv<-3>): Reply {
  const request = parseRange(client, argv, 3, { storing: true });
  const set = read(client, argv[2]);
  const result = emptySet(client);
  const chosen = set === undefined ? [] : select(set, request);
  allocate(2 * chosen.length * MEMBER_BYTES);
  for (const { member, score } of chosen) result.set(member, score);
  return storeResult(client, argv[1], result, 'zrangestore');
}

function count(client: Caller, name: Bytes, range: Range): Reply {
  const set = read(client, name);
  if (set === undefined) return 0;
  const { start, end } = range(set, false);
  return end - start;
}

function remove(client: Caller, argv: Argv<-2>): Reply {
  const set = client.db.get(argv[1], 'zset');
  if (set === undefined) return 0;
  let removed = 0;
  for (let i = 2; i < argv.length && set.size > 0; i++) if (set.delete(wordAt(argv, i))) removed++;
  if (removed > 0) client.db.changed(argv[1], 'zrem', removed);
  return removed;
}

function score(set: SortedSet | undefined, member: Bytes): Reply {
  const found = set?.score(member);
  return found === undefined ? null : new Double(found);
}

const READS_FAST: readonly Flag[] = ['readonly', 'fast'];
const RANGED = 'O(log(N)+M), N members, M of them returned';
const REMOVED = 'O(log(N)+M), N members, M of them removed';

export const sortedSetCommands = defineCommands('sorted-set', {
  zadd: {
    summary: 'Adds members with scores, or changes their scores, on conditions where asked.',
    since: '1.2.0',
    complexity: 'O(log(N)) for each, N members',
    arity: -4,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW UPDATE'),
    run: add,
  },
  zincrby: {
    summary: 'Adds to the score of a member.',
    since: '1.2.0',
    complexity: 'O(log(N)), N members',
    arity: 4,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    run: increment,
  },
  zrem: {
    summary: 'Removes members.',
    since: '1.2.0',
    complexity: 'O(M*log(N)), N members, M of them removed',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW DELETE'),
    run: remove,
  },
  zcard: {
    summary: 'Counts the members.',
    since: '1.2.0',
    complexity: 'O(1)',
    arity: 2,
    flags: READS_FAST,
    keys: key('RO'),
    run: (client, argv) => read(client, argv[1])?.size ?? 0,
  },
  zscore: {
    summary: 'Returns the score of a member.',
    since: '1.2.0',
    complexity: 'O(1)',
    arity: 3,
    flags: READS_FAST,
    keys: key('RO ACCESS'),
    run: (client, argv) => score(read(client, argv[1]), argv[2]),
  },
  zmscore: {
    summary: 'Returns the scores of several members.',
    since: '6.2.0',
    complexity: 'O(M), M members asked for',
    arity: -3,
    flags: READS_FAST,
    keys: key('RO ACCESS'),
    run(client, argv) {
      const set = read(client, argv[1]);
      return argv.slice(2).map((member) => score(set, member));
    },
  },
  zrank: {
    summary: 'Returns how many members have a lower score.',
    since: '2.0.0',
    complexity: 'O(log(N)), N members',
    changes: [{ since: '7.2.0', arity: -3 }],
    arity: 3,
    flags: READS_FAST,
    keys: key('RO ACCESS'),
    run: (client, argv) => rank(client, argv, false),
  },
  zrevrank: {
    summary: 'Returns how many members have a higher score.',
    since: '2.0.0',
    complexity: 'O(log(N)), N members',
    changes: [{ since: '7.2.0', arity: -3 }],
    arity: 3,
    flags: READS_FAST,
    keys: key('RO ACCESS'),
    run: (client, argv) => rank(client, argv, true),
  },
  zcount: {
    summary: 'Counts the members with scores in a range.',
    since: '2.0.0',
    complexity: 'O(log(N)), N members',
    arity: 4,
    flags: READS_FAST,
    keys: key('RO ACCESS'),
    run: (client, argv) =>
      count(client, argv[1], scoreRange(argv[2], argv[3], client.server.dialect.looseScores)),
  },
  zlexcount: {
    summary: 'Counts the members in a range of bytes, where all scores are equal.',
    since: '2.8.9',
    complexity: 'O(log(N)), N members',
    arity: 4,
    flags: READS_FAST,
    keys: key('RO ACCESS'),
    run: (client, argv) => count(client, argv[1], lexRange(argv[2], argv[3])),
  },
  zrange: {
    summary: 'Returns the members in a range of ranks, scores or bytes.',
    since: '1.2.0',
    complexity: RANGED,
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: ranging({}),
  },
  zrangestore: {
    summary: 'Keeps the members in a range of ranks, scores or bytes at another key.',
    since: '6.2.0',
    complexity: 'O(log(N)+M), N members, M of them kept',
    arity: -5,
    flags: ['write', 'denyoom'],
    keys: [...key('OW UPDATE'), ...key('RO ACCESS', 2)],
    run: rangeStore,
  },
  zrevrange: {
    summary: 'Returns the members in a range of ranks, from the highest score down.',
    since: '1.2.0',
    complexity: RANGED,
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: ranging({ kind: 'rank', reverse: true }),
  },
  zrangebyscore: {
    summary: 'Returns the members with scores in a range.',
    since: '1.0.5',
    complexity: RANGED,
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: ranging({ kind: 'score', reverse: false }),
  },
  zrevrangebyscore: {
    summary: 'Returns the members with scores in a range, from the highest down.',
    since: '2.2.0',
    complexity: RANGED,
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: ranging({ kind: 'score', reverse: true }),
  },
  zrangebylex: {
    summary: 'Returns the members in a range of bytes, where all scores are equal.',
    since: '2.8.9',
    complexity: RANGED,
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: ranging({ kind: 'lex', reverse: false }),
  },
  zrevrangebylex: {
    summary: 'Returns the members in a range of bytes, from the highest down, where all scores are equal.',
    since: '2.8.9',
    complexity: RANGED,
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: ranging({ kind: 'lex', reverse: true }),
  },
  zremrangebyrank: {
    summary: 'Removes the members in a range of ranks.',
    since: '2.0.0',
    complexity: REMOVED,
    arity: 4,
    flags: ['write'],
    keys: key('RW DELETE'),
    run: (client, argv) => removeRange(client, argv[1], rankRange(argv[2], argv[3]), 'zremrangebyrank'),
  },
  zremrangebyscore: {
    summary: 'Removes the members with scores in a range.',
    since: '1.2.0',
    complexity: REMOVED,
    arity: 4,
    flags: ['write'],
    keys: key('RW DELETE'),
    run: (client, argv) =>
      removeRange(
        client,
        argv[1],
        scoreRange(argv[2], argv[3], client.server.dialect.looseScores),
        'zremrangebyscore',
      ),
  },
  zremrangebylex: {
    summary: 'Removes the members in a range of bytes, where all scores are equal.',
    since: '2.8.9',
    complexity: REMOVED,
    arity: 4,
    flags: ['write'],
    keys: key('RW DELETE'),
    run: (client, argv) => removeRange(client, argv[1], lexRange(argv[2], argv[3]), 'zremrangebylex'),
  },
  zrandmember: {
    summary: 'Returns members picked at random.',
    since: '6.2.0',
    complexity: 'O(M), M members answered',
    arity: -2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: randomMembers,
  },
  zscan: {
    summary: 'Lists the members and scores step by step.',
    since: '2.8.0',
    complexity: 'O(1) for a step, O(N) for all, N members',
    arity: -3,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: scanMembers,
  },
});
