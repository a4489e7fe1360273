/** The size of the radix tree in which Redis would store a stream's runs, for XINFO STREAM. */
import { toBuffer } from '../../protocol/bytes.ts';
import { idBytes } from './id.ts';
import type { StreamValue } from './stream.ts';

/** What was counted last. The tree changes only when a run comes or goes, and counting takes long for many runs. */
const counted = new WeakMap<StreamValue, { readonly shape: number; readonly nodes: number }>();

/** The number of nodes of the tree: one per fork, per run of bytes without a fork, and per end of a key. */
export function radixTreeNodes(stream: StreamValue): number {
  const { shape } = stream;
  const last = counted.get(stream);
  if (last?.shape === shape) return last.nodes;
  const nodes = count(stream);
  counted.set(stream, { shape, nodes });
  return nodes;
}

function count(stream: StreamValue): number {
  const keys = stream.nodes().map((node) => toBuffer(idBytes(node.headId)));
  return keys.length === 0 ? 1 : countNodes(keys, 0, keys.length, 0);
}

/** The number of nodes for the sorted keys [from, to), which agree in the bytes before `depth`. */
function countNodes(keys: readonly Buffer[], from: number, to: number, depth: number): number {
  const first = keys[from]!;
  const last = keys[to - 1]!;
  let fork = depth;
  while (fork < first.length && first[fork] === last[fork]) fork++;
  const stretch = fork > depth ? 1 : 0;
  if (fork === first.length) return stretch + 1;
  let count = stretch + 1;
  for (let start = from; start < to; ) {
    let end = start + 1;
    while (end < to && keys[end]![fork] === keys[start]![fork]) end++;
    count += countNodes(keys, start, end, fork + 1);
    start = end;
  }
  return count;
}
