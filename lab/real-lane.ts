/** One direction of the way between two parties on the real clock, with the controls of the virtual lanes. */
import Denque from 'denque';
import { nodeClock } from '../server/node-host.ts';
import type { Amount, Delays, LaneControls } from './link.ts';
import { checkAmount, checkDelays, checkMessages, checkMillis } from './options.ts';

/** What arrives; undefined: something without bytes, such as the end of the connection. */
type Content = Uint8Array | undefined;

interface Message {
  readonly content: Content;
  /** Not before this instant, in milliseconds since the epoch. */
  readonly due: number;
  readonly deliver: (content: Content) => void;
}

/** A message is what the socket hands over at once, so that its borders are TCP's. What is held waits, in order. */
export class RealLane implements LaneControls {
  readonly from: string;
  readonly to: string;
  readonly #random: () => number;
  #held = false;
  #cut = false;
  #extra = 0;
  #delays: Delays = { latency: 0, jitter: 0 };
  #toDrop = 0;
  #toDuplicate = 0;
  #timer: { cancel(): void } | undefined;
  readonly #waiting = new Denque<Message>();

  /** @param random a number in [0, 1), for jitter */
  constructor(from: string, to: string, random: () => number) {
    this.from = from;
    this.to = to;
    this.#random = random;
  }

  get held(): boolean {
    return this.#held;
  }

  get partitioned(): boolean {
    return this.#cut;
  }

  /** Messages that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Nothing arrives any more until `release`. */
  hold(): void {
    this.#held = true;
  }

  /** Lets what is held arrive: everything, or so many messages or bytes of it, after which the lane is still held. */
  release(amount: Amount = {}): void {
    checkAmount(amount);
    const { messages, bytes } = amount;
    if (messages === undefined && bytes === undefined) {
      this.#held = false;
      this.#open();
      return;
    }
    if (this.#cut) return;
    if (bytes !== undefined) this.#releaseBytes(bytes);
    else for (let i = 0; i < (messages ?? 0); i++) this.#deliver();
  }

  /** Makes every later message take so many milliseconds; 0 ends it. */
  delay(ms: number): void {
    checkMillis('delay', ms);
    this.#extra = ms;
  }

  /** Sets the usual time under way, for later messages: `latency`, and up to `jitter` more, in milliseconds. */
  pace(delays: Partial<Delays>): void {
    checkDelays('pace', delays);
    this.#delays = { ...this.#delays, ...delays };
  }

  /** Loses the next messages (default all to come), which no retransmission repairs; `drop(0)` ends it. */
  drop(messages = Infinity): void {
    checkMessages('drop', messages);
    this.#toDrop = messages;
  }

  /** Sends the next messages (default all to come) twice; `duplicate(0)` ends it. */
  duplicate(messages = Infinity): void {
    checkMessages('duplicate', messages);
    this.#toDuplicate = messages;
  }

  /** Half of a partition: nothing arrives until `heal`. */
  partition(): void {
    this.#cut = true;
  }

  heal(): void {
    this.#cut = false;
    this.#open();
  }

  /** How often the next message with bytes is to be sent: 0, 1 or 2 times. */
  copies(): number {
    if (this.#toDrop > 0) {
      this.#toDrop--;
      return 0;
    }
    if (this.#toDuplicate === 0) return 1;
    this.#toDuplicate--;
    return 2;
  }

  /** Delivers a message, now or when the lane lets it pass. */
  pass(content: Content, deliver: (content: Content) => void): void {
    const { latency, jitter } = this.#delays;
    const travel = this.#extra + latency + (jitter === 0 ? 0 : this.#random() * jitter);
    const due = travel === 0 ? 0 : nodeClock.now() + Math.ceil(travel);
    if (due === 0 && this.#waiting.length === 0 && !this.#held && !this.#cut) {
      deliver(content);
      return;
    }
    this.#waiting.push({ content, due, deliver });
    this.#open();
  }

  /** Forgets what waits. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #open(): void {
    while (!this.#held && !this.#cut) {
      const next = this.#waiting.peekFront();
      if (next === undefined) return;
      if (next.due > nodeClock.now()) {
        this.#lookAgainAt(next.due);
        return;
      }
      this.#deliver();
    }
  }

  #lookAgainAt(due: number): void {
    this.#timer ??= nodeClock.at(due, () => {
      this.#timer = undefined;
      this.#open();
    });
  }

  #deliver(): void {
    const next = this.#waiting.shift();
    next?.deliver(next.content);
  }

  #releaseBytes(bytes: number): void {
    let left = bytes;
    while (left > 0) {
      const next = this.#waiting.peekFront();
      if (next === undefined) return;
      const { content } = next;
      if (content !== undefined && content.length > left) {
        this.#waiting.shift();
        this.#waiting.unshift({ ...next, content: content.subarray(left) });
        next.deliver(content.subarray(0, left));
        return;
      }
      left -= content?.length ?? 0;
      this.#deliver();
    }
  }
}
