/** The slow log: the latest slow requests, newest first. */
import type { Bytes } from '../../protocol/bytes.ts';

/** Longer requests and words are truncated, with a note about the rest. */
const WORDS_MAX = 32;
const BYTES_MAX = 128;

/** A slow request, as SLOWLOG GET reports it. */
export interface SlowRequest {
  /** When it ended, in seconds since the epoch. */
  readonly second: number;
  readonly micros: number;
  readonly argv: readonly Bytes[];
  readonly address: Bytes;
  readonly name: Bytes;
}

/** The slow log of a node (https://redis.io/docs/latest/commands/slowlog/). */
export class Slowlog {
  entries: (SlowRequest & { readonly id: number })[] = [];
  /** The setting slowlog-max-len. */
  limit = 128;
  #nextId = 0;

  /** Adds a request, shortens its words, and drops the oldest entries beyond the limit. */
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
