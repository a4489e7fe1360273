/**
 * The commands on vector sets, which the module `vectorset` brings to Redis 8
 * (https://redis.io/docs/latest/develop/data-types/vector-sets/). They check the number of their words themselves.
 */
import { link } from '../../../keyspace/vector/graph.ts';
import { distance } from '../../../keyspace/vector/quantization.ts';
import type { VectorSet } from '../../../keyspace/vector/vector-set.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail, wrongArity } from '../../../protocol/errors.ts';
import { Double, MapReply, NULL_ARRAY, type Reply, SimpleString } from '../../../protocol/reply.ts';
import type { Caller, Server } from '../../server.ts';
import { type EntryChange, type Flag, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { addVector } from './add.ts';
import {
  attributesOf,
  embedding,
  found,
  isElement,
  randomElements,
  removeElement,
  setAttributes,
} from './elements.ts';
import { checkWords, keyword } from './parts.ts';
import { elementsBetween } from './range.ts';
import { similarElements } from './similar.ts';

function sizeOf(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VCARD', 2);
  return client.db.read(argv[1] ?? '', 'vectorset')?.size ?? 0;
}

function dimensionOf(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VDIM', 2);
  return client.db.read(argv[1] ?? '', 'vectorset')?.dimension ?? fail('ERR key does not exist');
}

/** VLINKS key element [WITHSCORES]: the linked elements on each layer, the highest first. */
function linksOf(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VLINKS', 3, 4);
  const scored = argv.length === 4;
  if (scored && keyword(argv, 3) !== 'WITHSCORES') throw wrongArity('VLINKS');
  const place = found(client, argv);
  if (place === undefined) return null;
  const { set, node } = place;
  link(set.nodes(), set);
  const { quantization, dimension } = set;
  const layers = (node.layers ?? []).map((links): Reply => {
    if (!scored) return links.map(({ element }) => element);
    return new MapReply(
      links.flatMap((other) => {
        const away = distance(node, other, quantization, dimension);
        return [other.element, new Double(Math.fround(1 - away / 2))];
      }),
    );
  });
  return layers.reverse();
}

/** The number of the latest set that was numbered on a node. */
const latest = new WeakMap<Server, number>();

/** The set's number on this node. It is given when it is first asked for. */
function uidOf(server: Server, set: VectorSet): number {
  if (set.uid === undefined) {
    set.uid = (latest.get(server) ?? -1) + 1;
    latest.set(server, set.uid);
  }
  return set.uid;
}

function describeSet(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VINFO', 2);
  const set = client.db.read(argv[1] ?? '', 'vectorset');
  if (set === undefined) return NULL_ARRAY;
  const fields: readonly (readonly [Bytes, Reply])[] = [
    ['quant-type', new SimpleString(set.quantization)],
    ['hnsw-m', set.links],
    ['vector-dim', set.dimension],
    ['projection-input-dim', set.projection?.from ?? 0],
    ['size', set.size],
    ['max-level', set.highestLayer],
    ['attributes-count', set.attributed],
    ['vset-uid', uidOf(client.server, set)],
    ['hnsw-max-node-uid', set.lastId],
  ];
  return new MapReply(fields.flatMap(([name, value]) => [new SimpleString(name), value]));
}

const READS: readonly Flag[] = ['readonly', 'module'];
const READS_FAST: readonly Flag[] = ['readonly', 'module', 'fast'];

/** From Redis 8.6 on, the server checks the number of words too, as for its own commands. */
const wordsFrom86 = (arity: number): EntryChange[] => [{ since: '8.6.0', arity }];

const about = { since: '8.0.0', module: 'vectorset', arity: -1, keys: key('RW ACCESS UPDATE') } as const;

export const vectorSetCommands = defineCommands('module', {
  vadd: {
    ...about,
    changes: wordsFrom86(-5),
    summary: 'Adds an element with its vector to a vector set, or gives an element a new vector.',
    complexity: 'O(N) with N the dimension of the vector',
    flags: ['write', 'denyoom', 'module'],
    run: addVector,
  },
  vrem: {
    ...about,
    changes: wordsFrom86(3),
    summary: 'Removes an element, and the vector set with its last one.',
    complexity: 'O(1)',
    flags: ['write', 'module'],
    run: removeElement,
  },
  vsim: {
    ...about,
    changes: wordsFrom86(-4),
    summary: 'Returns the elements whose vectors are nearest to a vector or to that of an element.',
    complexity: 'O(N*M) with N the number of elements and M their dimension',
    flags: READS,
    run: similarElements,
  },
  vdim: {
    ...about,
    changes: wordsFrom86(2),
    summary: 'Returns the dimension of the stored vectors.',
    complexity: 'O(1)',
    flags: READS_FAST,
    run: dimensionOf,
  },
  vcard: {
    ...about,
    changes: wordsFrom86(2),
    summary: 'Counts the elements of a vector set.',
    complexity: 'O(1)',
    flags: READS_FAST,
    run: sizeOf,
  },
  vemb: {
    ...about,
    changes: wordsFrom86(-3),
    summary: 'Returns the vector of an element, as far as its stored form has kept it.',
    complexity: 'O(N) with N the dimension of the vector',
    flags: READS_FAST,
    run: embedding,
  },
  vlinks: {
    ...about,
    changes: wordsFrom86(-3),
    summary: 'Returns the elements that an element is linked with.',
    complexity: 'O(N*M) for each element added since links were last asked for, N elements of dimension M',
    flags: READS_FAST,
    run: linksOf,
  },
  vinfo: {
    ...about,
    changes: wordsFrom86(2),
    summary: 'Describes a vector set.',
    complexity: 'O(N) with N the number of elements',
    flags: READS_FAST,
    run: describeSet,
  },
  vsetattr: {
    ...about,
    changes: wordsFrom86(4),
    summary: 'Sets the attributes of an element, or removes them.',
    complexity: 'O(1)',
    flags: ['write', 'module', 'fast'],
    run: setAttributes,
  },
  vgetattr: {
    ...about,
    changes: wordsFrom86(3),
    summary: 'Returns the attributes of an element.',
    complexity: 'O(1)',
    flags: READS_FAST,
    run: attributesOf,
  },
  vrandmember: {
    ...about,
    changes: wordsFrom86(-2),
    summary: 'Returns random elements.',
    complexity: 'O(N) with N the number of elements',
    flags: READS,
    run: randomElements,
  },
  vrange: {
    ...about,
    summary: 'Returns the elements between two names, in the order of their bytes.',
    since: '8.4.0',
    arity: -4,
    complexity: 'O(N log N) with N the number of elements',
    flags: READS,
    run: elementsBetween,
  },
  vismember: {
    ...about,
    changes: wordsFrom86(3),
    summary: 'Checks whether an element is in a vector set.',
    complexity: 'O(1)',
    flags: READS,
    run: isElement,
  },
});
