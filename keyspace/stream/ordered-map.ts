/** A map in ascending order of keys that are bigints, on sorted-btree. */
import { EmptyBTree } from 'sorted-btree';

/** A B+ tree from stream ids to what is pending under them: what we use of sorted-btree's class. */
export interface OrderedMap<V> {
  readonly size: number;
  get(key: bigint): V | undefined;
  /** True when the key is new. */
  set(key: bigint, value: V): boolean;
  /** True when there was one. */
  delete(key: bigint): boolean;
  /** In ascending order, from the first key that is not below `from`. Nothing may be deleted meanwhile. */
  keys(from?: bigint): IterableIterator<bigint>;
  keysArray(): bigint[];
  /** As `keys`. */
  values(from?: bigint): IterableIterator<V>;
}

type CompareIds = (a: bigint, b: bigint) => number;

// The class is the CommonJS module's `default`, which Node, bundlers, vitest and TypeScript each import differently; its
// one instance that is exported by name leads to it everywhere.
const BTree = EmptyBTree.constructor as unknown as new <V>(
  entries: undefined,
  compare: CompareIds,
) => OrderedMap<V>;

export function orderedMap<V>(): OrderedMap<V> {
  return new BTree<V>(undefined, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
