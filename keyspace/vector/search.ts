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
 * The nearest elements, the nearest first. Elements at the same distance come in the order in which VSIM with TRUTH has
 * them: while there is room the older first, then whoever came first stays.
 * @param most how many to return at most
 * @param accepts says which elements count; all when it is left out
 */
export function nearest(
  set: VectorSet,
  query: Stored,
  most: number,
  accepts: (node: VectorNode) => boolean = () => true,
): Neighbour[] {
  // The farthest first, so that the one to be displaced is at the beginning. The comparisons are such that a distance
  // that is no number, from infinite components, has its place as in the server.
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
