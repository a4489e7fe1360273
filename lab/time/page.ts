/** Messages of a long trace in a compact form, outside of V8's heap as far as possible. */
import type { TraceEvent } from './event.ts';

/** The number of events on a page. Most worlds of an exploration have fewer, and no page. */
export const PAGE = 1000;

/** Larger messages are kept as they are. */
const LARGE = 4096;

/**
 * A part of a trace. As objects, its events would survive as long as their world, and V8's collector would copy each of
 * them twice and mark it again and again: with five clients that poll, that took a sixth of the CPU time.
 */
export class Page {
  readonly #who: string[];
  readonly #what: string[];
  /** Three numbers for each event: when it happened, was sent and was due. */
  readonly #times: Float64Array;
  /** Where the bytes of each message end. */
  readonly #ends: Uint32Array;
  readonly #bytes: Buffer;
  /** Everything but messages of the usual sizes, by its place on the page. */
  readonly #others = new Map<number, TraceEvent>();

  constructor(events: readonly TraceEvent[]) {
    this.#who = events.map(({ who }) => who);
    this.#what = events.map(({ what }) => what);
    this.#times = new Float64Array(events.length * 3);
    this.#ends = new Uint32Array(events.length);
    let details = '';
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as TraceEvent;
      const { at, sent, due, detail } = event;
      if (sent === undefined || due === undefined || detail.length > LARGE) this.#others.set(i, event);
      else {
        this.#times[i * 3] = at;
        this.#times[i * 3 + 1] = sent;
        this.#times[i * 3 + 2] = due;
        details += detail;
      }
      this.#ends[i] = details.length;
    }
    this.#bytes = Buffer.from(details, 'latin1');
  }

  /** The events as objects, in order. */
  events(): TraceEvent[] {
    return this.#who.map((who, i) => this.#others.get(i) ?? this.#message(who, i));
  }

  #message(who: string, i: number): TraceEvent {
    const [at, sent, due] = this.#times.subarray(3 * i) as unknown as readonly [number, number, number];
    const detail = this.#bytes.toString('latin1', this.#ends[i - 1] ?? 0, this.#ends[i]);
    return { at, who, what: this.#what[i] as string, detail, sent, due };
  }
}
