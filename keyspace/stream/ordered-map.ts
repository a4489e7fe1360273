/** A map from bigint keys in ascending order, based on sorted-btree. */
import { EmptyBTree } from 'sorted-btree';

/** A B+ tree from stream ids to pending entries: the methods of sorted-btree that are used. */
export interface OrderedMap<V> {
  readonly size: number;
  get(key: bigint): V | undefined;
  /** Sets a value; true when the key is new. */
  set(key: bigint, value: V): boolean;
  /** Deletes a key; false when it does not exist. */
  delete(key: bigint): boolean;
  /**
   * Keys in ascending order, from the first key that is not below `from`. Nothing may be deleted during the iteration.
   */
  keys(from?: bigint): IterableIterator<bigint>;
  keysArray(): bigint[];
  /** The least and the greatest key; undefined when there is none. */
  minKey(): bigint | undefined;
  maxKey(): bigint | undefined;
  /** The values in the order of `keys`. */
  values(from?: bigint): IterableIterator<V>;
}

type CompareIds = (a: bigint, b: bigint) => number;

type Class = new <V>(entries: undefined, compare: CompareIds) => OrderedMap<V>;

// The class is the CommonJS module's `default`, which Node, bundlers, Vitest and TypeScript each import differently.
// Its only instance that is exported by name leads to the class in all of them. The package loads the module with the first map
// (tools/build.ts).
let BTree: Class | undefined;

/** An empty map. */
export function orderedMap<V>(): OrderedMap<V> {
  BTree ??= EmptyBTree.constructor as unknown as Class;
  return new BTree<V>(undefined, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
