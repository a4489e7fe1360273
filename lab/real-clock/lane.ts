/** One direction between two parties on the real clock, with the controls of the virtual lanes. */
import Denque from 'denque';
import type { Clock } from '../../server/host/host.ts';
import { nodeClock } from '../../server/host/node.ts';
import { Gate } from '../links/gate.ts';

/** The bytes of a message; undefined for one without bytes, such as the end of the connection. */
type Content = Uint8Array | undefined;

interface LaneMessage {
  readonly content: Content;
  /** The earliest time of delivery, in milliseconds since the epoch. */
  readonly due: number;
  /** The connection that carries it. */
  readonly carrier: object;
  readonly deliver: (content: Content) => void;
}

/** What a connection has at the gate. */
interface Queued {
  messages: number;
  /** When its last message is due. */
  due: number;
}

/** The error of controls that are used after `close`. */
export const CLOSED = 'these nodes are closed: nothing happens in them any more';

/** One direction. A message is a chunk as the socket delivers it, so TCP decides where messages begin and end. */
export class RealClockLane extends Gate {
  readonly #random: () => number;
  readonly #noted: (what: string, detail: string) => void;
  readonly #time: Clock;
  #timer: { cancel(): void } | undefined;
  /** In the order in which they are due. Those of one connection stay in the order in which they were sent. */
  readonly #waiting = new Denque<LaneMessage>();
  readonly #queued = new Map<object, Queued>();
  /** Break the connections of which messages were lost. */
  readonly #breaks = new Set<() => void>();
  /** The delayed ends of connections. */
  readonly #ends = new Set<{ cancel(): void }>();
  #closed = false;
  #suspended = false;

  /**
   * @internal
   * @param random returns a number in [0, 1), for jitter
   * @param noted receives what a test does to the lane
   * @param time on which messages are delayed
   */
  constructor(
    from: string,
    to: string,
    random: () => number,
    noted: (what: string, detail: string) => void = () => {},
    time: Clock = nodeClock,
  ) {
    super(from, to, { latency: 0, jitter: 0 });
    this.#random = random;
    this.#noted = noted;
    this.#time = time;
  }

  /** @internal */
  protected override note(what: string, detail = ''): void {
    this.#noted(what, detail);
  }

  /** How many messages wait at the gate. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** @internal True between `suspend` and `proceed`. */
  get suspended(): boolean {
    return this.#suspended;
  }

  /** @internal Holds all messages until `proceed`, beside what `hold` and `partition` do. */
  suspend(): void {
    this.#suspended = true;
  }

  /** @internal Delivers what was suspended, unless the lane is also held or partitioned. */
  proceed(): void {
    this.#suspended = false;
    this.open();
  }

  /**
   * @internal
   * Delivers what waits now, or only its first bytes, and goes on suspending what comes. Does nothing while the lane is held
   * or partitioned.
   */
  letWaitingPass(bytes = Infinity): void {
    if (!super.shut) this.letBytes(bytes);
  }

  /** @internal */
  protected override get shut(): boolean {
    return super.shut || this.#suspended;
  }

  /** @internal Passes on the end of a connection: after all its messages, and later still if the test asks for it. */
  passEnd(carrier: object, deliver: () => void): void {
    this.pass(carrier, undefined, () => {
      if (this.closingMs === 0) return deliver();
      // Other connections of the lane do not wait for it.
      const timer = this.#time.at(this.#time.now() + Math.ceil(this.closingMs), () => {
        this.#ends.delete(timer);
        deliver();
      });
      this.#ends.add(timer);
    });
  }

  /**
   * @internal
   * Delivers a message now, or when the lane lets it pass. It waits for earlier messages of its own connection, not for those
   * of others.
   * @param carrier the connection that carries it
   */
  pass(carrier: object, content: Content, deliver: (content: Content) => void): void {
    const now = this.#time.now();
    const travel = this.travelMs(this.#random, content?.length ?? 0, now);
    const queued = this.#queued.get(carrier);
    if (travel === 0 && queued === undefined && !this.shut) {
      deliver(content);
      return;
    }
    const due = Math.max(now + Math.ceil(travel), queued?.due ?? 0);
    if (queued === undefined) this.#queued.set(carrier, { messages: 1, due });
    else Object.assign(queued, { messages: queued.messages + 1, due });
    this.#enqueue({ content, due, carrier, deliver });
    this.open();
  }

  #enqueue(message: LaneMessage): void {
    const { length } = this.#waiting;
    let place = length;
    while (place > 0 && (this.#waiting.peekAt(place - 1)?.due ?? 0) > message.due) place--;
    if (place === length) {
      this.#waiting.push(message);
      return;
    }
    this.#waiting.splice(place, 0, message);
    if (place > 0) return;
    // The timer waits for a message that is due later.
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Takes the first message out of the queue. */
  #dequeue(): LaneMessage | undefined {
    const message = this.#waiting.shift();
    if (message === undefined) return undefined;
    const queued = this.#queued.get(message.carrier) as Queued;
    queued.messages--;
    if (queued.messages === 0) this.#queued.delete(message.carrier);
    return message;
  }

  /**
   * @internal
   * A connection has lost a message. It breaks when the lane has lost as many as the test asked for, because nothing that
   * follows on it could arrive.
   * @param breakIt resets the connection
   */
  lost(breakIt: () => void): void {
    this.#breaks.add(breakIt);
    if (!this.losing) this.#breakAll();
  }

  /** Loses the next messages, as `Gate.drop` does, then breaks the connections that lost one. */
  override drop(messages = Infinity): void {
    super.drop(messages);
    if (messages === 0) this.#breakAll();
  }

  #breakAll(): void {
    const breaks = [...this.#breaks];
    this.#breaks.clear();
    for (const breakIt of breaks) nodeClock.soon(breakIt);
  }

  /** @internal */
  protected checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  /** @internal Drops everything that waits, because its network is closed. */
  close(): void {
    this.#closed = true;
    this.clear();
  }

  /** @internal Drops everything that waits. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting.clear();
    this.#queued.clear();
    this.#breaks.clear();
    for (const timer of this.#ends) timer.cancel();
    this.#ends.clear();
  }

  /** @internal */
  protected open(): void {
    // The receiver of a message may close the gate.
    while (!this.shut) {
      const next = this.#waiting.peekFront();
      if (next === undefined) return;
      if (next.due > this.#time.now()) {
        this.#lookAgainAt(next.due);
        return;
      }
      this.letPass(1);
    }
  }

  #lookAgainAt(due: number): void {
    this.#timer ??= this.#time.at(due, () => {
      this.#timer = undefined;
      this.open();
    });
  }

  /** @internal */
  protected letPass(messages: number): void {
    for (let left = Math.min(messages, this.#waiting.length); left > 0; left--) {
      const next = this.#dequeue();
      next?.deliver(next.content);
    }
  }

  /** @internal */
  protected get firstSize(): number {
    return this.#waiting.peekFront()?.content?.length ?? 0;
  }

  /** @internal */
  protected letPart(bytes: number): void {
    const next = this.#waiting.shift();
    if (next?.content === undefined) return;
    this.#waiting.unshift({ ...next, content: next.content.subarray(bytes) });
    next.deliver(next.content.subarray(0, bytes));
  }
}
