/** The record of a world's events, one per line, and a hash that tells whether two runs were the same. */
import { createHash, type Hash } from 'node:crypto';
import type { TraceEvent, Travel } from './event.ts';
import { PAGE, Page } from './page.ts';

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
  /** Older events that nobody has read, in pages. */
  #pages: Page[] = [];
  /** The other events. */
  #events: TraceEvent[] = [];
  /** True once somebody has read the events. */
  #read = false;
  /** With so many events in the array, something has to be done. */
  #limit = PAGE;
  readonly #strays: TraceEvent[] = [];
  /** The number of events that are no longer kept, but part of the hash. */
  #folded = 0;
  #forgottenUpTo = 0;

  readonly #kept: number;

  /** @internal @param kept the maximum number of events that are kept, whole pages */
  constructor(elapsed: () => number, kept = KEPT) {
    this.#elapsed = elapsed;
    this.#kept = kept;
  }

  /**
   * @internal
   * Records an event at the current instant.
   * @param travel for a message: when it was sent and reached the far end
   */
  note(who: string, what: string, detail = '', travel?: Travel): void {
    this.#events.push({ at: this.#elapsed(), who, what, detail, sent: travel?.sent, due: travel?.due });
    if (this.#events.length >= this.#limit) this.#tidy();
  }

  #tidy(): void {
    if (!this.#read) {
      this.#pages.push(new Page(this.#events));
      this.#events = [];
    }
    if (this.length - this.#folded < 2 * this.#kept) return;
    this.#hash ??= createHash('sha256');
    const kept = this.#kept;
    const oldest = this.#read ? [this.#events.splice(0, kept)] : readAll(this.#pages.splice(0, kept / PAGE));
    for (const events of oldest) {
      update(this.#hash, events);
      this.#forgottenUpTo = events.at(-1)?.at ?? this.#forgottenUpTo;
    }
    this.#folded += kept;
  }

  /**
   * @internal
   * Records that a message which was sent will never arrive, because its connection has ended. Not part of the hash.
   */
  stray(who: string, detail: string, { sent, due }: Travel): void {
    this.#strays.push({ at: this.#elapsed(), who, what: 'stray', detail, sent, due });
    if (this.#strays.length === 2 * KEPT)
      this.#forgottenUpTo = Math.max(this.#forgottenUpTo, this.#strays.splice(0, KEPT).at(-1)?.at ?? 0);
  }

  /** @internal The time of the last event that is no longer kept; 0 when all are. */
  get forgottenUpTo(): number {
    return this.#forgottenUpTo;
  }

  /** The messages that were lost with their connections, in the order of the losses: at least the last 200,000. */
  get strays(): readonly TraceEvent[] {
    return this.#strays;
  }

  /** The events that are kept: all, up to 200,000. */
  get events(): readonly TraceEvent[] {
    if (!this.#read) {
      // The array stays up to date, so that from now on there are no pages.
      this.#read = true;
      this.#limit = 2 * this.#kept;
      if (this.#pages.length > 0) this.#events = [...readAll(this.#pages), this.#events].flat();
      this.#pages = [];
    }
    return this.#events;
  }

  /** How many events were recorded. */
  get length(): number {
    return this.#folded + this.#pages.length * PAGE + this.#events.length;
  }

  /** The SHA-256 of every event so far, with every byte of every message, in hexadecimal. */
  hash(): string {
    const hash = this.#hash?.copy() ?? createHash('sha256');
    for (const events of readAll(this.#pages)) update(hash, events);
    update(hash, this.#events);
    return hash.digest('hex');
  }

  /** The kept events as aligned lines: milliseconds since the world began, actor, event, details. */
  lines(): string[] {
    const { events } = this;
    const width = Math.min(
      30,
      events.reduce((most, event) => Math.max(most, event.who.length), 0),
    );
    return events.map((event) => {
      const at = (event.at / 1000).toFixed(3).padStart(14);
      return `${at}  ${event.who.padEnd(width)}  ${event.what.padEnd(8)}  ${printable(event.detail)}`.trimEnd();
    });
  }

  /** The lines as one text. */
  toString(): string {
    return this.lines().join('\n');
  }
}

function* readAll(pages: readonly Page[]): Generator<TraceEvent[]> {
  for (const page of pages) yield page.events();
}

/** Adds the events to the hash. Unlike a line, it leaves nothing out. */
function update(hash: Hash, events: readonly TraceEvent[]): void {
  for (const { at, who, what, detail } of events) hash.update(`${at} ${who} ${what} ${detail}\n`, 'latin1');
}

/** Bytes as text on one line: CR LF becomes a blank, other unprintable bytes become \\xNN. */
function printable(detail: string): string {
  const short = detail.length > SHOWN ? `${detail.slice(0, SHOWN)}...` : detail;
  return short
    .replaceAll('\r\n', ' ')
    .replace(UNPRINTABLE, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
