/**
 * The form of vector sets in RDB: that of the module `vectorset`, with the links of each element, so that real servers can
 * search along them (https://github.com/redis/redis/tree/unstable/modules/vector-sets).
 */
import { badFormat } from '../format/errors.ts';
import type { RdbReader } from '../format/reader.ts';
import type { RdbWriter } from '../format/writer.ts';
import { link } from '../vector/graph.ts';
import type { VectorNode } from '../vector/node.ts';
import type { Projection } from '../vector/projection.ts';
import { distance, QUANTIZATIONS, type Quantization, type Stored } from '../vector/quantization.ts';
import { VectorSet } from '../vector/vector-set.ts';
import type { RdbFormat } from './formats.ts';
import { ModuleReader, type ModuleType, ModuleWriter } from './modules.ts';

export const VECTOR_SET: ModuleType = { name: 'vectorset', version: 0 };

const HAS_PROJECTION = 1;
const HAS_ATTRIBUTES = 2;
/** Where the version of an element's form is, above its number of layers. Version 1 added the farthest links. */
const NODE_VERSION_SHIFT = 24;
/** M of sets that were stored before it could be chosen. */
const DEFAULT_LINKS = 16;
/** The most links that an element has on a layer. */
const LINKS_MAX = 4096 * 4;

const scratch = new DataView(new ArrayBuffer(8));

/** Two 32-bit floats as one number, the second in the upper half. */
function packFloats(low: number, high: number): bigint {
  scratch.setFloat32(0, low, true);
  scratch.setFloat32(4, high, true);
  return scratch.getBigUint64(0, true);
}

function unpackFloats(packed: number | bigint): [low: number, high: number] {
  scratch.setBigUint64(0, BigInt(packed), true);
  return [scratch.getFloat32(0, true), scratch.getFloat32(4, true)];
}

function bytesOf({ buffer, byteOffset, byteLength }: Stored['data']): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Writes a vector set, and links its elements before if they are not linked yet. */
export function writeVectorSet(target: RdbWriter, set: VectorSet, format: RdbFormat): void {
  const nodes = [...set.nodes()];
  link(nodes, set);
  const out = new ModuleWriter(target, VECTOR_SET);
  const attributed = set.attributed > 0;
  out.unsigned(set.dimension);
  out.unsigned(nodes.length);
  out.unsigned(QUANTIZATIONS[set.quantization] | (set.links << 8));
  out.unsigned((set.projection === undefined ? 0 : HAS_PROJECTION) | (attributed ? HAS_ATTRIBUTES : 0));
  if (set.projection !== undefined) {
    out.unsigned(set.projection.from);
    out.blob(bytesOf(set.projection.matrix));
  }
  // The newest first, as the server has them in its list.
  for (const node of nodes.reverse()) {
    out.string(node.element);
    if (attributed) out.string(node.attributes ?? '');
    out.blob(bytesOf(node.data));
    const numbers = describe(node, set, format);
    out.unsigned(numbers.length);
    for (const number of numbers) out.unsigned(number);
  }
  out.end();
}

/** The numbers that are stored of an element besides its vector: its id, its links on each layer, and its length. */
function describe(node: VectorNode, set: VectorSet, { farthestLinks }: RdbFormat): (number | bigint)[] {
  const layers = node.layers ?? [[]];
  const numbers: (number | bigint)[] = [
    node.id,
    (layers.length - 1) | (+farthestLinks << NODE_VERSION_SHIFT),
  ];
  for (const [layer, links] of layers.entries()) {
    const room = layer === 0 ? 2 * set.links : set.links;
    numbers.push(links.length, Math.max(room, links.length), ...links.map(({ id }) => id));
    if (farthestLinks) numbers.push(farthest(node, links, set));
  }
  numbers.push(packFloats(node.length, node.range));
  return numbers;
}

/** The position of the farthest link in the lower half, and its distance as a 32-bit float in the upper half. */
function farthest(node: VectorNode, links: readonly VectorNode[], set: VectorSet): bigint {
  let at = 0;
  let most = 0;
  for (const [i, other] of links.entries()) {
    const away = distance(node, other, set.quantization, set.dimension);
    if (away > most) {
      most = away;
      at = i;
    }
  }
  return packFloats(0, most) | BigInt(at);
}

