/** ZRANDMEMBER and ZSCAN: some of a sorted set's members. */
import { isPackedInteger, type ScoredMember, type SortedSet } from '../../keyspace/sorted-set.ts';
import { asciiUpper, type Bytes, formatDouble } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { Client } from '../client.ts';
import { randomNumbers, signedCount } from '../picking.ts';
import { scanCursor, scanOptions } from '../scanning.ts';
import { membersReply } from './sorted-set-parts.ts';

/** ZRANDMEMBER key [count [WITHSCORES]] */
export function randomMembers(client: Client, argv: readonly Bytes[]): Reply {
  const [, name = '', text, option] = argv;
  const random = (): number => client.server.host.random();
  if (text === undefined) {
    const set = client.db.read(name, 'zset');
    return set?.atRank(Math.floor(random() * set.size))?.member ?? null;
  }
  const count = signedCount(text);
  if (argv.length > 4 || (option !== undefined && asciiUpper(option) !== 'WITHSCORES')) fail(SYNTAX);
  if (option !== undefined && Math.abs(count) > 2 ** 62) fail('ERR value is out of range');
  const set = client.db.read(name, 'zset');
  if (set === undefined || count === 0) return [];
  const members =
    count >= set.size
      ? set.rangeByRank(0, set.size - 1, true)
      : randomNumbers(set.size, count, random).map((rank) => set.atRank(rank)!);
  return membersReply(members, option !== undefined);
}

/** Members in the order they were added, as the latest scan of each set saw them. */
const rolls = new WeakMap<SortedSet, readonly Bytes[]>();

/**
 * ZSCAN key cursor [MATCH pattern] [COUNT count]. The cursor counts the members, in the order they were added, that
 * are still to be looked at, from the newest: removals only move members down, so none that stays is missed.
 */
export function scanMembers(client: Client, argv: readonly Bytes[]): Reply {
  const cursor = scanCursor(argv[2]!);
  const set = client.db.read(argv[1]!, 'zset');
  if (set === undefined) return ['0', []];
  const { count, matches } = scanOptions(argv, 3);
  if (set.encoding() === 'listpack') {
    return [
      '0',
      flatten(
        set.rangeByRank(0, set.size - 1).filter(({ member }) => matches(member)),
        packedScore,
      ),
    ];
  }
  let roll = cursor === 0 ? undefined : rolls.get(set);
  if (roll === undefined) rolls.set(set, (roll = [...set.members()]));
  const end = cursor === 0 ? roll.length : Math.min(cursor, roll.length);
  const start = Math.max(0, end - count);
  if (start === 0) rolls.delete(set);
  const found: ScoredMember[] = [];
  for (const member of roll.slice(start, end)) {
    const score = set.score(member);
    if (score !== undefined && matches(member)) found.push({ member, score });
  }
  return [String(start), flatten(found)];
}

/** A score as a listpack has it: whole numbers with all their digits. */
function packedScore(score: number): Bytes {
  return isPackedInteger(score) ? String(BigInt(score)) : formatDouble(score);
}

/** Members and scores as ZSCAN answers them: texts in both protocols. */
function flatten(members: readonly ScoredMember[], print = formatDouble): Bytes[] {
  return members.flatMap(({ member, score }) => [member, print(score)]);
}
