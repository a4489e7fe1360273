/** LPOS: the positions of a value in a list (https://redis.io/docs/latest/commands/lpos/). */
import type { ListValue } from '../../../keyspace/collections/list.ts';
import { approximate, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { int64, integerBetween, Options } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';

const RANK_ZERO =
  "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list";

/** The smallest 64-bit integer, which has no positive counterpart. */
const LOWEST = -(2n ** 63n);
const OUT_OF_RANGE =
  'ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807';

/** The options of LPOS. */
interface PositionSearch {
  /** The first match to return, counted from 1; negative: counted from the tail. */
  rank: number;
  /** How many matches to return, 0: all; undefined: one, not as an array. */
  count: number | undefined;
  /** The largest number of elements to compare; 0: all. */
  most: number;
}

/** Reads RANK. The lowest one overflows in servers that accept it, and then stands for the first match from the tail. */
function rankOf(client: Caller, text: Bytes): number {
  const rank = int64(text);
  if (rank === 0) fail(RANK_ZERO);
  if (rank !== LOWEST) return approximate(rank);
  return client.server.dialect.lowestRank === 'refused' ? fail(OUT_OF_RANGE) : -1;
}

function parse(client: Caller, argv: readonly Bytes[]): PositionSearch {
  const search: PositionSearch = { rank: 1, count: undefined, most: 0 };
  const options = new Options(argv, 3);
  while (options.more()) {
    const option = options.next();
    const value = options.value();
    if (option === 'RANK') {
      search.rank = rankOf(client, value);
    } else if (option === 'COUNT' || option === 'MAXLEN') {
      const negative = `ERR ${option} can't be negative`;
      const number = integerBetween(value, 0, 2 ** 63, negative, negative);
      if (option === 'COUNT') search.count = number;
      else search.most = number;
    } else {
      fail(SYNTAX);
    }
  }
  return search;
}

function find(list: ListValue, value: Bytes, { rank, count = 1, most }: PositionSearch): number[] {
  const found: number[] = [];
  const { size } = list;
  const end = most === 0 ? size : Math.min(most, size);
  let skip = Math.abs(rank) - 1;
  for (let i = 0; i < end && (count === 0 || found.length < count); i++) {
    const index = rank > 0 ? i : size - 1 - i;
    if (list.at(index) !== value) continue;
    if (skip > 0) skip--;
    else found.push(index);
  }
  return found;
}

/** LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]. Throws Redis' error for bad options. */
export function positions(client: Caller, argv: Argv<-3>): Reply {
  const search = parse(client, argv);
  const list = client.db.read(argv[1], 'list');
  const found = list === undefined ? [] : find(list, argv[2], search);
  return search.count === undefined ? (found[0] ?? null) : found;
}
