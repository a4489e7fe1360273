/** Counts the values that Redis would free in another thread, for `lazyfreed_objects` of INFO. Here nothing is freed by hand. */
import type { Entry } from '../../keyspace/entry.ts';
import { encodingOf } from '../settings/encodings.ts';

/** A value that takes more steps than this to free is freed in another thread. */
const STEPS_MAX = 64;

/** About how many steps it takes to free a value: Redis estimates it from the value's representation. */
function steps(entry: Entry, runLength: number): number {
  const value = entry.held;
  if (typeof value === 'string' || value.type === 'string' || value.type === 'list') return 1;
  if (value.type === 'stream') {
    const [group] = value.groups.values();
    const runs = Math.ceil(value.length / Math.max(1, runLength));
    return group === undefined ? runs : runs + value.groups.size * (1 + group.pending.size);
  }
  return ['hashtable', 'skiplist'].includes(encodingOf(entry)) ? value.size : 1;
}

/**
 * True if UNLINK frees the value in another thread.
 * @param runLength how many entries a run of a stream has at most: `stream-node-max-entries`
 */
export function isFreedLazily(entry: Entry, runLength: number): boolean {
  return steps(entry, runLength) > STEPS_MAX;
}
