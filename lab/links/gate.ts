/** One direction between two parties, on either clock: a test can hold, cut, delay and slow it, and drop messages. */
import { badOption, checkNames } from '../../base/options.ts';
import { checkMessages, checkMillis, checkRate } from '../checks.ts';
import { Throttle } from './throttle.ts';

/** How long a message takes, in milliseconds (fractions count): `latency` plus a random part of up to `jitter`. */
export interface Delays {
  /** The fixed part, in milliseconds. */
  readonly latency: number;
  /** The maximum of the random part, in milliseconds. */
  readonly jitter: number;
}

/** How much `release` delivers; without limits everything, and the lane is open again. */
export interface Amount {
  /** How many messages to deliver. */
  readonly messages?: number;
  /** How many bytes to deliver. */
  readonly bytes?: number;
}

/** Throws TypeError unless it is an amount that `release` understands. */
function checkAmount(amount: Amount): void {
  checkNames(amount, ['messages', 'bytes'], 'release');
  for (const name of ['messages', 'bytes'] as const) {
    if (amount[name] !== undefined) checkMessages(`release.${name}`, amount[name]);
  }
  if (amount.messages !== undefined && amount.bytes !== undefined)
    throw badOption('release.bytes', amount.bytes, 'no value together with release.messages');
}

/** Throws TypeError for a wrong latency or jitter. @param where how the error names what was asked */
export function checkDelays(where: string, delays: Partial<Delays>): void {
  checkNames(delays, ['latency', 'jitter'], where);
  for (const name of ['latency', 'jitter'] as const) {
    if (delays[name] !== undefined) checkMillis(`${where}.${name}`, delays[name]);
  }
}

/** What happens to a message: it arrives, is lost, or arrives as the last message of its connection. */
export type Fate = 'arrives' | 'lost' | 'last';

/** The controls of one direction, on either clock; `Gate` documents them. */
export interface LaneControls {
  /** The name of the sender. */
  readonly from: string;
  /** The name of the receiver. */
  readonly to: string;
  /** True between `hold` and `release`. */
  readonly held: boolean;
  /** True between `partition` and `heal`. */
  readonly partitioned: boolean;
  /** How many messages wait. */
  readonly waiting: number;
  /** Holds all messages until `release`. */
  hold(): void;
  /** Delivers what is held: everything, or only the given amount. Throws TypeError for a wrong amount. */
  release(amount?: Amount): void;
  /** Delays every later message by this many milliseconds; 0 ends it. Throws TypeError for less than 0. */
  delay(ms: number): void;
  /** Sets latency and jitter, in milliseconds. Throws TypeError for a wrong value. */
  pace(delays: Partial<Delays>): void;
  /** Limits how many bytes per second this direction carries; Infinity ends it. Throws TypeError for a wrong number. */
  bandwidth(bytesPerSecond: number): void;
  /** Delays the end of every connection by this many milliseconds; 0 ends it. Throws TypeError for less than 0. */
  slowClose(ms: number): void;
  /** Loses the next messages, by default all later ones; 0 ends it. Throws TypeError for a wrong number. */
  drop(messages?: number): void;
  /**
   * Breaks the connection after each of the next messages, by default all later ones; 0 ends it. Throws TypeError for a
   * wrong number.
   */
  duplicate(messages?: number): void;
  /** Cuts this direction until `heal`. */
  partition(): void;
  /** Ends the partition. */
  heal(): void;
}

/**
 * A gate that messages of one direction pass. Messages that are held or partitioned off wait in order, as if they had
 * not arrived yet; they are not lost.
 */
export abstract class Gate implements LaneControls {
  readonly from: string;
  readonly to: string;
  #held = false;
  #cut = false;
  #delays: Delays;
  #extra = 0;
  #closing = 0;
  readonly #throttle = new Throttle();
  #toDrop = 0;
  #toDuplicate = 0;

  /** @internal */
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

  /** @internal The size in bytes of the first waiting message. */
  protected abstract get firstSize(): number;

  /** @internal Delivers up to this many waiting messages, the first ones first. */
  protected abstract letPass(messages: number): void;

  /** @internal Delivers this many bytes of the first waiting message. The rest keeps waiting. */
  protected abstract letPart(bytes: number): void;

  /** @internal Delivers every waiting message that is due; called when the gate opens. */
  protected abstract open(): void;

  /** @internal Throws when the world or pair of this lane is closed. */
  protected abstract checkOpen(): void;

  /** @internal Records what a test did to the lane. */
  protected note(_what: string, _detail?: string): void {}

