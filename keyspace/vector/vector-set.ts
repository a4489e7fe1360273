/** A vector set: elements with a vector each, and perhaps with attributes in JSON. */
import type { Bytes } from '../../protocol/bytes.ts';
import { unlink } from './graph.ts';
import type { VectorNode, VectorSetShape } from './node.ts';
import type { Projection } from './projection.ts';
import { type Quantization, restore, store, storedBytes } from './quantization.ts';

/** The value of a key of type vectorset. */
export class VectorSet implements VectorSetShape {
  readonly type = 'vectorset';
  readonly dimension: number;
  readonly quantization: Quantization;
  readonly links: number;
  readonly projection: Projection | undefined;
  /** A number that no other set of the node has; undefined until it is asked for. */
  uid: number | undefined;
  /** The id of the latest vector. */
  lastId = 0;
  /** How many elements have attributes. */
  attributed = 0;
  /** The total size of the elements and their attributes, in bytes. */
  bytes = 0;
  readonly #nodes = new Map<Bytes, VectorNode>();

  constructor({ dimension, quantization, links, projection }: VectorSetShape) {
    this.dimension = dimension;
    this.quantization = quantization;
    this.links = links;
    this.projection = projection;
  }

  get size(): number {
    return this.#nodes.size;
  }

  encoding(): 'raw' {
    return 'raw';
  }

  /** How many bytes the vector of an element has. */
  get vectorBytes(): number {
    return storedBytes(this.quantization, this.dimension);
  }

  /** The highest layer on which an element has links. */
  get highestLayer(): number {
    let highest = 0;
    for (const { layers } of this.#nodes.values()) highest = Math.max(highest, (layers?.length ?? 1) - 1);
    return highest;
  }

  get(element: Bytes): VectorNode | undefined {
    return this.#nodes.get(element);
  }

  /** The elements, in the order in which they were given their vectors. */
  nodes(): IterableIterator<VectorNode> {
    return this.#nodes.values();
  }

  /**
   * Stores a vector of this set's dimension for an element.
   * @param attributes undefined leaves those that the element has
   * @returns true when the element is new
   */
  add(element: Bytes, vector: Float32Array, attributes?: Bytes): boolean {
    const before = this.#nodes.get(element);
    if (before !== undefined) this.delete(element);
    // An element that exists loses its attributes to an empty text; a new one keeps that text.
    const own =
      before === undefined ? attributes : attributes === '' ? undefined : (attributes ?? before.attributes);
    const stored = store(vector, this.quantization);
    this.place({ id: this.lastId + 1, element, attributes: own, layers: undefined, ...stored });
    return before === undefined;
  }

  /** Adds an element as it is. There is none of that name. */
  place(node: VectorNode): void {
    this.#nodes.set(node.element, node);
    this.lastId = Math.max(this.lastId, node.id);
    this.#count(node, 1);
  }

  /** Removes an element; false when it does not exist. */
  delete(element: Bytes): boolean {
    const node = this.#nodes.get(element);
    if (node === undefined) return false;
    this.#nodes.delete(element);
    unlink(node);
    this.#count(node, -1);
    return true;
  }

  /** Gives an element other attributes, or none. */
  describe(node: VectorNode, attributes: Bytes | undefined): void {
    this.#count(node, -1);
    node.attributes = attributes;
    this.#count(node, 1);
  }

  /** The vector of an element, as far as its stored form has kept it. */
  vectorOf(node: VectorNode): Float32Array {
    return restore(node, this.quantization, this.dimension);
  }

  #count({ element, attributes }: VectorNode, sign: 1 | -1): void {
    this.bytes += sign * (element.length + (attributes?.length ?? 0));
    if (attributes !== undefined) this.attributed += sign;
  }
}
