/** The record of a world's events, one per line, and a hash that tells whether two runs were the same. */
import { createHash, type Hash } from 'node:crypto';

/** One event. */
export interface TraceEvent {
  /** Microseconds since the world began. */
  readonly at: number;
  /** The actor, or the two ends of a connection: `A:50000>primary`. */
  readonly who: string;
  /** The kind of event. */
  readonly what: string;
  /** Details; for a message, its bytes. */
  readonly detail: string;
  /** For a message: when it was sent, in microseconds since the world began. Not part of the hash. */
  readonly sent: number | undefined;
  /** For a message: when it reached the far end, where a closed gate or a paused receiver kept it waiting. Not part of the hash. */
  readonly due: number | undefined;
}

/** When a message was sent and reached the far end, in microseconds since the world began. */
export interface Travel {
  readonly sent: number;
  readonly due: number;
}

/** The maximum number of events that are kept. Older events remain part of the hash. */
const KEPT = 200_000;

const UNPRINTABLE = /[^ -~]/g;
/** The maximum number of bytes of a message that a line shows. */
const SHOWN = 160;

/** The record of a world's events, in order. */
export class Trace {
  readonly #elapsed: () => number;
  /** The hash of the events that are no longer kept. */
  #hash: Hash | undefined;
  #events: TraceEvent[] = [];
  readonly #strays: TraceEvent[] = [];
  /** The number of events that are no longer kept, but part of the hash. */
  #folded = 0;

  /** @internal */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /**
   * @internal
   * Records an event at the current instant.
   * @param travel for a message: when it was sent and reached the far end
   */
  note(who: string, what: string, detail = '', travel?: Travel): void {
    this.#events.push({ at: this.#elapsed(), who, what, detail, sent: travel?.sent, due: travel?.due });
    if (this.#events.length >= 2 * KEPT) this.#fold();
  }

  /**
   * @internal
   * Records that a message which was sent will never arrive, because its connection has ended. Not part of the hash.
   */
  stray(who: string, detail: string, { sent, due }: Travel): void {
    if (this.#strays.length < KEPT)
      this.#strays.push({ at: this.#elapsed(), who, what: 'stray', detail, sent, due });
  }

  /** The messages that were lost with their connections, in the order of the losses: up to 200,000. */
  get strays(): readonly TraceEvent[] {
    return this.#strays;
  }

  #fold(): void {
    this.#hash ??= createHash('sha256');
    for (const event of this.#events.splice(0, KEPT)) this.#hash.update(hashed(event), 'latin1');
    this.#folded += KEPT;
  }

  /** The events that are kept: all, up to 200,000. */
  get events(): readonly TraceEvent[] {
    return this.#events;
  }

  /** How many events were recorded. */
  get length(): number {
    return this.#folded + this.#events.length;
  }

  /** The SHA-256 of every event so far, with every byte of every message, in hexadecimal. */
  hash(): string {
    const hash = this.#hash?.copy() ?? createHash('sha256');
    for (const event of this.#events) hash.update(hashed(event), 'latin1');
    return hash.digest('hex');
  }

  /** The kept events as aligned lines: milliseconds since the world began, actor, event, details. */
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

  /** The lines as one text. */
  toString(): string {
    return this.lines().join('\n');
  }
}

/** The event's text for the hash. Unlike a line, it leaves nothing out. */
function hashed(event: TraceEvent): string {
  return `${event.at} ${event.who} ${event.what} ${event.detail}\n`;
}

/** Bytes as text on one line: CR LF becomes a blank, other unprintable bytes become \\xNN. */
function printable(detail: string): string {
  const short = detail.length > SHOWN ? `${detail.slice(0, SHOWN)}...` : detail;
  return short
    .replaceAll('\r\n', ' ')
    .replace(UNPRINTABLE, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
