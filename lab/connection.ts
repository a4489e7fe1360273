/** A node's end of a virtual connection, as the server core knows connections. */
import { type Bytes, toBuffer } from '../protocol/bytes.ts';
import type { Connection, Receiver } from '../server/host.ts';
import type { Message, Pipe } from './pipe.ts';

/** The two pipes as seen from one end, and its addresses. */
export interface Ends {
  readonly out: Pipe;
  readonly in: Pipe;
  /** `127.0.0.1:50000` */
  readonly local: string;
  readonly remote: string;
}

/** Bytes go into one pipe and come out of the other. */
export class VirtualConnection implements Connection {
  readonly local: string;
  readonly remote: string;
  readonly #out: Pipe;
  readonly #in: Pipe;
  #receiver: Receiver | undefined;
  #closed = false;

  constructor(ends: Ends) {
    this.local = ends.local;
    this.remote = ends.remote;
    this.#out = ends.out;
    this.#in = ends.in;
  }

  /** Hands what arrives to the receiver. */
  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  get pending(): number {
    return this.#out.pending;
  }

  send(bytes: Bytes): void {
    if (!this.#closed && bytes !== '') this.#out.send(toBuffer(bytes));
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

  /** Takes what arrives, for the pipe. */
  readonly take = (message: Message): void => {
    if (typeof message !== 'string') {
      if (!this.#closed) this.#receiver?.receive(message);
    } else if (message === 'end' || message === 'reset') {
      if (this.#closed) return;
      if (message === 'end') this.#out.send('end');
      this.#closed = true;
      this.#in.close();
      this.#receiver?.closed();
    }
  };

  /** The owner has let go; it is told that the connection is gone once its present event is over. */
  #leave(): void {
    this.#closed = true;
    this.#in.close();
    this.#in.actor.clock.soon(() => this.#receiver?.closed());
  }
}
