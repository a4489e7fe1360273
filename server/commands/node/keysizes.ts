/** INFO's section keysizes: how many keys of each type have which size, by powers of two. */
import type { Keyspace } from '../../../keyspace/keyspace.ts';
import type { Bytes } from '../../../protocol/bytes.ts';

const NAMES: readonly (readonly [type: string, name: string])[] = [
  ['string', 'strings_sizes'],
  ['list', 'lists_items'],
  ['set', 'sets_items'],
  ['zset', 'zsets_items'],
  ['hash', 'hashes_items'],
];

const TYPES: readonly string[] = NAMES.map(([type]) => type);

const UNITS = ['', 'K', 'M', 'G', 'T'];

/** Prints a power of two with its unit: 1024 is 1K. */
function printSize(size: number): Bytes {
  let [rest, unit] = [size, 0];
  for (; rest >= 1024; unit++) rest /= 1024;
  return `${rest}${UNITS[unit]}`;
}

/**
 * How many keys are counted. With more keys, this many of them are counted, and the numbers are estimates. Counting a
 * million takes more than 100 ms, in which no client is served, and many clients send INFO whenever they connect. Redis
 * counts at every write, and lostlock would have to make each write slower for that.
 */
const COUNTED = 10_000;

/** The number of bins of a type: sizes are below 2^53. */
const BINS = 54;

/** The bin of a size: 0 is for 0, and i for the sizes from 2^(i - 1) on. */
function binOf(size: number): number {
  return size < 2 ** 32 ? 32 - Math.clz32(size) : Math.floor(Math.log2(size)) + 1;
}

/** How many keys have which size, for each type in the order of `NAMES`. */
function count(entries: Keyspace['entries']): Float64Array[] {
  const counts = NAMES.map(() => new Float64Array(BINS));
  const step = Math.max(1, Math.ceil(entries.size / COUNTED));
  for (const { held } of entries.unordered(step)) {
    if (typeof held === 'string' || held.type === 'string') counts[0]![binOf(held.length)]! += step;
    else if (held.type !== 'stream' && held.type !== 'vectorset' && held.type !== 'own')
      counts[TYPES.indexOf(held.type)]![binOf(held.size)]! += step;
  }
  return counts;
}

/** The last count of a database, and what it depends on. */
interface LastCount {
  readonly counts: Float64Array[];
  readonly keys: number;
  readonly dirty: number;
  readonly expiredFields: number;
}

const lastCounts = new WeakMap<Keyspace['entries'], LastCount>();

/** Databases of so many keys and more keep their last count, because many clients send INFO over and over. */
const KEPT_FROM = 1000;

/** An estimate is kept until one of so many keys may have changed. */
const PART = 100;

/** Counts a database, or returns the last count: as long as nothing has changed, or for an estimate as long as little has. */
function countOf(db: Keyspace): Float64Array[] {
  const keys = db.entries.size;
  const { dirty, expiredFields } = db.world;
  const last = lastCounts.get(db.entries);
  const most = keys > COUNTED ? keys / PART : 0;
  if (
    last !== undefined &&
    Math.abs(keys - last.keys) + (dirty - last.dirty) + (expiredFields - last.expiredFields) <= most &&
    dirty >= last.dirty
  ) {
    return last.counts;
  }
  const counts = count(db.entries);
  if (keys >= KEPT_FROM) lastCounts.set(db.entries, { counts, keys, dirty, expiredFields });
  else lastCounts.delete(db.entries);
  return counts;
}

/** The fields of one database. A key is counted at the largest power of two that is not above its size. */
export function* keySizes(db: Keyspace): Iterable<readonly [string, string]> {
  if (db.size === 0) return;
  for (const [i, sizes] of countOf(db).entries()) {
    const parts: Bytes[] = [];
    for (const [bin, keys] of sizes.entries())
      if (keys > 0) parts.push(`${bin === 0 ? 0 : printSize(2 ** (bin - 1))}=${keys}`);
    if (parts.length > 0) yield [`db${db.index}_distrib_${NAMES[i]![1]}`, parts.join(',')];
  }
}
