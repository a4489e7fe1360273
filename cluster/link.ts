/** A connection of the cluster's bus: whole messages in both directions. */
import { type Bytes, fromBuffer, type Millis } from '../protocol/bytes.ts';
import type { Connection, PendingConnection, Receiver } from '../server/host/host.ts';
import { type BusMessage, decodeMessage, splitMessage } from './message.ts';

/** Where a link leads to. */
export interface Reached {
  /** The IP address. */
  readonly ip: Bytes;
  readonly busPort: number;
}

/** What a link needs from its node. */
export interface LinkOwner<M extends Reached> {
  readonly now: Millis;
  /** Connects to the bus of a member, with TLS if `tls-cluster` is on. */
  dial(
    member: M,
    receiver: Receiver,
    opened: (connection: Connection) => void,
  ): PendingConnection | undefined;
  /** Runs work that a connection causes, as one unit of the node. */
  enter(work: () => void): void;
  /** A message of so many bytes has arrived. */
  received(link: BusLink<M>, message: BusMessage, size: number): void;
  /** The connection has failed or ended. */
  ended(link: BusLink<M>): void;
}

/** One connection of the bus. */
export class BusLink<M extends Reached> implements Receiver {
  readonly createdAt: Millis;
  /** The member that this node has dialled; undefined on a connection that it has accepted. */
  readonly dialled: M | undefined;
  /** The member that has dialled this node, once it is known. */
  caller: M | undefined;
  readonly #owner: LinkOwner<M>;
  #attempt: PendingConnection | undefined;
  #connection: Connection | undefined;
  #input: Bytes = '';
  #over = false;

  private constructor(owner: LinkOwner<M>, dialled: M | undefined) {
    this.#owner = owner;
    this.createdAt = owner.now;
    this.dialled = dialled;
  }

  /** Dials a member. `opened` is called when the connection is established. */
  static dial<M extends Reached>(
    owner: LinkOwner<M>,
    member: M,
    opened: (link: BusLink<M>) => void,
  ): BusLink<M> {
    const link = new BusLink(owner, member);
    link.#attempt = owner.dial(member, link, (connection) => {
      if (link.#over) return connection.abort();
      link.#connection = connection;
      owner.enter(() => opened(link));
    });
    return link;
  }

  /** Takes a connection that another node has dialled. */
  static accepted<M extends Reached>(owner: LinkOwner<M>, connection: Connection): BusLink<M> {
    const link = new BusLink<M>(owner, undefined);
    link.#connection = connection;
    return link;
  }

  /** True once the connection is established. */
  get isOpen(): boolean {
    return this.#connection !== undefined && !this.#over;
  }

  /** How many bytes are not sent yet. */
  get pending(): number {
    return this.#connection?.pending ?? 0;
  }

  /** The IP address of this end, and of the other; '' while they are not known. */
  get addresses(): { local: Bytes; remote: Bytes } {
    const bare = (address = ''): Bytes => address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    return { local: bare(this.#connection?.local), remote: bare(this.#connection?.remote) };
  }

  /** Sends an encoded message. Before the connection is established it is dropped. */
  send(bytes: Bytes): boolean {
    if (!this.isOpen) return false;
    this.#connection?.send(bytes);
    return true;
  }

  receive(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#input += fromBuffer(chunk);
    this.#owner.enter(() => {
      while (!this.#over) {
        const split = splitMessage(this.#input);
        if (split === false) return this.#fail();
        if (split === undefined) return;
        this.#input = split.rest;
        const message = decodeMessage(split.message);
        if (message !== undefined) this.#owner.received(this, message, split.message.length);
      }
    });
  }

  closed(): void {
    if (!this.#over) this.#owner.enter(() => this.#fail());
  }

  #fail(): void {
    this.close();
    this.#owner.ended(this);
  }

  /** Closes the connection. Nothing is called back any more. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#attempt?.cancel();
    this.#connection?.abort();
  }
}
