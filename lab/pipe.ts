/** One direction of one connection: messages in order, each under way for the time that its lane takes. */
import Denque from 'denque';
import type { Actor } from './actor.ts';
import type { Lane } from './lane.ts';
import { Task } from './timers.ts';

/** The bytes of one write, or what TCP says without bytes. */
export type Message = Uint8Array | 'open' | 'accepted' | 'refused' | 'end' | 'reset';

/** What has been sent and not been taken yet waits here. */
export class Pipe {
  readonly lane: Lane;
  /** Who takes what arrives; the kernel's actor until the connection is accepted. */
  actor: Actor;
  /** The taker is our own synchronous code. */
  readonly inner: boolean;
  /** Bytes that were sent and have not been taken. */
  pending = 0;
  /** Bytes ever sent, lost ones included: a position in the stream. */
  sent = 0;
  #taken = 0;
  /** Where each message ends. */
  readonly #ends = new Denque<number>();
  readonly #dropped: [from: number, to: number][] = [];
  readonly #label: string;
  readonly #messages = new Denque<Message>();
  #take: (message: Message) => void;
  #lastArrival = 0;
  /** Messages that may pass although their delivery is still scheduled. */
  #passing = 0;
  #stalled = false;
  /** Arrivals during the stall. */
  #backed = 0;
  #state: 'open' | 'broken' | 'closed' = 'open';

  constructor(lane: Lane, label: string, actor: Actor, inner: boolean, take: (message: Message) => void) {
    this.lane = lane;
    this.#label = label;
    this.actor = actor;
    this.inner = inner;
    this.#take = take;
  }

  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** True when the far end has taken the byte before this position. */
  tookUpTo(position: number): boolean {
    if (this.#dropped.some(([from, to]) => position > from && position <= to)) return false;
    return this.#taken >= position;
  }

  /** From now on somebody else takes what arrives. */
  handOver(actor: Actor, take: (message: Message) => void): void {
    this.actor = actor;
    this.#take = take;
  }

  /** Sends a message; nothing happens once the pipe was broken or closed. */
  send(message: Message): void {
    if (this.#state !== 'open') return;
    const copies = typeof message === 'string' ? 1 : this.lane.copies();
    const from = this.sent;
    this.sent += sizeOf(message);
    if (copies === 0) {
      this.#dropped.push([from, this.sent]);
      this.#note('dropped', message);
    }
    for (let i = 0; i < copies; i++) {
      this.#messages.push(message);
      this.#ends.push(this.sent);
      this.pending += sizeOf(message);
      this.#arm(this.#arrive);
    }
  }

  /** What is under way is lost; the far end learns of it as fast as of any message. */
  break(): void {
    if (this.#state !== 'open') return;
    this.#empty('broken');
    this.#arm(this.#arriveBroken);
  }

  /** Nobody takes anything any more. */
  close(): void {
    if (this.#state !== 'closed') this.#empty('closed');
  }

  /** As `break`, but the far end is told at once, whatever the lane. */
  breakNow(): void {
    if (this.#state === 'closed') return;
    this.#empty('broken');
    this.deliverSoon();
  }

  #empty(state: 'broken' | 'closed'): void {
    this.#state = state;
    this.#messages.clear();
    this.#ends.clear();
    this.pending = 0;
    this.#backed = 0;
    this.#stalled = false;
    this.lane.forget(this);
  }

  /** Bytes of the next message that the lane may let pass. For the lane. */
  get nextSize(): number {
    const next = this.#messages.peekAt(this.#passing);
    return next === undefined ? 0 : sizeOf(next);
  }

  /** Makes the next message two, the first of so many bytes. For the lane. */
  splitNext(bytes: number): void {
    const next = this.#messages.peekAt(this.#passing);
    if (!(next instanceof Uint8Array)) return;
    const end = this.#ends.peekAt(this.#passing) as number;
    this.#messages.splice(this.#passing, 1, next.subarray(0, bytes), next.subarray(bytes));
    this.#ends.splice(this.#passing, 1, end - next.length + bytes, end);
  }

  /** The lane lets the next message pass. */
  deliverSoon(): void {
    this.#passing++;
    const { schedule } = this.actor;
    schedule.arm(new Task(this.actor, this.inner, this.#pass), schedule.micros);
  }

  /** Messages wait, unlost, until `flow`. */
  stall(): void {
    this.#stalled = true;
  }

  flow(): void {
    if (!this.#stalled) return;
    this.#stalled = false;
    const backed = this.#backed;
    this.#backed = 0;
    for (let i = 0; i < backed; i++) this.deliverSoon();
  }

  /** Arrival times never decrease within the pipe, and equal ones keep their order. */
  #arm(arrive: () => void): void {
    const { schedule } = this.actor;
    this.#lastArrival = Math.max(this.#lastArrival, schedule.micros + this.lane.travel());
    schedule.arm(new Task(this.actor, this.inner, arrive), this.#lastArrival);
  }

  readonly #arrive = (): void => {
    if (this.#state === 'open' && this.lane.passes(this)) this.#deliver();
  };

  readonly #arriveBroken = (): void => {
    if (this.#state === 'broken' && this.lane.passes(this)) this.#deliver();
  };

  readonly #pass = (): void => {
    this.#passing--;
    this.#deliver();
  };

  #deliver(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'broken') {
      this.#state = 'closed';
      this.#note('reset', 'reset');
      this.#take('reset');
      return;
    }
    if (this.#stalled) {
      this.#backed++;
      return;
    }
    const message = this.#messages.shift();
    if (message === undefined) return;
    this.pending -= sizeOf(message);
    this.#taken = this.#ends.shift() as number;
    this.#note(typeof message === 'string' ? message : 'data', message);
    this.#take(message);
  }

  #note(what: string, message: Message): void {
    const detail = typeof message === 'string' ? '' : Buffer.prototype.latin1Slice.call(message);
    this.actor.world.trace.note(this.#label, what, detail);
  }
}

function sizeOf(message: Message): number {
  return typeof message === 'string' ? 0 : message.length;
}
