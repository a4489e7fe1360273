/** One direction of one connection: messages in order, each under way for the time that its lane takes. */
import Denque from 'denque';
import type { Actor } from '../time/actor.ts';
import { Task } from '../time/task.ts';
import type { Lane } from './lane.ts';

/** The bytes of one write, or what TCP says without bytes. */
export type PipeMessage = Uint8Array | 'open' | 'accepted' | 'refused' | 'end' | Ending;

/** How a connection breaks, as its ends hear of it: the far end is gone, or has not answered for too long. */
export type Ending = 'reset' | 'timed out';

/** What has been sent and not been taken yet waits here. */
export class Pipe {
  readonly lane: Lane;
  /** Who takes what arrives; the kernel's actor until the connection is accepted. */
  actor: Actor;
  /** The taker is our own synchronous code. */
  readonly inner: boolean;
  /** Bytes that were sent and have not been taken. */
  pending = 0;
  /** What its connection does when a message is lost, or was the last that is to arrive. */
  trouble: (what: 'lost' | 'last') => void = () => {};
  /** Bytes ever sent, lost ones included: a position in the stream. */
  sent = 0;
  #taken = 0;
  /** Where each message ends. */
  readonly #ends = new Denque<number>();
  readonly #label: string;
  readonly #messages = new Denque<PipeMessage>();
  /** When each message arrives at the far end, in microseconds. */
  readonly #arrivals = new Denque<number>();
  #take: (message: PipeMessage) => void;
  #lastArrival = 0;
  /** Messages that may pass although their delivery is still scheduled. */
  #passing = 0;
  #stalled = false;
  /** Arrivals during the stall. */
  #backed = 0;
  #state: 'open' | 'broken' | 'closed' = 'open';
  #ending: Ending = 'reset';
  /** A message was lost, and what is behind it cannot arrive. */
  #lost = false;
  /** The connection breaks when so much has been taken. */
  #breaksAt = Infinity;
  /** The sender's process is gone; its kernel delivers what it has sent. */
  #left = false;

  constructor(lane: Lane, label: string, actor: Actor, inner: boolean, take: (message: PipeMessage) => void) {
    this.lane = lane;
    this.#label = label;
    this.actor = actor;
    this.inner = inner;
    this.#take = take;
  }

  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** True when the far end has taken the byte before this position, or will, whatever becomes of the sender. */
  tookUpTo(position: number): boolean {
    return this.#taken >= position || (this.#left && this.#state === 'open' && position <= this.sent);
  }

  /** True when something has arrived and was not taken: it lies in the taker's kernel. */
  get unread(): boolean {
    if (this.#backed > 0) return true;
    const { held, partitioned } = this.lane;
    const first = this.#arrivals.peekFront();
    return !held && !partitioned && first !== undefined && first <= this.actor.schedule.micros;
  }

  /**
   * The sender's process dies: the kernel delivers what was sent, and then the end. What cannot get through just now is
   * lost, as it is when the kernel has no more patience with a connection that belongs to nobody.
   */
  leave(): void {
    if (this.#state !== 'open') return;
    if (this.pending > 0 && (this.lane.held || this.lane.partitioned)) {
      this.break();
      return;
    }
    this.#left = true;
    this.send('end');
  }

  /** From now on somebody else takes what arrives. */
  handOver(actor: Actor, take: (message: PipeMessage) => void): void {
    this.actor = actor;
    this.#take = take;
  }

  /** Sends a message; nothing happens once the pipe was broken or closed. */
  send(message: PipeMessage): void {
    if (this.#state !== 'open') return;
    this.sent += sizeOf(message);
    this.pending += sizeOf(message);
    if (this.#lost) return;
    const fate = typeof message === 'string' ? 'arrives' : this.lane.fate();
    if (fate === 'lost') {
      this.#lost = true;
      this.#note('dropped', message);
      this.trouble('lost');
      return;
    }
    if (fate === 'last') this.#breaksAt = Math.min(this.#breaksAt, this.sent);
    this.#messages.push(message);
    this.#ends.push(this.sent);
    this.#arm(this.#arrive);
    this.#arrivals.push(this.#lastArrival);
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
  breakNow(ending: Ending = 'reset'): void {
    if (this.#state === 'closed') return;
    this.#ending = ending;
    this.#empty('broken');
    this.deliverSoon();
  }

  #empty(state: 'broken' | 'closed'): void {
    this.#state = state;
    this.#messages.clear();
    this.#ends.clear();
    this.#arrivals.clear();
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
    const arrival = this.#arrivals.peekAt(this.#passing) as number;
    this.#arrivals.splice(this.#passing, 0, arrival);
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
      this.#note(this.#ending, this.#ending);
      this.#take(this.#ending);
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
    this.#arrivals.shift();
    this.#note(typeof message === 'string' ? message : 'data', message);
    this.#take(message);
    if (this.#taken >= this.#breaksAt) this.trouble('last');
  }

  #note(what: string, message: PipeMessage): void {
    const detail = typeof message === 'string' ? '' : Buffer.prototype.latin1Slice.call(message);
    this.actor.world.trace.note(this.#label, what, detail);
  }
}

function sizeOf(message: PipeMessage): number {
  return typeof message === 'string' ? 0 : message.length;
}

/** The two pipes as seen from one end, and its addresses. */
export interface Ends {
  readonly out: Pipe;
  readonly in: Pipe;
  /** `127.0.0.1:50000` */
  readonly local: string;
  readonly remote: string;
  /** The name of the actor at the other end. */
  readonly peer: string;
}
