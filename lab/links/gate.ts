/** The gate of one direction between two parties, on either clock: a test holds it, cuts it, and says what a message suffers. */
import { checkNames } from '../../embed/options.ts';
import { checkMessages, checkMillis } from '../checks.ts';

/** How long a message is under way, in milliseconds (fractions count): `latency`, and up to `jitter` more. */
export interface Delays {
  readonly latency: number;
  readonly jitter: number;
}

/** How much `release` lets through; without limits everything, and the lane is open again. */
export interface Amount {
  readonly messages?: number;
  readonly bytes?: number;
}

/** Throws TypeError unless it is an amount that `release` understands. */
function checkAmount(amount: Amount): void {
  checkNames(amount, ['messages', 'bytes'], 'release');
  for (const name of ['messages', 'bytes'] as const) {
    if (amount[name] !== undefined) checkMessages(`release.${name}`, amount[name]);
  }
}

/** Throws TypeError for a wrong latency or jitter. @param where how the error names what was asked */
export function checkDelays(where: string, delays: Partial<Delays>): void {
  checkNames(delays, ['latency', 'jitter'], where);
  for (const name of ['latency', 'jitter'] as const) {
    if (delays[name] !== undefined) checkMillis(`${where}.${name}`, delays[name]);
  }
}

/** What becomes of a message. */
export type Fate = 'arrives' | 'lost' | 'last';

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

/** What is held or partitioned off waits, in order, as if it had not come yet, and is not lost. */
export abstract class Gate implements LaneControls {
  readonly from: string;
  readonly to: string;
  #held = false;
  #cut = false;
  #delays: Delays;
  #extra = 0;
  #toDrop = 0;
  #toDuplicate = 0;

  constructor(from: string, to: string, delays: Delays) {
    this.from = from;
    this.to = to;
    this.#delays = delays;
  }

  get held(): boolean {
    return this.#held;
  }

  get partitioned(): boolean {
    return this.#cut;
  }

  /** Messages that wait at the gate. */
  abstract get waiting(): number;

  /** Bytes of the first message that waits. */
  protected abstract get firstSize(): number;

  /** Lets the first messages pass, at most so many. */
  protected abstract letPass(messages: number): void;

  /** Lets so many bytes of the first message pass; the rest of it waits on. */
  protected abstract letPart(bytes: number): void;

  /** Lets everything pass whose time has come; the gate is open. */
  protected abstract open(): void;

  /** Throws when the lane's world or pair is closed. */
  protected abstract checkOpen(): void;

  /** Keeps a record of what a test has done. */
  protected note(_what: string, _detail?: string): void {}

  /** Nothing arrives any more, also of what is under way already, until `release`. */
  hold(): void {
    this.checkOpen();
    this.#held = true;
    this.note('hold');
  }

  /**
   * Lets what is held arrive: everything, after which the lane is open, or so many messages or bytes of it, after
   * which it is still held. A message may be split by a number of bytes. Throws TypeError for a wrong amount.
   */
  release(amount: Amount = {}): void {
    this.checkOpen();
    checkAmount(amount);
    const { messages, bytes } = amount;
    if (messages === undefined && bytes === undefined) {
      this.note('release');
      this.#held = false;
      this.#openUnlessShut();
      return;
    }
    this.note('release', messages === undefined ? `${bytes} bytes` : `${messages} messages`);
    if (this.#cut) return;
    if (bytes !== undefined) this.#letBytes(bytes);
    else this.letPass(messages as number);
  }

  /** Makes every later message take so many milliseconds longer; 0 ends it. Throws TypeError for less than 0. */
  delay(ms: number): void {
    this.checkOpen();
    checkMillis('delay', ms);
    this.#extra = ms;
    this.note('delay', `${ms} ms`);
  }

  /** Sets the usual time under way, for later messages: `latency`, and up to `jitter` more, in milliseconds. */
  pace(delays: Partial<Delays>): void {
    this.checkOpen();
    checkDelays('pace', delays);
    this.#delays = { ...this.#delays, ...delays };
  }

  /**
   * Loses the next messages (default all to come) for good, as when no retransmission gets through. What follows on the
   * same connection, in this direction, cannot arrive either: it stalls, until the sender gives up. `drop(0)` ends it for
   * later messages. Throws TypeError for a wrong number.
   */
  drop(messages = Infinity): void {
    this.checkOpen();
    checkMessages('drop', messages);
    this.#toDrop = messages;
    this.note('drop', `${messages} messages`);
  }

  /**
   * Breaks the connection behind each of the next messages (default all to come): they arrive, and nothing comes back.
   * A client that sends its request again then, as ioredis does by default, has it executed twice; no network repeats
   * bytes within a connection. `duplicate(0)` ends it. Throws TypeError for a wrong number.
   */
  duplicate(messages = Infinity): void {
    this.checkOpen();
    checkMessages('duplicate', messages);
    this.#toDuplicate = messages;
    this.note('duplicate', `${messages} messages`);
  }

  /** Half of a partition: nothing arrives until `heal`. */
  partition(): void {
    this.checkOpen();
    this.#cut = true;
    this.note('partition');
  }

  /** Ends the partition; what was sent meanwhile arrives, unless the lane is held as well. */
  heal(): void {
    this.checkOpen();
    this.#cut = false;
    this.note('heal');
    this.#openUnlessShut();
  }

  /** What becomes of the next message with bytes: it arrives, is lost, or arrives as the last one of its connection. */
  fate(): Fate {
    if (this.#toDrop > 0) {
      this.#toDrop--;
      return 'lost';
    }
    if (this.#toDuplicate === 0) return 'arrives';
    this.#toDuplicate--;
    return 'last';
  }

  /** Nothing passes. */
  protected get shut(): boolean {
    return this.#held || this.#cut;
  }

  /** How many milliseconds the next message is under way. @param random a number in [0, 1), asked for jitter alone */
  protected travelMs(random: () => number): number {
    const { latency, jitter } = this.#delays;
    return latency + (jitter === 0 ? 0 : random() * jitter) + this.#extra;
  }

  #openUnlessShut(): void {
    if (!this.shut) this.open();
  }

  #letBytes(bytes: number): void {
    let left = bytes;
    while (left > 0 && this.waiting > 0) {
      const size = this.firstSize;
      if (size > left) {
        this.letPart(left);
        return;
      }
      left -= size;
      this.letPass(1);
    }
  }
}
