/** The most recent bytes of the replication stream, from which a replica that was cut off can resume. */
import type { Bytes } from '../../protocol/bytes.ts';

/** Chunks are trimmed only when this much of the oldest one is surplus. */
const CHUNK = 4096;

/**
 *   dropped │ chunk │ chunk │ … │ chunk │ tail
 *           ^ start                            ^ end     offsets, in bytes of the stream
 */
export class Backlog {
  #chunks: Bytes[] = [];
  #tail = '';
  #start: number;
  #end: number;
  /** How many bytes are to be kept. */
  capacity: number;

  /** An empty backlog whose first byte will have the offset after `offset`. */
  constructor(offset: number, capacity: number) {
    this.#start = offset;
    this.#end = offset;
    this.capacity = capacity;
  }

  /** The offset of the oldest byte kept, as INFO counts: the first byte of a stream has offset 1. */
  get firstByte(): number {
    return Math.max(this.#start, this.#end - this.capacity) + 1;
  }

  /** Bytes kept. */
  get length(): number {
    return Math.min(this.#end - this.#start, this.capacity);
  }

  append(bytes: Bytes): void {
    this.#end += bytes.length;
    this.#tail += bytes;
    if (this.#tail.length < CHUNK) return;
    this.#chunks.push(this.#tail);
    this.#tail = '';
    let oldest = this.#chunks[0];
    while (oldest !== undefined && this.#end - this.#start - oldest.length >= this.capacity) {
      this.#start += oldest.length;
      this.#chunks.shift();
      oldest = this.#chunks[0];
    }
  }

  /** The stream from the byte with this offset on; undefined when it is not kept. */
  from(offset: number): Bytes | undefined {
    if (offset < this.firstByte || offset > this.#end + 1) return undefined;
    return (this.#chunks.join('') + this.#tail).slice(offset - 1 - this.#start);
  }
}
