/** What one client is to be sent: replies and pushes in their order, until the end of the present event. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Connection } from '../host/host.ts';
import type { PushMessage } from './message.ts';

/** More output than this is handed over before the end of the batch: a string cannot grow beyond 512 MB. */
const OUT_MAX = 64 * 1024 ** 2;

/** In bytes. Output up to here is never too much: Redis keeps it in a buffer that it does not count. */
export const UNLIMITED = 16 * 1024;

/** What collects the outputs that have something to send when the present event is over. */
export interface OutputQueue {
  add(output: { flush(): void }): void;
}

/** The client, as its output sees it. */
interface OutputOwner {
  /** undefined for a script's and other built-in clients: what they are told is dropped. */
  readonly connection: Connection | undefined;
  readonly protocol: 2 | 3;
  /** Nothing more is read; the connection closes once the output is delivered. */
  readonly closing: boolean;
  readonly gone: boolean;
  readonly server: { readonly outbox: OutputQueue };
  /** So many bytes are handed to the connection. */
  countSent(bytes: number): void;
  /** There is more output than `UNLIMITED`. */
  checkOutput(): void;
}

/** The queued output of one client. */
export class Output {
  readonly #owner: OutputOwner;
  /** Replies not handed to the connection yet. */
  #out = '';
  /** Pushes that wait for the end of EXEC's reply. */
  #held: Bytes | undefined;
  /** The outbox has it. */
  #listed = false;
  #mute = false;

  constructor(owner: OutputOwner) {
    this.#owner = owner;
  }

  /** Bytes that the far end has not taken. */
  get pending(): number {
    return this.#out.length + (this.#owner.connection?.pending ?? 0);
  }

  /** Queues encoded bytes. */
  write(bytes: Bytes): void {
    const owner = this.#owner;
    if (owner.connection === undefined || owner.gone || this.#mute || bytes === '') return;
    this.reserve();
    if (this.#out.length + bytes.length > OUT_MAX) this.#send(owner.connection);
    this.#out += bytes;
    if (this.#out.length > UNLIMITED) owner.checkOutput();
  }

  /** Queues a message outside the request-reply order. */
  push(message: PushMessage): void {
    const { protocol } = this.#owner;
    const bytes = message.bytes(protocol);
    if (this.#held !== undefined && protocol === 3) this.#held += bytes;
    else this.write(bytes);
  }

  /** Keeps RESP3's pushes back until `releasePushes`: an array is being written, which they would break. */
  holdPushes(): void {
    this.#held = '';
  }

  /** Queues the pushes that were kept back. */
  releasePushes(): void {
    const held = this.#held ?? '';
    this.#held = undefined;
    if (held !== '') this.write(held);
  }

  /** Takes the client's place in the order of writes, though there may be nothing to write yet. */
  reserve(): void {
    if (this.#listed || this.#owner.connection === undefined) return;
    this.#listed = true;
    this.#owner.server.outbox.add(this);
  }

  /** Drops the queued output and all that would follow: the client is about to be cut off. */
  mute(): void {
    this.#mute = true;
    this.#out = '';
  }

  /** Sends what is queued, and nothing after it. */
  end(): void {
    this.#mute = true;
  }

  /** Hands the queued output to the connection, and closes it where the client is closing. */
  flush(): void {
    this.#listed = false;
    const { gone, connection, closing } = this.#owner;
    if (gone || connection === undefined) return;
    if (this.#out.length !== 0) this.#send(connection);
    if (closing) connection.close();
  }

  #send(connection: Connection): void {
    this.#owner.countSent(this.#out.length);
    connection.send(this.#out);
    this.#out = '';
    if (connection.pending > UNLIMITED) this.#owner.checkOutput();
  }
}
