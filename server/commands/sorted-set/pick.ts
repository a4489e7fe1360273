/** ZRANDMEMBER and ZSCAN: some of a sorted set's members. */
import { isPackedInteger } from '../../../keyspace/collections/sorted-set.ts';
import { asciiUpper, type Bytes, formatGeneral } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import type { Argv } from '../../table/command.ts';
import { randomNumbers, signedCount } from '../keys/picking.ts';
import { scanCursor, scanOptions } from '../keys/scanning.ts';
import { membersReply } from './parts.ts';

/** ZRANDMEMBER key [count [WITHSCORES]] (https://redis.io/docs/latest/commands/zrandmember/). */
export function randomMembers(client: Caller, argv: Argv<-2>): Reply {
  const [, name, text, option] = argv;
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

/** ZSCAN key cursor [MATCH pattern] [COUNT count]. A sorted set in a listpack is returned in one step. */
export function scanMembers(client: Caller, argv: Argv<-3>): Reply {
  const cursor = scanCursor(client, argv[2]);
  const set = client.db.read(argv[1], 'zset');
  if (set === undefined) return ['0', []];
  const { count, matches, namesOnly } = scanOptions(client, argv, 3, 'zscan');
  const { names, next } = set.scan(cursor, count);
  if (namesOnly) return [String(next), names.filter(matches)];
  const { printDouble, scanScores } = client.server.dialect;
  const packed = (score: number): Bytes =>
    isPackedInteger(score) ? String(BigInt(score)) : printDouble(score);
  // A listpack has whole numbers with all their digits.
  const loose =
    scanScores === 'like doubles' ? printDouble : (score: number): Bytes => formatGeneral(score, 17);
  const print = set.encoding() === 'listpack' ? packed : loose;
  // Scores are strings in RESP2 and RESP3.
  return [String(next), names.filter(matches).flatMap((member) => [member, print(set.score(member)!)])];
}
