/** The commands on single elements of vector sets (https://redis.io/docs/latest/commands/?group=vector_set). */
import type { VectorNode } from '../../../keyspace/vector/node.ts';
import type { VectorSet } from '../../../keyspace/vector/vector-set.ts';
import { approximate, type Bytes, fromBuffer, parseInteger } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { Double, type Reply, SimpleString } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { randomNumbers } from '../keys/picking.ts';
import { checkWords, keyword, opened } from './parts.ts';

/** The node of an element for a reading command; undefined when the key or the element does not exist. */
export function found(
  client: Caller,
  argv: readonly Bytes[],
): { set: VectorSet; node: VectorNode } | undefined {
  const set = client.db.read(argv[1] ?? '', 'vectorset');
  const node = set?.get(argv[2] ?? '');
  return set === undefined || node === undefined ? undefined : { set, node };
}

/** VEMB key element [RAW] */
export function embedding(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VEMB', 3, Infinity);
  for (let at = 3; at < argv.length; at++) if (keyword(argv, at) !== 'RAW') fail('ERR invalid option');
  const place = found(client, argv);
  if (place === undefined) return null;
  const { set, node } = place;
  if (argv.length === 3) return [...set.vectorOf(node)].map((component) => new Double(component));
  const { data, length, range } = node;
  const stored = fromBuffer(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  const raw = [new SimpleString(set.quantization), stored, new Double(length)];
  return set.quantization === 'int8' ? [...raw, new Double(range)] : raw;
}

/** VISMEMBER key element */
export function isElement(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VISMEMBER', 3);
  return found(client, argv) !== undefined;
}

/** VGETATTR key element */
export function attributesOf(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VGETATTR', 3);
  return found(client, argv)?.node.attributes ?? null;
}

/** VSETATTR key element json. An empty text removes the attributes. */
export function setAttributes(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VSETATTR', 4);
  const [, key = '', element = '', json = ''] = argv;
  return opened(client, key, () => {
    const set = client.db.get(key, 'vectorset');
    const node = set?.get(element);
    if (node !== undefined) set?.describe(node, json === '' ? undefined : json);
    return { reply: node !== undefined, replicates: node !== undefined };
  });
}

/** VREM key element. The key goes with its last element, and no event tells of it. */
export function removeElement(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VREM', 3);
  const [, key = '', element = ''] = argv;
  return opened(client, key, () => {
    const set = client.db.get(key, 'vectorset');
    const removed = set?.delete(element) ?? false;
    if (removed && set?.size === 0) client.db.remove(key);
    return { reply: removed, replicates: removed };
  });
}

/** The share of a set from which on random elements are neighbours in the order of age. */
const LARGE_SHARE = 0.2;

/** VRANDMEMBER key [count]. A negative count allows the same element several times. */
export function randomElements(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VRANDMEMBER', 2, 3);
  const text = argv[2];
  const count =
    text === undefined ? 1 : approximate(parseInteger(text) ?? fail('ERR COUNT value is not an integer'));
  if (count === 0) return [];
  const set = client.db.read(argv[1] ?? '', 'vectorset');
  if (set === undefined) return text === undefined ? null : [];
  const nodes = [...set.nodes()];
  const random = (): number => client.server.host.random();
  const element = (at: number): Bytes => nodes[at]!.element;
  if (text === undefined) return element(Math.floor(random() * nodes.length));
  if (count <= nodes.length * LARGE_SHARE) return randomNumbers(nodes.length, count, random).map(element);
  // The server then walks its list, the newest first, from a random element.
  const start = Math.floor(random() * nodes.length);
  const { length } = nodes;
  return Array.from({ length: Math.min(count, length) }, (_, i) => element((start - i + length) % length));
}
