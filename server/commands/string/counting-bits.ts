/** Counts and finds bits in long byte arrays, many bytes at a time (measured by `npm run bench -- --only cliffs`). */

/** The number of bits of each byte. */
export const ONES = new Uint8Array(256);
for (let byte = 1; byte < ONES.length; byte++) ONES[byte] = ONES[byte >> 1]! + (byte & 1);

/** Words whose bits are added up before they are counted. */
const WORDS = 8;

/** Below this length, in bytes, a table is as fast. */
const SHORT = 256;

/** The number of bits in a 32-bit word. */
function onesInWord(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function onesByTable(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to; i++) count += ONES[bytes[i]!]!;
  return count;
}

/**
 * The number of bits that are set. Eight words at a time go through adders for single bits, which leave four words to be
 * counted: the sums of weight 1, 2, 4 and 8. Only the last is counted for every eight words.
 */
export function onesIn(bytes: Uint8Array): number {
  if (bytes.length < SHORT) return onesByTable(bytes, 0, bytes.length);
  const before = -bytes.byteOffset & 3;
  const view = new Uint32Array(bytes.buffer, bytes.byteOffset + before, (bytes.length - before) >> 2);
  const whole = view.length - (view.length % WORDS);
  let [ones, twos, fours, eights] = [0, 0, 0, 0];
  for (let i = 0; i < whole; i += WORDS) {
    const [a, b, c, d] = [view[i]!, view[i + 1]!, view[i + 2]!, view[i + 3]!];
    const [e, f, g, h] = [view[i + 4]!, view[i + 5]!, view[i + 6]!, view[i + 7]!];
    const ab = ones ^ a;
    const twoA = (ones & a) | (ab & b);
    const one1 = ab ^ b;
    const cd = one1 ^ c;
    const twoB = (one1 & c) | (cd & d);
    const one2 = cd ^ d;
    const ef = one2 ^ e;
    const twoC = (one2 & e) | (ef & f);
    const one3 = ef ^ f;
    const gh = one3 ^ g;
    const twoD = (one3 & g) | (gh & h);
    ones = gh ^ h;
    const fourP = twos ^ twoA;
    const fourA = (twos & twoA) | (fourP & twoB);
    const two1 = fourP ^ twoB;
    const fourQ = two1 ^ twoC;
    const fourB = (two1 & twoC) | (fourQ & twoD);
    twos = fourQ ^ twoD;
    const eightP = fours ^ fourA;
    eights += onesInWord((fours & fourA) | (eightP & fourB));
    fours = eightP ^ fourB;
  }
  let count = 8 * eights + 4 * onesInWord(fours) + 2 * onesInWord(twos) + onesInWord(ones);
  for (let i = whole; i < view.length; i++) count += onesInWord(view[i]!);
  return count + onesByTable(bytes, 0, before) + onesByTable(bytes, before + 4 * view.length, bytes.length);
}

/** How many equal bytes are compared at once. */
const RUN = 4096;
const RUNS: Readonly<Record<number, Buffer>> = { 0: Buffer.alloc(RUN, 0), 255: Buffer.alloc(RUN, 255) };

/** A place up to which all bytes have that value, 0 or 255: not more than a run before the first other byte. */
export function firstOther(bytes: Uint8Array, value: 0 | 255): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const run = RUNS[value]!;
  let at = 0;
  while (at + RUN <= buffer.length && run.compare(buffer, at, at + RUN) === 0) at += RUN;
  return at;
}
