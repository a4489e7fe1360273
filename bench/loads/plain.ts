/** Plain JavaScript that does what a row of the cliffs does with its data and nothing else: what JavaScript itself takes. */

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Words of 32 bits, so many bytes in all. */
function words(size: number): Uint32Array {
  return Uint32Array.from({ length: Math.ceil(size / 4) }, (_, i) => (i * 2654435761) >>> 0);
}

function onesIn(word: number): number {
  return ONES[word & 255]! + ONES[(word >>> 8) & 255]! + ONES[(word >>> 16) & 255]! + ONES[word >>> 24]!;
}

/** Counts the bits of a word by adding up halves, the fastest that is known without a table. */
function added(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function counting(size: number): () => number {
  const data = words(size);
  if (data.reduce((sum, word) => sum + onesIn(word), 0) !== data.reduce((sum, word) => sum + added(word), 0))
    throw new Error('the two ways to count bits differ');
  return () => {
    let count = 0;
    for (let i = 0; i < data.length; i++) count += added(data[i]!);
    return count;
  };
}

function combining(size: number): () => number {
  const [one, other, out] = [words(size), words(size), new Uint32Array(Math.ceil(size / 4))];
  return () => {
    for (let i = 0; i < out.length; i++) out[i] = one[i]! & ~other[i]!;
    return out[0]!;
  };
}

/** Complements every word, as BITOP NOT does. */
function complementing(size: number): () => number {
  const [data, out] = [words(size), new Uint32Array(Math.ceil(size / 4))];
  return () => {
    for (let i = 0; i < out.length; i++) out[i] = ~data[i]!;
    return out[0]!;
  };
}

/** The bytes of a dense HyperLogLog: 16,384 registers of 6 bits. */
const REGISTERS = 12_288;

/** Raises the registers of a dense HyperLogLog to those of so many others. */
function merging(others: number): () => number {
  const all = Array.from({ length: 1 + others }, (_, from) =>
    Uint8Array.from({ length: REGISTERS }, (_, i) => (i + from) * 37),
  );
  return () => {
    const out = all[0]!.slice();
    for (let k = 1; k < all.length; k++) raise(out, all[k]!);
    return out[0]!;
  };
}

function raise(out: Uint8Array, other: Uint8Array): void {
  for (let at = 0; at < REGISTERS; at += 3) {
    const a = out[at]! | (out[at + 1]! << 8) | (out[at + 2]! << 16);
    const b = other[at]! | (other[at + 1]! << 8) | (other[at + 2]! << 16);
    let merged = 0;
    for (let shift = 0; shift < 24; shift += 6) {
      merged |= Math.max((a >> shift) & 63, (b >> shift) & 63) << shift;
    }
    out[at] = merged;
    out[at + 1] = merged >> 8;
    out[at + 2] = merged >> 16;
  }
}

/** The elements of the list that the rows use. */
function elements(size: number): string[] {
  return Array.from({ length: size }, (_, i) => `e:${i + 1}`);
}

/** Copies the references to the elements of a list: V8 has no list whose copy would be smaller. */
function copying(size: number): () => unknown {
  const list = elements(size);
  return () => list.slice();
}

/** Writes short strings behind each other, each with a byte before and behind it. */
function writing(size: number): () => unknown {
  const list = elements(size);
  const out = new Uint8Array(12 * size + 16);
  return () => {
    let at = 0;
    for (let i = 0; i < list.length; i++) {
      const text = list[i]!;
      out[at++] = 0x80 | text.length;
      for (let j = 0; j < text.length; j++) out[at++] = text.charCodeAt(j);
      out[at++] = text.length + 1;
    }
    return at;
  };
}

/** How deep Lua calls functions at most. */
const LUA_DEPTH = 19_997;

/**
 * Calls a generator that calls itself, as deep as Lua's stack. JavaScript's own stack is too small for that in the
 * default settings, so plain functions cannot do it.
 */
function nesting(): () => number {
  function* call(n: number): Generator<Generator<unknown, number>, number, number> {
    return 1 + (yield call(n + 1));
  }
  return () => {
    const frames: Generator<unknown, number, number>[] = [call(1)];
    while (frames.length < LUA_DEPTH) frames.push(frames[frames.length - 1]!.next(0).value as never);
    return frames.length;
  };
}

/** Throws an object for each number, and catches it where the function was called. */
function throwing(size: number): () => unknown {
  const raise = (value: number): never => {
    throw { value };
  };
  const caught = (value: number): unknown => {
    try {
      return raise(value);
    } catch (thrown) {
      return [false, (thrown as { value: number }).value];
    }
  };
  return () => {
    let last: unknown;
    for (let i = 0; i < size; i++) last = caught(i);
    return last;
  };
}

/** Sorts numbers with a function that compares them. */
function sorting(size: number): () => unknown {
  const numbers = Array.from({ length: size }, (_, i) => (i * 7919) % size);
  return () => numbers.toSorted((a, b) => a - b);
}

const RADIANS = Math.PI / 180;
/** The radius of the earth that Redis computes with, in metres. */
const EARTH = 6_372_797.560856;

/** Computes the distances of places from a point. */
function measuring(size: number): () => number {
  const places = Array.from(
    { length: size },
    (_, i) => [(i % 3600) / 10 - 180, (i % 1700) / 10 - 85] as const,
  );
  return () => {
    let near = 0;
    for (const [longitude, latitude] of places) {
      const u = Math.sin((latitude * RADIANS) / 2);
      const v = Math.sin((longitude * RADIANS) / 2);
      const distance = 2 * EARTH * Math.asin(Math.sqrt(u * u + Math.cos(latitude * RADIANS) * v * v));
      if (distance < 20_000_000) near++;
    }
    return near;
  };
}

/**
 * The loops by the beginning of a row's form, each made for a number of elements. A row above the limit names such a loop if
 * there is one, with its time.
 */
export const PLAIN: readonly (readonly [forms: RegExp, make: (size: number) => () => unknown])[] = [
  [/\bBITCOUNT t M/, (size) => counting(size / 2)],
  [/\bBITCOUNT b/, counting],
  [/^BITOP NOT /, complementing],
  [/^BITOP /, combining],
  [/^PFMERGE p3 p p2/, () => merging(2)],
  [/^PFMERGE p3 p/, () => merging(1)],
  [/^COPY l /, copying],
  [/^DUMP l$/, writing],
  [/\bpcall\(f, 1\)/, nesting],
  [/\bpcall\(error\b/, throwing],
  [/\bpcall\(redis\.call\b/, (size) => throwing(Math.ceil(size / 50))],
  [/\btable\.sort\b/, sorting],
  [/^GEOSEARCH .*BYRADIUS 20000 km$/, measuring],
];
