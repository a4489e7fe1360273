/** A connection from a Sentinel to a node that it monitors: requests go out at once, and replies come back in order. */
import { type Bytes, fromBuffer } from '../protocol/bytes.ts';
import { ReplyDecoder } from '../protocol/decode-reply.ts';
import { encodeRequest } from '../protocol/encode.ts';
import type { Reply } from '../protocol/reply.ts';
import type { Connection, PendingConnection, Receiver } from '../server/host/host.ts';
import type { Address } from './address.ts';

/** What a connection needs from its Sentinel. */
export interface Dialler {
  /** Connects to a node, with TLS if `tls-replication` is on. Calls `opened`, or the receiver's `closed`. */
  dial(
    address: Address,
    receiver: Receiver,
    opened: (connection: Connection) => void,
  ): PendingConnection | undefined;
  /** Runs work that a timer or a connection causes, as one unit of the node. */
  enter(work: () => void): void;
}

type Answered = (reply: Reply) => void;

/** One connection. It may be used at once: what is sent before the connection is established waits. */
export class Outgoing implements Receiver {
  readonly #dialler: Dialler;
  readonly #ended: () => void;
  readonly #decoder = new ReplyDecoder();
  readonly #awaiting: Answered[] = [];
  readonly #attempt: PendingConnection | undefined;
  #connection: Connection | undefined;
  #unsent: Bytes = '';
  #listener: Answered = () => {};
  #over = false;

  /** @param ended is called once when the connection fails or ends, but not after `close` */
  constructor(dialler: Dialler, address: Address, ended: () => void) {
    this.#dialler = dialler;
    this.#ended = ended;
    this.#attempt = dialler.dial(address, this, (connection) => {
      if (this.#over) return connection.abort();
      this.#connection = connection;
      connection.send(this.#unsent);
      this.#unsent = '';
    });
  }

  /** The IP address of the local end; undefined while the connection is not established. */
  get localAddress(): Bytes | undefined {
    return this.#connection?.local.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  }

  /** Sends a request. `answered` gets its reply; it is not called when the connection ends before that. */
  send(argv: readonly Bytes[], answered: Answered = () => {}): void {
    this.#awaiting.push(answered);
    this.#write(argv);
  }

  /** Sends SUBSCRIBE. `listener` gets its reply and every message. */
  listen(argv: readonly Bytes[], listener: Answered): void {
    this.#listener = listener;
    this.#write(argv);
  }

  #write(argv: readonly Bytes[]): void {
    const bytes = encodeRequest(argv);
    if (this.#connection === undefined) this.#unsent += bytes;
    else this.#connection.send(bytes);
  }

  receive(chunk: Uint8Array): void {
    if (this.#over) return;
    this.#decoder.write(fromBuffer(chunk));
    this.#dialler.enter(() => {
      for (let reply = this.#decoder.next(); reply !== undefined; reply = this.#decoder.next()) {
        (this.#awaiting.shift() ?? this.#listener)(reply);
        if (this.#over) return;
      }
      if (this.#decoder.failure !== undefined) this.#fail();
    });
  }

  closed(): void {
    if (!this.#over) this.#dialler.enter(() => this.#fail());
  }

  #fail(): void {
    this.close();
    this.#ended();
  }

  /** Closes the connection. Nothing is called back any more. */
  close(): void {
    this.#over = true;
    this.#attempt?.cancel();
    this.#connection?.close();
  }
}
