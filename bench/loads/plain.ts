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

/**
 * The loops by the beginning of a row's form, each made for a number of elements. A row above the limit names such a loop if
 * there is one, with its time.
 */
export const PLAIN: readonly (readonly [forms: RegExp, make: (size: number) => () => unknown])[] = [
  [/\bBITCOUNT t M/, (size) => counting(size / 2)],
  [/\bBITCOUNT b/, counting],
  [/^BITOP /, combining],
];
