/** Counts the values that Redis would free in another thread, for `lazyfreed_objects` of INFO. Here nothing is freed by hand. */
import type { Entry } from '../../keyspace/entry.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import type { HasSettings } from '../ports.ts';
import { encodingOf } from '../settings/encodings.ts';

/** A value that takes more steps than this to free is freed in another thread. */
const STEPS_MAX = 64;

/** About how many steps it takes to free a value: Redis estimates it from the value's representation. */
function steps(entry: Entry, runLength: number): number {
  const value = entry.held;
  if (typeof value === 'string' || value.type === 'string' || value.type === 'list' || value.type === 'own')
    return 1;
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

/**
 * True if FLUSHALL, FUNCTION FLUSH and SCRIPT FLUSH free in another thread.
 * @param mode SYNC or ASYNC; undefined if the command does not say
 */
export function flushesLazily({ settings }: HasSettings, mode: Bytes | undefined): boolean {
  return mode === undefined ? settings['lazyfree-lazy-user-flush'] : mode === 'ASYNC';
}

/** Counts functions or scripts that were flushed lazily: few of them are freed at once. `more` is freed with many. */
export function countFlushed(stats: { lazyFreed: number }, objects: number, more = 0): void {
  if (objects > STEPS_MAX) stats.lazyFreed += objects + more;
}
