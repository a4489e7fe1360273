/** One direction between two actors of a world, as its pipes meet it. */
import { type Delays, Gate } from '../links/gate.ts';
import type { Random } from '../time/random.ts';
import type { Schedule } from '../time/schedule.ts';
import type { Trace } from '../time/trace.ts';

/** The world of a lane, as far as the lane needs it. */
export interface LaneWorld {
  readonly schedule: Schedule;
  readonly trace: Trace;
  readonly random: Random;
  /** Throws when the world is closed. */
  assertUsable(): void;
}

/** What travels over a lane: one direction of a connection. */
interface Traffic {
  /** Bytes of the next message that may pass. */
  readonly nextSize: number;
  /** Makes the next message two, the first of so many bytes. */
  splitNext(bytes: number): void;
  /** Lets the next message pass. */
  deliverSoon(): void;
}

/**
 * One direction. A message is what one write sent. Within a connection order is kept; between connections jitter may
 * change it. What is held or partitioned off waits at the far end, as if it had not come yet, and is not lost.
 */
export class Lane extends Gate {
  readonly #world: LaneWorld;
  readonly #random: () => number;
  /** One entry per message that has come to the gate, in order. */
  #waiting: Traffic[] = [];

  constructor(from: string, to: string, world: LaneWorld, delays: Delays) {
    super(from, to, delays);
    this.#world = world;
    this.#random = () => world.random.next();
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How many microseconds the next message is under way. For the pipe. */
  travel(): number {
    return Math.round(this.travelMs(this.#random) * 1000);
  }

  /** A message has come to the gate; true when it may pass. For the pipe. */
  passes(pipe: Traffic): boolean {
    if (!this.shut) return true;
    this.#waiting.push(pipe);
    return false;
  }

  /** The pipe's connection is gone, and its messages with it. For the pipe. */
  forget(pipe: Traffic): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== pipe);
  }

  protected open(): void {
    this.letPass(Infinity);
  }

  protected letPass(messages: number): void {
    for (const pipe of this.#waiting.splice(0, messages)) pipe.deliverSoon();
  }

  protected get firstSize(): number {
    return this.#waiting[0]?.nextSize ?? 0;
  }

  protected letPart(bytes: number): void {
    const [first] = this.#waiting;
    first?.splitNext(bytes);
    first?.deliverSoon();
  }

  protected checkOpen(): void {
    this.#world.assertUsable();
  }

  protected override note(what: string, detail = ''): void {
    this.#world.trace.note(`${this.from}>${this.to}`, what, detail);
  }
}
