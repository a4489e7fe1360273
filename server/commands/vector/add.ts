/** VADD (https://redis.io/docs/latest/commands/vadd/). */
import { isProjectable, makeProjection, project } from '../../../keyspace/vector/projection.ts';
import type { Quantization } from '../../../keyspace/vector/quantization.ts';
import { VectorSet } from '../../../keyspace/vector/vector-set.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import {
  atLeast,
  checkWords,
  type GivenVector,
  givenVector,
  keyword,
  opened,
  wrongDimension,
  wrongInput,
} from './parts.ts';

const QUANTIZATION: Readonly<Record<string, Quantization>> = { NOQUANT: 'f32', Q8: 'int8', BIN: 'bin' };
/** M: what is taken without the option, and what it may be. */
const LINKS = 16;
const LINKS_MIN = 4;
const LINKS_MAX = 4096;
const EFFORT_MAX = 1_000_000;

interface VectorWishes {
  readonly quantization: Quantization;
  readonly links: number;
  readonly attributes: Bytes | undefined;
}

/**
 * VADD key [REDUCE dim] FP32|VALUES vector element [CAS] [NOQUANT|Q8|BIN] [EF n] [SETATTR json] [M n]. With CAS the server
 * looks for neighbours in a thread. Here nothing takes so long.
 */
export function addVector(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VADD', 5, Infinity);
  const given = givenVector(argv, 2, true);
  const element = argv[given.next];
  checkWords(argv, 'VADD', given.next + 1, Infinity);
  const wishes = readWishes(argv, given.next + 1);
  const key = argv[1] ?? '';
  return opened(client, key, () => {
    const { db } = client;
    const known = db.get(key, 'vectorset');
    const set = known ?? makeSet(given, wishes);
    if (known !== undefined) checkFit(known, given, wishes);
    const { projection } = set;
    const vector = projection === undefined ? given.vector : project(projection, given.vector);
    if (known === undefined) db.put(key, set);
    const added = set.add(element ?? '', vector, wishes.attributes);
    // A new vector of a known element is not replicated.
    return { reply: added, replicates: added };
  });
}

function readWishes(argv: readonly Bytes[], start: number): VectorWishes {
  let quantization: Quantization = 'int8';
  let links = LINKS;
  let attributes: Bytes | undefined;
  for (let at = start; at < argv.length; at++) {
    const option = keyword(argv, at);
    const value = argv[at + 1];
    const wanted = Object.hasOwn(QUANTIZATION, option) ? QUANTIZATION[option] : undefined;
    if (wanted !== undefined) quantization = wanted;
    else if (option === 'CAS') continue;
    else if (value === undefined) fail('ERR invalid option after element');
    else {
      if (option === 'EF') atLeast(1, value, 'ERR invalid EF', EFFORT_MAX);
      else if (option === 'M') links = atLeast(LINKS_MIN, value, 'ERR invalid M', LINKS_MAX);
      else if (option === 'SETATTR') attributes = value;
      else fail('ERR invalid option after element');
      at++;
    }
  }
  return { quantization, links, attributes };
}

function makeSet({ vector, reduced }: GivenVector, { quantization, links }: VectorWishes): VectorSet {
  if (reduced === 0) return new VectorSet({ dimension: vector.length, quantization, links });
  if (!isProjectable(vector.length, reduced)) fail('ERR invalid vector specification');
  const projection = makeProjection(vector.length, reduced);
  return new VectorSet({ dimension: reduced, quantization, links, projection });
}

/** Throws unless the set stores such vectors in this way. */
function checkFit(
  set: VectorSet,
  { vector, reduced }: GivenVector,
  { quantization, links }: VectorWishes,
): void {
  const { projection } = set;
  if (set.quantization !== quantization) fail('ERR asked quantization mismatch with existing vector set');
  if (set.links !== links) fail('ERR asked M value mismatch with existing vector set');
  const dimension = projection === undefined ? vector.length : reduced;
  if (dimension !== set.dimension) wrongDimension(set, vector.length);
  if (projection === undefined) {
    if (reduced !== 0) fail('ERR cannot add projection to existing set without projection');
  } else if (vector.length !== projection.from) wrongInput(projection.from, vector.length);
}
