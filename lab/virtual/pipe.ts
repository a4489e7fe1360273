/** One direction of one connection: messages in order, each delayed by its lane. */
import Denque from 'denque';
import type { Bytes } from '../../protocol/bytes.ts';
import type { Actor } from '../time/actor.ts';
import type { Travel } from '../time/event.ts';
import { Task } from '../time/task.ts';
import type { Lane } from './lane.ts';

/** The bytes of one write, or a TCP event without bytes. */
export type PipeMessage = Uint8Array | 'open' | 'accepted' | 'refused' | 'end' | Ending;

/** How a connection breaks, as its ends see it: the far end is gone, or has not answered for too long. */
export type Ending = 'reset' | 'timed out';

/** A message on its way, and the event of its arrival. One object for both, because each world makes thousands. */
class Passage extends Task<Actor> {
  readonly message: PipeMessage;
  /** Its bytes as latin1; undefined when the sender had them in no such form. */
  readonly text: Bytes | undefined;
  /** Its end in the stream. */
  end = 0;
  /** When it was sent and reaches the far end, in microseconds since the world began. */
  sent = 0;
  due = 0;

  constructor(pipe: Pipe, message: PipeMessage, text: Bytes | undefined, arrive?: () => void) {
    super(pipe.actor, pipe.inner, arrive);
    this.message = message;
    this.text = text;
  }

  get size(): number {
    return typeof this.message === 'string' ? 0 : this.message.length;
  }

  get detail(): Bytes {
    const { message, text } = this;
    return text ?? (typeof message === 'string' ? '' : Buffer.prototype.latin1Slice.call(message));
  }
}

/** Holds what was sent and has not been received yet. */
export class Pipe {
  readonly lane: Lane;
  /** The sender and the receiver, the one that dialled with its port: `A:50000>redis-1`. */
  readonly label: string;
  /** The actor that receives the messages; the kernel's actor until the connection is accepted. */
  actor: Actor;
  /** True when the receiver is our own synchronous code. */
  readonly inner: boolean;
  /** The number of bytes that were sent and have not been received. */
  pending = 0;
  /** Called when a message is lost, or was the last one that may arrive. */
  trouble: (what: 'lost' | 'last') => void = () => {};
  /** The number of bytes sent so far, including lost ones: a position in the stream. */
  sent = 0;
  #taken = 0;
  readonly #messages = new Denque<Passage>();
  #take: (message: PipeMessage) => void;
  #lastArrival = 0;
  /** The number of messages that may pass although their delivery is still scheduled. */
  #passing = 0;
  #stalled = false;
  /** The number of messages that arrived during the stall. */
  #backed = 0;
  #state: 'open' | 'broken' | 'closed' = 'open';
  #ending: Ending = 'reset';
  /** True when a message was lost: what follows cannot arrive. */
  #lost = false;
  /** The connection breaks when this many bytes have been received. */
  #breaksAt = Infinity;
  /** True when the sender's process is gone; the kernel still delivers what it has sent. */
  #left = false;

  constructor(lane: Lane, label: string, actor: Actor, inner: boolean, take: (message: PipeMessage) => void) {
    this.lane = lane;
    this.label = label;
    this.actor = actor;
    this.inner = inner;
    this.#take = take;
  }

  get closed(): boolean {
    return this.#state === 'closed';
  }

  /** True when the far end has received the byte before this position, or will, whatever happens to the sender. */
  tookUpTo(position: number): boolean {
    return this.#taken >= position || (this.#left && this.#state === 'open' && position <= this.sent);
  }

