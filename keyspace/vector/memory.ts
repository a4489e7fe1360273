/** Estimates how much memory a vector set would use in redis-server, with the terms of its own estimate. */
import type { VectorSet } from './vector-set.ts';

/** The sizes in bytes of an empty set, of an element without its vector and links, and of its place in the table of names. */
const EMPTY = 1784;
const NODE = 312;
const PLACE = 16;
const POINTER = 8;
/** A layer's own size, for the average number of layers. */
const LAYERS = 32;
/** How many elements are looked at for the average length of names and attributes. */
const SAMPLE = 20;
/** What attributes count if none were seen. */
const UNSEEN = 64;

/** The size without names and attributes. */
function frame(set: VectorSet): number {
  const links = Math.floor((POINTER * set.links * set.size) / 3);
  const matrix = set.projection === undefined ? 0 : set.projection.matrix.byteLength;
  return (
    EMPTY + matrix + set.size * (NODE + set.vectorBytes + LAYERS + POINTER * 2 * set.links + PLACE) + links
  );
}

/**
 * The size of a set in bytes, from the sum of the lengths of its texts. O(1).
 * @param header what a text has besides its characters, in bytes
 */
export function vectorSetSize(set: VectorSet, header: number): number {
  return frame(set) + set.bytes + header * (set.size + set.attributed);
}

/**
 * The size of a set in bytes, as MEMORY USAGE reports it.
 * @param sizeOf returns the size of a string by its length
 */
export function vectorSetUsage(set: VectorSet, sizeOf: (length: number) => number): number {
  const newest = [...set.nodes()].slice(-SAMPLE);
  const average = (lengths: readonly number[], otherwise: number): number => {
    const sum = lengths.reduce((total, length) => total + sizeOf(length), 0);
    return lengths.length === 0 ? otherwise : Math.floor(sum / lengths.length);
  };
  const names = newest.map(({ element }) => element.length);
  const attributes = newest.flatMap((node) =>
    node.attributes === undefined ? [] : [node.attributes.length],
  );
  return frame(set) + set.size * average(names, 0) + set.attributed * average(attributes, UNSEEN);
}
