/** VSIM (https://redis.io/docs/latest/commands/vsim/). */
import { Filter } from '../../../keyspace/vector/filter/filter.ts';
import { FilterError } from '../../../keyspace/vector/filter/tokens.ts';
import type { VectorNode } from '../../../keyspace/vector/node.ts';
import { project } from '../../../keyspace/vector/projection.ts';
import { store } from '../../../keyspace/vector/quantization.ts';
import { type Neighbour, nearest } from '../../../keyspace/vector/search.ts';
import type { VectorSet } from '../../../keyspace/vector/vector-set.ts';
import { type Bytes, cString, parseDouble } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { Double, MapReply, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { atLeast, checkWords, givenVector, keyword, wrongDimension, wrongInput } from './parts.ts';

/** What is taken without COUNT, EF and EPSILON. */
const COUNT = 10;
const EFFORT = 100;
const EPSILON = 2;

interface SearchWishes {
  count: number;
  effort: number;
  epsilon: number;
  withScores: boolean;
  withAttributes: boolean;
  filter: Filter | undefined;
}

/**
 * VSIM key ELE|FP32|VALUES vector [WITHSCORES] [WITHATTRIBS] [COUNT n] [EPSILON distance] [EF n] [FILTER expression]
 * [FILTER-EF n] [TRUTH] [NOTHREAD]. Every element is compared, as the server does with TRUTH.
 */
export function similarElements(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VSIM', 4, Infinity);
  const set = client.db.read(argv[1] ?? '', 'vectorset');
  if (set === undefined) return [];
  const { vector, next } = queryVector(set, argv);
  const wishes = readWishes(client, argv, next);
  const { filter, count } = wishes;
  const accepts = ({ attributes }: VectorNode): boolean =>
    filter === undefined || (attributes !== undefined && filter.accepts(attributes));
  const most = Math.min(Math.max(wishes.effort, count), set.size);
  const found = nearest(set, store(vector, set.quantization), most, accepts).slice(0, count);
  return answer(client, found, wishes);
}

/** The vector to compare with, and the position of the word behind it. */
function queryVector(set: VectorSet, argv: readonly Bytes[]): { vector: Float32Array; next: number } {
  if (keyword(argv, 2) === 'ELE') {
    const node = set.get(argv[3] ?? '') ?? fail('ERR element not found in set');
    return { vector: set.vectorOf(node), next: 4 };
  }
  const { vector, next } = givenVector(argv, 2, false);
  if (vector.length === set.dimension) return { vector, next };
  const { projection } = set;
  if (projection === undefined) return wrongDimension(set, vector.length);
  if (vector.length !== projection.from) wrongInput(projection.from, vector.length);
  return { vector: project(projection, vector), next };
}

function readWishes(client: Caller, argv: readonly Bytes[], start: number): SearchWishes {
  const wishes: SearchWishes = {
    count: COUNT,
    effort: EFFORT,
    epsilon: EPSILON,
    withScores: false,
    withAttributes: false,
    filter: undefined,
  };
  for (let at = start; at < argv.length; at++) {
    const option = keyword(argv, at);
    if (option === 'WITHSCORES') wishes.withScores = true;
    else if (option === 'WITHATTRIBS' && client.server.vocabulary.knows('VSIM', option))
      wishes.withAttributes = true;
    else if (option !== 'TRUTH' && option !== 'NOTHREAD') {
      at++;
      const value = argv[at];
      if (value === undefined || !readWish(client, wishes, option, value))
        fail('ERR syntax error in VSIM command');
    }
  }
  return wishes;
}

/** Reads an option that has a value; false when there is no such option. */
function readWish(client: Caller, wishes: SearchWishes, option: Bytes, value: Bytes): boolean {
  if (option === 'COUNT') wishes.count = atLeast(1, value, 'ERR invalid COUNT');
  else if (option === 'EPSILON') wishes.epsilon = distanceLimit(value);
  else if (option === 'EF') wishes.effort = atLeast(1, value, 'ERR invalid EF');
  // Every element is looked at.
  else if (option === 'FILTER-EF') atLeast(1, value, 'ERR invalid FILTER-EF');
  else if (option === 'FILTER') wishes.filter = compiled(client, value);
  else return false;
  return true;
}

function distanceLimit(text: Bytes): number {
  const value = parseDouble(text);
  return value !== undefined && value > 0 ? Math.fround(value) : fail('ERR invalid EPSILON');
}

function compiled({ server }: Caller, expression: Bytes): Filter {
  const { filterNulls, filterIn } = server.dialect;
  try {
    return new Filter(cString(expression), {
      nulls: filterNulls === 'values',
      texts: filterIn === 'in lists and texts',
    });
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const at = error.at >= expression.length ? 0 : error.at;
    return fail(`ERR syntax error in FILTER expression near: ${cString(expression.slice(at))}`);
  }
}

/** RESP3 has a map from each element to its score, its attributes, or both in a list; RESP2 has a flat list. */
function answer(client: Caller, found: readonly Neighbour[], wishes: SearchWishes): Reply {
  const { withScores, withAttributes, epsilon } = wishes;
  const half = client.server.dialect.epsilon === 'half the distance';
  const items: Reply[] = [];
  for (const { node, distance } of found) {
    if ((half ? distance / 2 : distance) > epsilon) break;
    const about: Reply[] = [];
    if (withScores) about.push(new Double(1 - distance / 2));
    if (withAttributes) about.push(node.attributes ?? null);
    items.push(node.element, ...(about.length === 2 && client.protocol === 3 ? [about] : about));
  }
  return withScores || withAttributes ? new MapReply(items) : items;
}
