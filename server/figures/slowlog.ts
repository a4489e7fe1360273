/** The log of the latest requests that were slow or large, newest first. */
import type { Bytes } from '../../protocol/bytes.ts';

/** Longer requests and words are truncated, with a note about the rest. */
const WORDS_MAX = 32;
const BYTES_MAX = 128;

/** A slow or large request, as SLOWLOG GET and COMMANDLOG GET report it. */
export interface LoggedRequest {
  /** When it ended, in seconds since the epoch. */
  readonly second: number;
  /** Why it is in the log: microseconds in the slow log, bytes in the others. */
  readonly amount: number;
  readonly argv: readonly Bytes[];
  readonly address: Bytes;
  readonly name: Bytes;
}

/** One of the logs of a node (https://redis.io/docs/latest/commands/slowlog/, https://valkey.io/commands/commandlog/). */
export class CommandLog {
  entries: (LoggedRequest & { readonly id: number })[] = [];
  /** The setting that limits the number of entries, such as slowlog-max-len. */
  limit = 128;
  #nextId = 0;

  /** Adds a request, shortens its words, and drops the oldest entries beyond the limit. */
  add(request: LoggedRequest): void {
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
