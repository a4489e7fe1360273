/** Finds the elements of a vector set that are nearest to a vector, by comparing it with each of them. */
import type { VectorNode } from './node.ts';
import { distance, type Stored } from './quantization.ts';
import type { VectorSet } from './vector-set.ts';

/** An element and its distance: 0 for the same direction, 2 for the opposite. */
export interface Neighbour {
  readonly node: VectorNode;
  readonly distance: number;
}

/**
 * Returns the nearest elements, the nearest first. Elements at the same distance have the order of VSIM with TRUTH: the
 * newest elements are visited first, up to `most` of them are sorted with the older one first, and an element that
 * is visited later displaces another one only if it is nearer.
 * @param most how many to return at most
 * @param accepts says which elements count; all when it is left out
 */
export function nearest(
  set: VectorSet,
  query: Stored,
  most: number,
  accepts: (node: VectorNode) => boolean = () => true,
): Neighbour[] {
  // The farthest element is at the beginning, where it is removed. Distances may be NaN, from infinite components: the
  // comparisons are written so that these elements have the same places as in the server.
  const found: Neighbour[] = [];
  const nodes = [...set.nodes()];
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]!;
    if (!accepts(node)) continue;
    const away = distance(query, node, set.quantization, set.dimension);
    if (found.length < most) {
      let at = found.length;
      while (at > 0 && found[at - 1]!.distance < away) at--;
      found.splice(at, 0, { node, distance: away });
    } else if (most > 0 && !(away >= found[0]!.distance)) {
      let at = 1;
      while (at < most && found[at]!.distance > away) at++;
      found.splice(at, 0, { node, distance: away });
      found.shift();
    }
  }
  return found.reverse();
}
