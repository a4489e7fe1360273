/** A map in ascending order of keys that are bigints, on sorted-btree. */
import type sortedBtree from 'sorted-btree';
import { EmptyBTree } from 'sorted-btree';

// The class is the CommonJS module's `default`, which Node, bundlers and vitest each import differently; its one
// instance that is exported by name leads to it everywhere.
const BTree = EmptyBTree.constructor as typeof sortedBtree.default;

/** A B+ tree from stream ids to what is pending under them. */
export type OrderedMap<V> = sortedBtree.default<bigint, V>;

export function orderedMap<V>(): OrderedMap<V> {
  return new BTree<bigint, V>(undefined, (a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
