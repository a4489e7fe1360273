/**
 * createHash for a browser: SHA-1 and SHA-256 (FIPS 180-4), which scripts, users and traces need at once. A browser's own
 * are promises.
 */

/** A hash function on blocks of 64 bytes. */
interface Algorithm {
  readonly initial: readonly number[];
  /** Adds a block of 16 words to the state. `words` has room for the schedule. */
  compress(state: Uint32Array, words: Uint32Array): void;
}

function left(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function right(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

const sha1: Algorithm = {
  initial: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  compress(state, w) {
    for (let i = 16; i < 80; i++)
      w[i] = left(
        (w[i - 3] as number) ^ (w[i - 8] as number) ^ (w[i - 14] as number) ^ (w[i - 16] as number),
        1,
      );
    let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
    for (let i = 0; i < 80; i++) {
      const f = i < 20 ? (b & c) | (~b & d) : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
      const k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
      const next = (left(a, 5) + f + e + k + (w[i] as number)) | 0;
      [a, b, c, d, e] = [next, a, left(b, 30), c, d];
    }
    for (const [i, word] of [a, b, c, d, e].entries()) state[i] = (state[i] as number) + word;
  },
};

/** The first 32 bits of the fractional part of a root. */
function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) >>> 0;
}

/** The first 64 primes, whose roots are the constants of SHA-256. */
const primes: number[] = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
const constants = Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));

const sha256: Algorithm = {
  initial: primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
  compress(state, w) {
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15] as number, w[i - 2] as number];
      const low = right(x, 7) ^ right(x, 18) ^ (x >>> 3);
      const high = right(y, 17) ^ right(y, 19) ^ (y >>> 10);
      w[i] = (w[i - 16] as number) + low + (w[i - 7] as number) + high;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as number[] as [
      ...[number, number, number, number],
      ...[number, number, number, number],
    ];
    for (let i = 0; i < 64; i++) {
      const one = right(e, 6) ^ right(e, 11) ^ right(e, 25);
      const first = (h + one + ((e & f) ^ (~e & g)) + (constants[i] as number) + (w[i] as number)) | 0;
      const zero = right(a, 2) ^ right(a, 13) ^ right(a, 22);
      const second = (zero + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] as number) + word;
  },
};

const algorithms: Readonly<Record<string, Algorithm>> = { sha1, sha256 };

/** What `createHash` returns. */
export class Hash {
  readonly #algorithm: Algorithm;
  readonly #state: Uint32Array;
  readonly #words = new Uint32Array(80);
  readonly #block = new Uint8Array(64);
  #length = 0;

  constructor(algorithm: Algorithm, from?: Hash) {
    this.#algorithm = algorithm;
    this.#state = Uint32Array.from(from === undefined ? algorithm.initial : from.#state);
    if (from === undefined) return;
    this.#block.set(from.#block);
    this.#length = from.#length;
  }

  update(data: string | Uint8Array, encoding: BufferEncoding = 'utf8'): this {
    for (const byte of typeof data === 'string' ? Buffer.from(data, encoding) : data) this.#add(byte);
    return this;
  }

  #add(byte: number): void {
    this.#block[this.#length++ % 64] = byte;
    if (this.#length % 64 !== 0) return;
    const view = new DataView(this.#block.buffer);
    for (let i = 0; i < 16; i++) this.#words[i] = view.getUint32(4 * i);
    this.#algorithm.compress(this.#state, this.#words);
  }

  copy(): Hash {
    return new Hash(this.#algorithm, this);
  }

  digest(encoding?: BufferEncoding): Buffer | string {
    const bits = this.#length * 8;
    this.#add(0x80);
    while (this.#length % 64 !== 56) this.#add(0);
    for (let shift = 7; shift >= 0; shift--) this.#add(Math.floor(bits / 2 ** (8 * shift)) % 256);
    const bytes = Buffer.alloc(4 * this.#state.length);
    for (const [i, word] of this.#state.entries()) bytes.writeUInt32BE(word, 4 * i);
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
}

/** As in Node. Throws for an algorithm that nothing here uses. */
export function createHash(name: string): Hash {
  const algorithm = algorithms[name];
  if (algorithm === undefined) throw new Error(`the playground has no ${name}`);
  return new Hash(algorithm);
}
