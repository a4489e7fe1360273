/** The road between two actors: one lane each way, with the controls that a test has over what travels on it. */

import { checkAmount, checkDelays, checkMessages, checkMillis } from './options.ts';
import type { Pipe } from './pipe.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';
import type { Trace } from './trace.ts';

/** How long a message is under way, in milliseconds (fractions count): `latency`, and up to `jitter` more. */
export interface Delays {
  readonly latency: number;
  readonly jitter: number;
}

/** What lanes need of their network. */
export interface Roadside {
  readonly schedule: Schedule;
  readonly trace: Trace;
  readonly random: Random;
}

/** How much `release` lets through; without limits everything, and the lane is open again. */
export interface Amount {
  readonly messages?: number;
  readonly bytes?: number;
}

/** What a test can do to one direction, on either clock. */
export interface LaneControls {
  readonly from: string;
  readonly to: string;
  readonly held: boolean;
  readonly partitioned: boolean;
  readonly waiting: number;
  hold(): void;
  release(amount?: Amount): void;
  delay(ms: number): void;
  pace(delays: Partial<Delays>): void;
  drop(messages?: number): void;
  duplicate(messages?: number): void;
  partition(): void;
  heal(): void;
}

/**
 * One direction. A message is what one write sent. Within a connection order is kept; between connections jitter may
 * change it. What is held or partitioned off waits at the far end, as if it had not come yet, and is not lost.
 */
export class Lane implements LaneControls {
  readonly from: string;
  readonly to: string;
  readonly #roadside: Roadside;
  #delays: Delays;
  #extra = 0;
  #held = false;
  #cut = false;
  #toDrop = 0;
  #toDuplicate = 0;
  /** One entry per message that has come to the gate, in order. */
  #waiting: Pipe[] = [];

  constructor(from: string, to: string, roadside: Roadside, delays: Delays) {
    this.from = from;
    this.to = to;
    this.#roadside = roadside;
    this.#delays = delays;
  }

  get held(): boolean {
    return this.#held;
  }

  get partitioned(): boolean {
    return this.#cut;
  }

  /** Messages that wait at the gate. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Nothing arrives any more, also of what is under way already, until `release`. */
  hold(): void {
    this.#held = true;
    this.#note('hold');
  }

  /**
   * Lets what is held arrive: everything, after which the lane is open, or so many messages or bytes of it, after
   * which it is still held. A message may be split by a number of bytes.
   */
  release(amount: Amount = {}): void {
    checkAmount(amount);
    const { messages, bytes } = amount;
    const limited = messages !== undefined || bytes !== undefined;
    this.#note(
      'release',
      limited ? (messages === undefined ? `${bytes} bytes` : `${messages} messages`) : '',
    );
    if (!limited) this.#held = false;
    if (this.#cut) return;
    if (bytes !== undefined) this.#releaseBytes(bytes);
    else this.#open(messages ?? this.#waiting.length);
  }

  /** Makes every later message take so many milliseconds longer; 0 ends it. */
  delay(ms: number): void {
    checkMillis('delay', ms);
    this.#extra = ms;
    this.#note('delay', `${ms} ms`);
  }

  /** Sets the usual time under way, for later messages. */
  pace(delays: Partial<Delays>): void {
    checkDelays('pace', delays);
    this.#delays = { ...this.#delays, ...delays };
  }

  /** Loses the next messages (default all to come), which no retransmission repairs; `drop(0)` ends it. */
  drop(messages = Infinity): void {
    checkMessages('drop', messages);
    this.#toDrop = messages;
    this.#note('drop', `${messages} messages`);
  }

  /** Sends the next messages (default all to come) twice; `duplicate(0)` ends it. */
  duplicate(messages = Infinity): void {
    checkMessages('duplicate', messages);
    this.#toDuplicate = messages;
    this.#note('duplicate', `${messages} messages`);
  }

  /** Half of a partition: nothing arrives until `heal`. */
  partition(): void {
    this.#cut = true;
    this.#note('partition');
  }

  /** Ends the partition; what was sent meanwhile arrives, unless the lane is held as well. */
  heal(): void {
    this.#cut = false;
    this.#note('heal');
    if (!this.#held) this.#open(this.#waiting.length);
  }

  /** How often the next message is to be sent: 0, 1 or 2 times. For the pipe. */
  copies(): number {
    if (this.#toDrop > 0) {
      this.#toDrop--;
      return 0;
    }
    if (this.#toDuplicate === 0) return 1;
    this.#toDuplicate--;
    return 2;
  }

  /** How many microseconds the next message is under way. For the pipe. */
  travel(): number {
    const { latency, jitter } = this.#delays;
    const random = jitter === 0 ? 0 : this.#roadside.random.next() * jitter;
    return Math.round((latency + random + this.#extra) * 1000);
  }

  /** A message has come to the gate; true when it may pass. For the pipe. */
  passes(pipe: Pipe): boolean {
    if (!this.#held && !this.#cut) return true;
    this.#waiting.push(pipe);
    return false;
  }

  /** The pipe's connection is gone, and its messages with it. For the pipe. */
  forget(pipe: Pipe): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== pipe);
  }

  #open(messages: number): void {
    for (const pipe of this.#waiting.splice(0, messages)) pipe.deliverSoon();
  }

  #releaseBytes(bytes: number): void {
    let left = bytes;
    for (let first = this.#waiting[0]; first !== undefined && left > 0; first = this.#waiting[0]) {
      const size = first.nextSize;
      if (size > left) {
        first.splitNext(left);
        first.deliverSoon();
        return;
      }
      left -= size;
      this.#open(1);
    }
  }

  #note(what: string, detail = ''): void {
    this.#roadside.trace.note(`${this.from}>${this.to}`, what, detail);
  }
}

/** Both lanes between two actors. */
export class Link<L extends LaneControls = Lane> {
  readonly out: L;
  readonly back: L;
  readonly #reset: () => void;

  constructor(out: L, back: L, reset: () => void) {
    this.out = out;
    this.back = back;
    this.#reset = reset;
  }

  hold(): void {
    this.out.hold();
    this.back.hold();
  }

  release(): void {
    this.out.release();
    this.back.release();
  }

  /** Nothing passes, dialling included, and nobody is told: what a firewall or a broken switch does. */
  partition(): void {
    this.out.partition();
    this.back.partition();
  }

  heal(): void {
    this.out.heal();
    this.back.heal();
  }

  delay(ms: number): void {
    this.out.delay(ms);
    this.back.delay(ms);
  }

  /** Sets the usual time under way in both directions. */
  pace(delays: Partial<Delays>): void {
    this.out.pace(delays);
    this.back.pace(delays);
  }

  /** Breaks every connection on the link: both ends are told at once, and what was under way is lost. */
  reset(): void {
    this.#reset();
  }
}
