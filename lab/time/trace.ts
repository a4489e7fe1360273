/** What happened in a world, one event per line, and the hash that says whether two runs were the same. */
import { createHash, type Hash } from 'node:crypto';

/** One thing that happened. */
export interface TraceEvent {
  /** Microseconds since the world began. */
  readonly at: number;
  /** The actor, or the two ends of a connection, `A:50000>primary`. */
  readonly who: string;
  readonly what: string;
  /** More about it; for messages their bytes. */
  readonly detail: string;
}

/** Events beyond this number are folded into the hash and forgotten, the oldest first. */
const KEPT = 200_000;

const UNPRINTABLE = /[^ -~]/g;
/** A line shows no more of a message. */
const SHOWN = 160;

/** The record of a world's events, in order. */
export class Trace {
  readonly #elapsed: () => number;
  readonly #hash: Hash = createHash('sha256');
  #events: TraceEvent[] = [];
  /** Events that are no longer kept, but hashed. */
  #folded = 0;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /** Adds an event at the present instant. */
  note(who: string, what: string, detail = ''): void {
    this.#events.push({ at: this.#elapsed(), who, what, detail });
    if (this.#events.length >= 2 * KEPT) this.#fold();
  }

  #fold(): void {
    for (const event of this.#events.splice(0, KEPT)) this.#hash.update(hashed(event), 'latin1');
    this.#folded += KEPT;
  }

  /** The events that are kept: all, up to a few hundred thousand. */
  get events(): readonly TraceEvent[] {
    return this.#events;
  }

  /** How many events there were. */
  get length(): number {
    return this.#folded + this.#events.length;
  }

  /** SHA-256 over every event so far, with every byte of every message, in hexadecimal. */
  hash(): string {
    const hash = this.#hash.copy();
    for (const event of this.#events) hash.update(hashed(event), 'latin1');
    return hash.digest('hex');
  }

  /** The kept events as aligned lines: milliseconds since the beginning, who, what, detail. */
  lines(): string[] {
    const width = Math.min(
      30,
      this.#events.reduce((most, event) => Math.max(most, event.who.length), 0),
    );
    return this.#events.map((event) => {
      const at = (event.at / 1000).toFixed(3).padStart(14);
      return `${at}  ${event.who.padEnd(width)}  ${event.what.padEnd(8)}  ${printable(event.detail)}`.trimEnd();
    });
  }

  toString(): string {
    return this.lines().join('\n');
  }
}

/** The event as the hash sees it: unlike a line, nothing is left out. */
function hashed(event: TraceEvent): string {
  return `${event.at} ${event.who} ${event.what} ${event.detail}\n`;
}

/** Bytes as text on one line: CR LF become blanks, other unprintable bytes \\xNN. */
function printable(detail: string): string {
  const short = detail.length > SHOWN ? `${detail.slice(0, SHOWN)}...` : detail;
  return short
    .replaceAll('\r\n', ' ')
    .replace(UNPRINTABLE, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
