/** The slow log: the latest requests that took long, the newest first. */
import type { Bytes } from '../../protocol/bytes.ts';

/** Longer requests and words are cut short, and say by how much. */
const WORDS_MAX = 32;
const BYTES_MAX = 128;

export interface SlowRequest {
  /** When it ended, in seconds since the epoch. */
  readonly second: number;
  readonly micros: number;
  readonly argv: readonly Bytes[];
  readonly address: Bytes;
  readonly name: Bytes;
}

export class Slowlog {
  entries: (SlowRequest & { readonly id: number })[] = [];
  /** slowlog-max-len */
  limit = 128;
  #nextId = 0;

  add(request: SlowRequest): void {
    this.entries.unshift({ ...request, argv: shortened(request.argv), id: this.#nextId++ });
    if (this.entries.length > this.limit) this.entries.length = this.limit;
  }
}

function shortened(argv: readonly Bytes[]): Bytes[] {
  const shown = argv.length > WORDS_MAX ? argv.slice(0, WORDS_MAX - 1) : argv;
  const words = shown.map((word) =>
    word.length > BYTES_MAX ? `${word.slice(0, BYTES_MAX)}... (${word.length - BYTES_MAX} more bytes)` : word,
  );
  if (shown.length < argv.length) words.push(`... (${argv.length - shown.length} more arguments)`);
  return words;
}