/** Reads a vector set behind the number of its type. Throws RdbError for invalid data. */
export function readVectorSet(source: RdbReader, { version }: ModuleType, format: RdbFormat): VectorSet {
  if (version !== VECTOR_SET.version) throw badFormat(`version ${version} of a vector set`);
  const input = new ModuleReader(source);
  const dimension = input.count();
  if (dimension === 0) throw badFormat('dimension');
  const size = input.length();
  const config = input.count();
  const flags = input.count();
  const quantization = quantizationOf(config & 0xff);
  const links = (config >>> 8) & 0xffff || DEFAULT_LINKS;
  const projection = flags & HAS_PROJECTION ? readProjection(input, dimension) : undefined;
  const set = new VectorSet({ dimension, quantization, links, projection });
  const loaded = new Map<number, Loaded>();
  for (let i = 0; i < size; i++) {
    const element = input.string();
    const attributes = flags & HAS_ATTRIBUTES ? input.string() || undefined : undefined;
    const data = readVector(input.blob(), set);
    const numbers = Array.from({ length: input.length() }, () => input.unsigned());
    const node = place(set, { element, attributes, data }, numbers, format);
    if (loaded.has(node.node.id)) throw badFormat('id of a vector twice');
    loaded.set(node.node.id, node);
  }
  input.end();
  resolve(loaded);
  return set;
}

function quantizationOf(number: number): Quantization {
  for (const [name, each] of Object.entries(QUANTIZATIONS)) if (each === number) return name as Quantization;
  throw badFormat(`quantization ${number}`);
}

function readProjection(input: ModuleReader, to: number): Projection {
  const from = input.count();
  const data = input.blob();
  if (data.length !== from * to * 4) throw badFormat('projection matrix');
  return { from, to, matrix: floats(data) };
}

function floats(data: Buffer): Float32Array {
  return new Float32Array(Uint8Array.from(data).buffer);
}

function readVector(data: Buffer, set: VectorSet): Stored['data'] {
  if (data.length !== set.vectorBytes) throw badFormat('dimension of a vector');
  if (set.quantization === 'f32') return floats(data);
  return set.quantization === 'int8' ? Int8Array.from(data) : Uint8Array.from(data);
}

/** An element, and the ids that it is linked with on each layer. */
interface Loaded {
  readonly node: VectorNode;
  readonly layers: readonly (readonly number[])[];
}

function place(
  set: VectorSet,
  content: Pick<VectorNode, 'element' | 'attributes' | 'data'>,
  numbers: readonly (number | bigint)[],
  { farthestLinks }: RdbFormat,
): Loaded {
  let at = 0;
  const next = (): number => {
    const number = numbers[at++];
    if (typeof number !== 'number') throw badFormat('links of a vector');
    return number;
  };
  const id = next();
  const form = next();
  const version = form >>> NODE_VERSION_SHIFT;
  if (id === 0 || version > +farthestLinks) throw badFormat('vector');
  if (set.get(content.element) !== undefined) throw badFormat('element twice');
  const layers: number[][] = [];
  for (let layer = 0; layer <= (form & 0xff); layer++) {
    const count = next();
    const room = next();
    if (count > room || room > LINKS_MAX) throw badFormat('number of links');
    layers.push(Array.from({ length: count }, next));
    // The farthest link is worked out again when it is written.
    if (version > 0) at++;
  }
  if (at !== numbers.length - 1) throw badFormat('links of a vector');
  const [length, range] = unpackFloats(numbers[at]!);
  const node: VectorNode = { ...content, id, length, range, layers: [] };
  set.place(node);
  return { node, layers };
}

/** Replaces ids by elements. Links must go both ways, and not twice. */
function resolve(loaded: ReadonlyMap<number, Loaded>): void {
  for (const { node, layers } of loaded.values()) {
    node.layers = layers.map((ids, layer) => {
      if (new Set(ids).size !== ids.length) throw badFormat('link twice');
      return ids.map((id) => {
        const other = loaded.get(id);
        if (other === undefined || other.node === node) throw badFormat('link to no vector');
        if (!other.layers[layer]?.includes(node.id)) throw badFormat('link in one direction');
        return other.node;
      });
    });
  }
}
