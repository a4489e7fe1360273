/** A node's end of a virtual connection, with the interface of the server's connections. */
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import type { Connection, Receiver } from '../../server/host/host.ts';
import type { NextSend, Watched } from '../replica-group/write-log.ts';
import type { Ends, Pipe, PipeMessage } from './pipe.ts';

/** A connection made of two pipes, one for each direction. */
export class VirtualConnection implements Connection, Watched {
  readonly local: string;
  readonly remote: string;
  readonly #out: Pipe;
  readonly #in: Pipe;
  /** The name of the actor at the other end. */
  readonly peer: string;
  #receiver: Receiver | undefined;
  #closed = false;
  #replying: NextSend[] = [];

  constructor(ends: Ends) {
    this.local = ends.local;
    this.remote = ends.remote;
    this.peer = ends.peer;
    this.#out = ends.out;
    this.#in = ends.in;
  }

  /** Passes incoming data to the receiver. */
  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  get pending(): number {
    return this.#out.pending;
  }

  send(bytes: Bytes): void {
    if (this.#closed || bytes === '') return;
    this.#out.send(toBuffer(bytes), bytes);
    if (this.#replying.length === 0) return;
    for (const reply of this.#replying) reply.endsAt(this.#out.sent);
    this.#replying = [];
  }

  /** Calls `endsAt` once, after the next `send`. */
  afterNextSend(next: NextSend): void {
    this.#replying.push(next);
  }

  /** True when the far end has received everything up to the position. */
  delivered(position: number): boolean {
    return this.#out.tookUpTo(position);
  }

  close(): void {
    if (this.#closed) return;
    this.#out.send('end');
    this.#leave();
  }

  abort(): void {
    if (this.#closed) return;
    this.#out.break();
    this.#leave();
  }

  pause(): void {
    this.#in.stall();
  }

  resume(): void {
    this.#in.flow();
  }

  /** Receives a message from the pipe. */
  readonly take = (message: PipeMessage): void => {
    if (typeof message !== 'string') {
      if (!this.#closed) this.#receiver?.receive(message);
    } else if (message === 'end' || message === 'reset' || message === 'timed out') {
      if (this.#closed) return;
      if (message === 'end') this.#out.send('end');
      this.#closed = true;
      this.#in.close();
      this.#receiver?.closed();
    }
  };

  /** The server has closed the connection. It is notified when its current event is over. */
  #leave(): void {
    this.#closed = true;
    this.#in.close();
    this.#in.actor.clock.soon(() => this.#receiver?.closed());
  }
}
