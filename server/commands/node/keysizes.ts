/** INFO's section keysizes: how many keys of each type have which size, by powers of two. */
import type { Keyspace } from '../../../keyspace/keyspace.ts';
import { typeOf } from '../../../keyspace/value.ts';
import type { Bytes } from '../../../protocol/bytes.ts';

const NAMES: readonly (readonly [type: string, name: string])[] = [
  ['string', 'strings_sizes'],
  ['list', 'lists_items'],
  ['set', 'sets_items'],
  ['zset', 'zsets_items'],
  ['hash', 'hashes_items'],
];

const UNITS = ['', 'K', 'M', 'G', 'T'];

/** Prints a power of two with its unit: 1024 is 1K. */
function printSize(size: number): Bytes {
  let [rest, unit] = [size, 0];
  for (; rest >= 1024; unit++) rest /= 1024;
  return `${rest}${UNITS[unit]}`;
}

/** The numbers of keys of each type, by size. */
type SizeCounts = Map<string, Map<number, number>>;

/**
 * How many keys are counted. With more keys, the numbers are estimated from so many: counting a million takes a tenth of
 * a second, in which nobody is served, and clients send INFO whenever they connect. Redis counts while it writes, which
 * each write would have to pay for here.
 */
const COUNTED = 10_000;

/** Counts each key at the largest power of two that is not above its size. */
function count(entries: Keyspace['entries']): SizeCounts {
  const counts: SizeCounts = new Map();
  const step = Math.max(1, Math.ceil(entries.size / COUNTED));
  for (const { held } of entries.unordered(step)) {
    if (typeof held !== 'string' && held.type === 'stream') continue;
    const type = typeOf(held);
    const size = typeof held === 'string' || held.type === 'string' ? held.length : held.size;
    const bin = size === 0 ? 0 : 2 ** Math.floor(Math.log2(size));
    let sizes = counts.get(type);
    if (sizes === undefined) counts.set(type, (sizes = new Map()));
    sizes.set(bin, (sizes.get(bin) ?? 0) + step);
  }
  return counts;
}

/** The fields of one database. */
export function* keySizes(db: Keyspace): Iterable<readonly [string, string]> {
  const counts = count(db.entries);
  for (const [type, name] of NAMES) {
    const sizes = [...(counts.get(type) ?? [])].sort(([a], [b]) => a - b);
    if (sizes.length === 0) continue;
    const text = sizes.map(([size, keys]) => `${printSize(size)}=${keys}`).join(',');
    yield [`db${db.index}_distrib_${name}`, text];
  }
}
