/** The queued output of one client: replies and pushes in order, until the end of the current event. */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeBulkHead } from '../../protocol/encode.ts';
import type { Connection } from '../host/host.ts';
import { type PushMessage, SharedOutput } from './message.ts';

/** In bytes. Longer output is handed over before the end of the batch, because a string cannot grow beyond 512 MB. */
const OUT_MAX = 64 * 1024 ** 2;

/** In bytes. A bulk string of this length or more is a piece of its own: the transport need not copy it to join it. */
export const LONG_BULK = 4096;

/** In bytes. Output up to this length never exceeds a limit: Redis keeps it in a buffer that it does not count. */
export const UNLIMITED = 16 * 1024;

/** The output to which a client's first message is added. */
const NOTHING = { 2: new SharedOutput(2, ''), 3: new SharedOutput(3, '') } as const;

/** Collects the outputs that have something to send at the end of the current event. */
export interface OutputQueue {
  /** Adds an output that will have bytes to send, or whose client is to be closed. */
  add(output: { flush(): void }): void;
}

/** The client, as its output sees it. */
interface OutputOwner {
  /** undefined for the clients of scripts and other internal clients, whose output is dropped. */
  readonly connection: Connection | undefined;
  readonly protocol: 2 | 3;
  /** No more requests are read; the connection closes when the output is delivered. */
  readonly closing: boolean;
  readonly gone: boolean;
  readonly server: { readonly outbox: OutputQueue };
  /** Counts bytes that were handed to the connection. */
  countSent(bytes: number): void;
  /** Called when there is more output than `UNLIMITED`. */
  checkOutput(): void;
}

/** The queued output of one client. */
export class Output {
  readonly #owner: OutputOwner;
  /** Output that has not been handed to the connection yet: pieces, and what comes after them. */
  #pieces: Bytes[] = [];
  #out = '';
  /** What `#out` is, while only messages were queued. */
  #shared: SharedOutput | undefined;
  /** The number of bytes in both. */
  #queued = 0;
  /** Pushes that wait for the end of EXEC's reply. */
  #held: Bytes | undefined;
  /** True while the outbox has this output. */
  #listed = false;
  #mute = false;
  /** The number of bytes that were queued since the connection began. */
  written = 0;

  constructor(owner: OutputOwner) {
    this.#owner = owner;
  }

  /** The number of bytes that the other end has not taken. */
  get pending(): number {
    return this.#queued + (this.#owner.connection?.pending ?? 0);
  }

  /** Queues encoded bytes. */
  write(bytes: Bytes): void {
    if (!this.#makeRoom(bytes)) return;
    this.#out += bytes;
    this.#shared = undefined;
    this.#count(bytes.length);
  }

  /** Queues a bulk string of at least `LONG_BULK`. */
  writeBulk(text: Bytes): void {
    if (!this.#makeRoom(text)) return;
    const head = encodeBulkHead(text.length);
    this.#pieces.push(this.#out + head, text);
    this.#out = '\r\n';
    this.#shared = undefined;
    this.#count(head.length + text.length + 2);
  }

  /** Prepares for more output. Returns false if nobody will receive it. */
  #makeRoom(bytes: Bytes): boolean {
    const owner = this.#owner;
    if (owner.connection === undefined || owner.gone || this.#mute || bytes === '') return false;
    this.reserve();
    if (this.#queued + bytes.length > OUT_MAX) this.#send(owner.connection);
    return true;
  }

  #count(bytes: number): void {
    this.#queued += bytes;
    this.written += bytes;
    if (this.#queued > UNLIMITED) this.#owner.checkOutput();
  }

  /** Queues a message that is not a reply. */
  push(message: PushMessage): void {
    const { protocol } = this.#owner;
    const bytes = message.bytes(protocol);
    if (this.#held !== undefined) this.#held += bytes;
    else if (this.#makeRoom(bytes)) {
      const before = this.#queued === 0 ? NOTHING[protocol] : this.#shared;
      // With CLIENT REPLY OFF, HELLO changes the protocol and writes nothing.
      this.#shared = before?.protocol === protocol ? message.addedTo(before) : undefined;
      this.#out = this.#shared?.bytes ?? this.#out + bytes;
      this.#count(bytes.length);
    }
  }

  /** Holds pushes back until `releasePushes`, because a push would break the array that is being written. */
  holdPushes(): void {
    this.#held ??= '';
  }

  /** Queues the pushes that were held back. */
  releasePushes(): void {
    const held = this.#held ?? '';
    this.#held = undefined;
    if (held !== '') this.write(held);
  }

  /** Takes the client's place in the order of writes, even if there is nothing to write yet. */
  reserve(): void {
    if (this.#listed || this.#owner.connection === undefined) return;
    this.#listed = true;
    this.#owner.server.outbox.add(this);
  }

  /** Drops the queued output and all later output: the connection is about to be closed. */
  mute(): void {
    this.#mute = true;
    this.#empty();
  }

  /** Sends the queued output and drops all later output. */
  end(): void {
    this.#mute = true;
  }

  /** Hands the queued output to the connection, and closes the connection if the client is closing. */
  flush(): void {
    this.#listed = false;
    const { gone, connection, closing } = this.#owner;
    if (gone || connection === undefined) return;
    if (this.#queued !== 0) this.#send(connection);
    if (closing) connection.close();
  }

  #send(connection: Connection): void {
    this.#owner.countSent(this.#queued);
    const [pieces, out] = [this.#pieces, this.#out];
    this.#empty();
    if (pieces.length === 0) connection.send(out);
    else {
      pieces.push(out);
      if (connection.sendPieces === undefined) connection.send(pieces.join(''));
      else connection.sendPieces(pieces);
    }
    if (connection.pending > UNLIMITED) this.#owner.checkOutput();
  }

  #empty(): void {
    if (this.#pieces.length > 0) this.#pieces = [];
    this.#out = '';
    this.#shared = undefined;
    this.#queued = 0;
  }
}
