/** Reads the commands of an append-only file one after another. */
import type { Bytes } from '../../protocol/bytes.ts';

/** How a file ends: after a whole command, in the middle of one, or with bytes that are no command. */
export type FileEnd = 'end' | 'torn' | 'malformed';

/** The commands of a file, from a position on. */
export class CommandReader {
  readonly #bytes: Bytes;
  /** The position after the last whole command. */
  position: number;

  constructor(bytes: Bytes, position = 0) {
    this.#bytes = bytes;
    this.position = position;
  }

  /** Returns the words of the next command, or how the file ends. Lines with timestamps are skipped. */
  next(): Bytes[] | FileEnd {
    const bytes = this.#bytes;
    while (bytes[this.position] === '#') {
      const end = bytes.indexOf('\n', this.position);
      if (end < 0) return 'torn';
      this.position = end + 1;
    }
    let at = this.position;
    if (at === bytes.length) return 'end';
    const argv: Bytes[] = [];
    const header = this.#count(at, '*');
    if (typeof header === 'string') return header;
    if (header.count < 1) return 'malformed';
    at = header.end;
    while (argv.length < header.count) {
      const bulk = this.#count(at, '$');
      if (typeof bulk === 'string') return bulk;
      at = bulk.end + bulk.count + 2;
      if (at > bytes.length) return 'torn';
      argv.push(bytes.slice(bulk.end, bulk.end + bulk.count));
    }
    this.position = at;
    return argv;
  }

  /** Reads a line with a sign and a number. Returns the number and the position after the line. */
  #count(at: number, sign: string): { count: number; end: number } | 'torn' | 'malformed' {
    const bytes = this.#bytes;
    if (at === bytes.length) return 'torn';
    if (bytes[at] !== sign) return 'malformed';
    const end = bytes.indexOf('\n', at);
    if (end < 0) return 'torn';
    const digits = /^(\d{1,10})\r?$/.exec(bytes.slice(at + 1, end))?.[1];
    return digits === undefined ? 'malformed' : { count: +digits, end: end + 1 };
  }
}
