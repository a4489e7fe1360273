/**
 * The links between the elements of a vector set. Search here needs none: they exist for VLINKS, and for the servers that
 * load our RDB and search along them. A graph that was loaded keeps its links; an element added here gets links to the
 * nearest of the older elements, on the lowest layer.
 */
import type { VectorNode, VectorSetShape } from './node.ts';
import { distance } from './quantization.ts';

/** Links the elements that have no links yet, oldest first. O(n) for each of them. */
export function link(nodes: Iterable<VectorNode>, shape: VectorSetShape): void {
  const linked: VectorNode[] = [];
  const fresh: VectorNode[] = [];
  for (const node of nodes) (node.layers === undefined ? fresh : linked).push(node);
  for (const node of fresh) {
    const chosen = partners(node, linked, shape);
    node.layers = [[]];
    for (const other of chosen) join(node, other, 0);
    linked.push(node);
  }
}

/**
 * The elements to link a new one with: the nearest that have room, as many as the set wants. At least one is returned,
 * so that every element can be reached from every other.
 */
function partners(node: VectorNode, linked: readonly VectorNode[], shape: VectorSetShape): VectorNode[] {
  const { links, quantization, dimension } = shape;
  // The nearest first.
  const chosen: { other: VectorNode; away: number }[] = [];
  let nearest: VectorNode | undefined;
  let least = Infinity;
  for (const other of linked) {
    const away = distance(node, other, quantization, dimension);
    if (nearest === undefined || away < least) {
      nearest = other;
      least = away;
    }
    if ((other.layers?.[0]?.length ?? 0) >= 2 * links) continue;
    if (chosen.length === links && !(away < chosen[links - 1]!.away)) continue;
    let at = chosen.length;
    while (at > 0 && chosen[at - 1]!.away > away) at--;
    chosen.splice(at, 0, { other, away });
    if (chosen.length > links) chosen.pop();
  }
  if (chosen.length > 0) return chosen.map(({ other }) => other);
  return nearest === undefined ? [] : [nearest];
}

function join(a: VectorNode, b: VectorNode, layer: number): void {
  a.layers?.[layer]?.push(b);
  b.layers?.[layer]?.push(a);
}

/** Removes an element's links. Its former neighbours are linked in a chain, so that none is cut off. */
export function unlink(node: VectorNode): void {
  for (const [layer, links] of (node.layers ?? []).entries()) {
    for (const other of links) {
      const back = other.layers?.[layer];
      back?.splice(back.indexOf(node), 1);
    }
    for (let i = 1; i < links.length; i++) {
      const [a, b] = [links[i - 1]!, links[i]!];
      if (!a.layers?.[layer]?.includes(b)) join(a, b, layer);
    }
  }
  node.layers = undefined;
}
