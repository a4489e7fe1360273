/** The sparse form of a HyperLogLog: a sequence of runs of registers, changed in place as Redis does. */

/*
 * One byte or two each:
 *     00nnnnnn            n + 1 registers of 0 (z)
 *     01nnnnnn nnnnnnnn   n + 1 registers of 0 (Z)
 *     1vvvvvnn            n + 1 registers of v + 1 (v)
 */

/** The highest value of a run. */
export const MAX_SPARSE_VALUE = 32;
const MAX_SHORT_ZEROS = 64;
const MAX_VALUES = 4;
/** How many runs are checked for runs that can be merged, starting before the change. */
const MERGE_SCAN = 5;

/** A run: the value of its registers, their number, and its size in bytes. */
interface Run {
  readonly value: number;
  readonly length: number;
  readonly size: 1 | 2;
  readonly name: 'z' | 'Z' | 'v';
}

function runAt(data: Uint8Array, at: number): Run {
  const byte = data[at]!;
  if ((byte & 0x80) !== 0) {
    return { value: ((byte >> 2) & 31) + 1, length: (byte & 3) + 1, size: 1, name: 'v' };
  }
  if ((byte & 0x40) === 0) return { value: 0, length: byte + 1, size: 1, name: 'z' };
  // A truncated run reads the zero byte behind a C string.
  return { value: 0, length: (((byte & 63) << 8) | (data[at + 1] ?? 0)) + 1, size: 2, name: 'Z' };
}

/** The runs from a position on. */
export function* decodeRuns(data: Uint8Array, from: number): Generator<Run, undefined> {
  for (let at = from; at < data.length; ) {
    const run = runAt(data, at);
    yield run;
    at += run.size;
  }
}

function zeros(length: number): number[] {
  const n = length - 1;
  return length > MAX_SHORT_ZEROS ? [0x40 | (n >> 8), n & 255] : [n];
}

function values(value: number, length: number): number {
  return 0x80 | ((value - 1) << 2) | (length - 1);
}

/** The runs that replace a run when its register `index`, counted from 0, gets a value. */
function split(run: Run, index: number, value: number): number[] {
  const rest = run.length - index - 1;
  const filler = (length: number) => (run.value === 0 ? zeros(length) : [values(run.value, length)]);
  const out: number[] = index > 0 ? filler(index) : [];
  out.push(values(value, 1));
  if (rest > 0) out.push(...filler(rest));
  return out;
}

/**
 * The data with the register raised to the value, in the same array or in a new one; 'same' when the register is
 * already as high, 'full' when there is no room for the change, 'corrupt' when the runs end before the register.
 */
export function setInRuns(
  data: Uint8Array,
  from: number,
  index: number,
  value: number,
  most: number,
): Uint8Array | 'same' | 'full' | 'corrupt' {
  let at = from;
  let first = 0;
  let before = from;
  while (at < data.length) {
    // Without an object for each run: PFMERGE of a thousand runs comes here a thousand times.
    const byte = data[at]!;
    const size = (byte & 0xc0) === 0x40 ? 2 : 1;
    // Redis would read beyond a truncated last run.
    if (at + size > data.length) return 'corrupt';
    const length =
      size === 2 ? (((byte & 63) << 8) | data[at + 1]!) + 1 : ((byte & 0x80) === 0 ? byte : byte & 3) + 1;
    if (index < first + length) {
      const run = runAt(data, at);
      if (run.value >= value) return 'same';
      const runs = split(run, index - first, value);
      const growth = runs.length - size;
      if (growth > 0 && data.length + growth > most) return 'full';
      return mergeNear(replace(data, at, size, runs), before);
    }
    before = at;
    at += size;
    first += length;
  }
  return 'corrupt';
}

function replace(data: Uint8Array, at: number, size: number, runs: readonly number[]): Uint8Array {
  const length = data.length + runs.length - size;
  const out = length === data.length ? data : new Uint8Array(length);
  if (out !== data) {
    out.set(data.subarray(0, at));
    out.set(data.subarray(at + size), at + runs.length);
  }
  out.set(runs, at);
  return out;
}

/** Merges neighbouring runs with the same value, as far as Redis looks. */
function mergeNear(data: Uint8Array, from: number): Uint8Array {
  let end = data.length;
  let at = from;
  for (let left = MERGE_SCAN; at < end && left > 0; left--) {
    const run = runAt(data, at);
    if (run.name === 'v' && at + 1 < end) {
      const next = runAt(data, at + 1);
      const length = run.length + next.length;
      if (next.name === 'v' && next.value === run.value && length <= MAX_VALUES) {
        data[at + 1] = values(run.value, length);
        data.copyWithin(at, at + 1, end);
        end--;
        continue;
      }
    }
    at += run.size;
  }
  return end === data.length ? data : data.slice(0, end);
}
