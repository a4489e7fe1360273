/** One direction between two actors of a world, which the pipes of that direction pass. */
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
  /** The size in bytes of the next message that may pass. */
  readonly nextSize: number;
  /** Splits the next message in two; the first part has this many bytes. */
  splitNext(bytes: number): void;
  /** Lets the next message pass. */
  deliverSoon(): void;
}

/**
 * One direction. A message is the data of one write. Messages of one connection keep their order; between connections,
 * jitter may change it. Messages that are held or partitioned off wait at the far end, as if they had not arrived yet,
 * and are not lost.
 */
export class Lane extends Gate {
  readonly #world: LaneWorld;
  readonly #random = (): number => this.#world.random.next();
  /** One entry per message at the gate, in order. */
  #waiting: Traffic[] = [];

  /** @internal */
  constructor(from: string, to: string, world: LaneWorld, delays: Delays) {
    super(from, to, delays);
    this.#world = world;
  }

  /** How many messages wait at the gate. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @internal
   * The travel time of the next message, in microseconds. Called by the pipe.
   * @param bytes the size of the message
   * @param isEnd whether it is the end of the connection
   */
  travel(bytes: number, isEnd: boolean): number {
    const now = this.#world.schedule.micros / 1000;
    const ms = this.travelMs(this.#random, bytes, now) + (isEnd ? this.closingMs : 0);
    return Math.round(ms * 1000);
  }

  /** @internal A message has arrived at the gate. Returns true when it may pass. Called by the pipe. */
  passes(pipe: Traffic): boolean {
    if (!this.shut) return true;
    this.#waiting.push(pipe);
    return false;
  }

  /** @internal The pipe's connection is gone, so its messages are dropped. Called by the pipe. */
  forget(pipe: Traffic): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== pipe);
  }

  /** @internal */
  protected open(): void {
    this.letPass(Infinity);
  }

  /** @internal */
  protected letPass(messages: number): void {
    for (const pipe of this.#waiting.splice(0, messages)) pipe.deliverSoon();
  }

  /** @internal */
  protected get firstSize(): number {
    return this.#waiting[0]?.nextSize ?? 0;
  }

  /** @internal */
  protected letPart(bytes: number): void {
    const [first] = this.#waiting;
    first?.splitNext(bytes);
    first?.deliverSoon();
  }

  /** @internal */
  protected checkOpen(): void {
    this.#world.assertUsable();
  }

  /** @internal */
  protected override note(what: string, detail = ''): void {
    this.#world.trace.note(`${this.from}>${this.to}`, what, detail);
  }
}
