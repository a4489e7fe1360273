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

/** The fields of one database. A key is counted at the largest power of two that is not above its size. */
export function* keySizes(db: Keyspace): Iterable<readonly [string, string]> {
  const counts = new Map<string, Map<number, number>>();
  for (const { held } of db.entries.unordered()) {
    if (typeof held !== 'string' && held.type === 'stream') continue;
    const type = typeOf(held);
    const size = typeof held === 'string' || held.type === 'string' ? held.length : held.size;
    const bin = size === 0 ? 0 : 2 ** Math.floor(Math.log2(size));
    let sizes = counts.get(type);
    if (sizes === undefined) counts.set(type, (sizes = new Map()));
    sizes.set(bin, (sizes.get(bin) ?? 0) + 1);
  }
  for (const [type, name] of NAMES) {
    const sizes = [...(counts.get(type) ?? [])].sort(([a], [b]) => a - b);
    if (sizes.length === 0) continue;
    const text = sizes.map(([size, keys]) => `${printSize(size)}=${keys}`).join(',');
    yield [`db${db.index}_distrib_${name}`, text];
  }
}