  /** Holds all messages, including those in flight, until `release`. */
  hold(): void {
    this.checkOpen();
    this.#held = true;
    this.note('hold');
  }

  /**
   * Delivers what is held. Without an amount: everything, and the lane is open again. With a number of messages or
   * bytes: only these, and the lane stays held; bytes may split a message. Throws TypeError for a wrong amount.
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
    if (bytes !== undefined) this.letBytes(bytes);
    else this.letPass(messages as number);
  }

  /** Delays every later message by `ms` milliseconds; 0 ends it. Throws TypeError for less than 0. */
  delay(ms: number): void {
    this.checkOpen();
    checkMillis('delay', ms);
    this.#extra = ms;
    this.note('delay', `${ms} ms`);
  }

  /** Sets latency and jitter of later messages, in milliseconds. Throws TypeError for a wrong value. */
  pace(delays: Partial<Delays>): void {
    this.checkOpen();
    checkDelays('pace', delays);
    this.#delays = { ...this.#delays, ...delays };
  }

  /**
   * Limits how many bytes per second this direction carries, over all its connections: a later message arrives when its
   * last byte does. Infinity ends it for later messages. Throws TypeError for 0 or less.
   */
  bandwidth(bytesPerSecond: number): void {
    this.checkOpen();
    checkRate('bandwidth', bytesPerSecond);
    this.#throttle.limit(bytesPerSecond);
    this.note('bandwidth', `${bytesPerSecond} bytes per second`);
  }

  /**
   * Delays the end of every connection by `ms` milliseconds: its last bytes arrive as usual, and the far end learns later
   * that nothing will follow. 0 ends it. Resets are not delayed. Throws TypeError for less than 0.
   */
  slowClose(ms: number): void {
    this.checkOpen();
    checkMillis('slowClose', ms);
    this.#closing = ms;
    this.note('slowClose', `${ms} ms`);
  }

  /**
   * Loses the next messages (default: all later ones) for good, as when no retransmission gets through. Messages behind
   * them on the same connection and in this direction cannot arrive either: the connection stalls until the sender gives
   * up. `drop(0)` ends it for later messages. Throws TypeError for a wrong number.
   */
  drop(messages = Infinity): void {
    this.checkOpen();
    checkMessages('drop', messages);
    this.#toDrop = messages;
    this.note('drop', `${messages} messages`);
  }

  /**
   * Breaks the connection after each of the next messages (default: all later ones): they arrive, but no reply comes
   * back. A client that then sends its request again, as ioredis does by default, has it executed twice; a network never
   * repeats bytes within a connection. `duplicate(0)` ends it. Throws TypeError for a wrong number.
   */
  duplicate(messages = Infinity): void {
    this.checkOpen();
    checkMessages('duplicate', messages);
    this.#toDuplicate = messages;
    this.note('duplicate', `${messages} messages`);
  }

  /** Cuts this direction: nothing arrives until `heal`. */
  partition(): void {
    this.checkOpen();
    this.#cut = true;
    this.note('partition');
  }

  /** Ends the partition; what was sent in the meantime arrives, unless the lane is also held. */
  heal(): void {
    this.checkOpen();
    this.#cut = false;
    this.note('heal');
    this.#openUnlessShut();
  }

  /** @internal Decides what happens to the next message with bytes, and counts it against `drop` or `duplicate`. */
  fate(): Fate {
    if (this.#toDrop > 0) {
      this.#toDrop--;
      return 'lost';
    }
    if (this.#toDuplicate === 0) return 'arrives';
    this.#toDuplicate--;
    return 'last';
  }

  /** @internal True while the next message will be lost. */
  protected get losing(): boolean {
    return this.#toDrop > 0;
  }

  /** @internal True while nothing may pass. */
  protected get shut(): boolean {
    return this.#held || this.#cut;
  }

  /** @internal By how many milliseconds the end of a connection is delayed. */
  protected get closingMs(): number {
    return this.#closing;
  }

  /**
   * @internal
   * How many milliseconds the next message takes.
   * @param random returns a number in [0, 1); called only when there is jitter
   * @param bytes the size of the message
   * @param now milliseconds on the clock of the lane
   */
  protected travelMs(random: () => number, bytes: number, now: number): number {
    const { latency, jitter } = this.#delays;
    return latency + (jitter === 0 ? 0 : random() * jitter) + this.#extra + this.#throttle.send(bytes, now);
  }

  #openUnlessShut(): void {
    if (!this.shut) this.open();
  }

  /** @internal Delivers the first bytes of what waits. They may split a message. */
  protected letBytes(bytes: number): void {
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