  /** True when data has arrived and not been read: it is in the receiver's kernel. */
  get unread(): boolean {
    if (this.#backed > 0) return true;
    const { held, partitioned } = this.lane;
    const first = this.#messages.peekFront();
    return !held && !partitioned && first !== undefined && first.due <= this.#elapsed;
  }

  /**
   * The sender's process dies. The kernel delivers what was sent, and then the end. What cannot get through right now
   * is lost, as when the kernel gives up on a connection that no process owns.
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

  /** Another receiver takes the messages from now on. */
  handOver(actor: Actor, take: (message: PipeMessage) => void): void {
    this.actor = actor;
    this.#take = take;
  }

  /**
   * Sends a message. Does nothing once the pipe is broken or closed.
   * @param text the bytes as latin1, if the sender has them, so that the trace need not make them again
   */
  send(message: PipeMessage, text?: Bytes): void {
    if (this.#state !== 'open') return;
    const passage = new Passage(this, message, text, this.#arrive);
    const { size } = passage;
    this.sent += size;
    this.pending += size;
    if (this.#lost) return;
    const fate = typeof message === 'string' ? 'arrives' : this.lane.fate();
    const { schedule } = this.actor;
    passage.sent = this.#elapsed + schedule.reached - schedule.micros;
    if (fate === 'lost') {
      this.#lost = true;
      passage.due = passage.sent;
      this.#note('dropped', passage.detail, passage);
      this.trouble('lost');
      return;
    }
    if (fate === 'last') this.#breaksAt = Math.min(this.#breaksAt, this.sent);
    passage.end = this.sent;
    this.#messages.push(passage);
    this.#arm(passage, size, message === 'end');
    passage.due = this.#lastArrival - schedule.micros + this.#elapsed;
  }

  /** Breaks the pipe: messages under way are lost, and the far end learns of it after the usual delay. */
  break(): void {
    if (this.#state !== 'open') return;
    this.#empty('broken');
    this.#arm(new Task(this.actor, this.inner, this.#arriveBroken), 0, false);
  }

  /** Stops receiving: later messages are dropped. */
  close(): void {
    if (this.#state !== 'closed') this.#empty('closed');
  }

  /** Like `break`, but the far end learns of it at once, whatever the lane's state. */
  breakNow(ending: Ending = 'reset'): void {
    if (this.#state === 'closed') return;
    this.#ending = ending;
    this.#empty('broken');
    this.deliverSoon();
  }

  /** True while anything is under way: bytes, or a connection that begins or ends. */
  get busy(): boolean {
    return this.#messages.length > 0;
  }

  /** The messages with bytes that are under way, or wait at the gate or at the receiver. */
  *underWay(): Generator<Travel & { readonly detail: string }> {
    for (let i = 0; i < this.#messages.length; i++) {
      const { message, detail, sent, due } = this.#messages.peekAt(i) as Passage;
      if (typeof message !== 'string') yield { detail, sent, due };
    }
  }

  get #elapsed(): number {
    return this.actor.world.elapsed();
  }

  #empty(state: 'broken' | 'closed'): void {
    this.#state = state;
    for (const lost of this.underWay()) this.actor.world.trace.stray(this.label, lost.detail, lost);
    this.#messages.clear();
    this.pending = 0;
    this.#backed = 0;
    this.#stalled = false;
    this.lane.forget(this);
  }

  /** The size in bytes of the next message that the lane may let pass. Called by the lane. */
  get nextSize(): number {
    return this.#messages.peekAt(this.#passing)?.size ?? 0;
  }

  /** Splits the next message in two; the first part has this many bytes. Called by the lane. */
  splitNext(bytes: number): void {
    const next = this.#messages.peekAt(this.#passing);
    if (next === undefined || typeof next.message === 'string') return;
    const { message, sent, due, end } = next;
    const parts = [message.subarray(0, bytes), message.subarray(bytes)].map((part, i) =>
      Object.assign(new Passage(this, part, undefined), {
        sent,
        due,
        end: i === 0 ? end - message.length + bytes : end,
      }),
    );
    this.#messages.splice(this.#passing, 1, ...parts);
  }

  /** Lets the next message pass. Called by the lane. */
  deliverSoon(): void {
    this.#passing++;
    const { schedule } = this.actor;
    schedule.arm(new Task(this.actor, this.inner, this.#pass), schedule.micros);
  }

  /** Keeps messages waiting, without loss, until `flow`. */
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

  /** Schedules an arrival. Arrival times never decrease within the pipe, and equal ones keep their order. */
  #arm(arrival: Task, size: number, isEnd: boolean): void {
    const { schedule } = this.actor;
    this.#lastArrival = Math.max(this.#lastArrival, schedule.reached + this.lane.travel(size, isEnd));
    schedule.arm(arrival, this.#lastArrival);
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
      this.#note(this.#ending);
      this.#take(this.#ending);
      return;
    }
    if (this.#stalled) {
      this.#backed++;
      return;
    }
    const passage = this.#messages.shift();
    if (passage === undefined) return;
    const { message } = passage;
    this.pending -= passage.size;
    this.#taken = passage.end;
    this.#note(typeof message === 'string' ? message : 'data', passage.detail, passage);
    this.#take(message);
    if (this.#taken >= this.#breaksAt) this.trouble('last');
  }

  #note(what: string, detail = '', travel?: Travel): void {
    this.actor.world.trace.note(this.label, what, detail, travel);
  }
}

/** The two pipes of a connection as seen from one end, with its addresses. */
export interface Ends {
  readonly out: Pipe;
  readonly in: Pipe;
  /** The local address: `127.0.0.1:50000`. */
  readonly local: string;
  readonly remote: string;
  /** The name of the actor at the other end. */
  readonly peer: string;
}
