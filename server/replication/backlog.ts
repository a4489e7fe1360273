/** The most recent bytes of the replication stream. A replica whose connection broke resumes from them. */
import { type Bytes, flat } from '../../protocol/bytes.ts';

/** The oldest chunk is trimmed only when at least this many of its bytes are surplus. */
const CHUNK = 4096;

/**
 * The backlog is a list of chunks and a tail. Offsets count the bytes of the stream.
 *
 *   dropped │ chunk │ chunk │ … │ chunk │ tail
 *           ^ start                            ^ end
 */
export class Backlog {
  #chunks: Bytes[] = [];
  #tail = '';
  #start: number;
  #end: number;
  /** How many bytes to keep. */
  capacity: number;

  /**
   * Creates an empty backlog. The first byte appended has the offset after `offset`.
   * @param capacity how many bytes to keep
   */
  constructor(offset: number, capacity: number) {
    this.#start = offset;
    this.#end = offset;
    this.capacity = capacity;
  }

  /** The offset of the oldest byte kept, counted as in INFO: the first byte of a stream has offset 1. */
  get firstByte(): number {
    return Math.max(this.#start, this.#end - this.capacity) + 1;
  }

  /** The number of bytes kept. */
  get length(): number {
    return Math.min(this.#end - this.#start, this.capacity);
  }

  /** Appends bytes to the stream, and drops the oldest bytes beyond the capacity. */
  append(bytes: Bytes): void {
    this.#end += bytes.length;
    this.#tail += bytes;
    if (this.#tail.length < CHUNK) return;
    this.#chunks.push(flat(this.#tail));
    this.#tail = '';
    let oldest = this.#chunks[0];
    while (oldest !== undefined && this.#end - this.#start - oldest.length >= this.capacity) {
      this.#start += oldest.length;
      this.#chunks.shift();
      oldest = this.#chunks[0];
    }
  }

  /** Returns the stream from the byte with this offset on; undefined if that byte is not kept. */
  from(offset: number): Bytes | undefined {
    if (offset < this.firstByte || offset > this.#end + 1) return undefined;
    return (this.#chunks.join('') + this.#tail).slice(offset - 1 - this.#start);
  }
}
