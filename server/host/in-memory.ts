/** The in-memory transport: a Duplex connected to the server without a socket. */
import { Duplex } from 'node:stream';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import type { Acceptor, Connection, Receiver } from './host.ts';
import { realTick } from './real-time.ts';

/** The user's end. Requests written to it run after the current tick; replies are read from it. */
class MemoryStream extends Duplex {
  readonly connecting = false;
  reading = true;
  #chunks: Uint8Array[] = [];
  #scheduled = false;
  #receiver: Receiver | undefined;

  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.schedule();
    done();
  }

  // Not in the same tick: clients queue a command after writing it, so a reply now would come too early.
  schedule(): void {
    if (this.#scheduled || !this.reading || this.#chunks.length === 0) return;
    this.#scheduled = true;
    realTick(() => {
      this.#scheduled = false;
      const chunks = this.#chunks;
      this.#chunks = [];
      const only = chunks[0];
      if (only === undefined) return;
      this.#receiver?.receive(chunks.length === 1 ? only : Buffer.concat(chunks));
    });
  }

  override _read(): void {}

  override _final(done: () => void): void {
    this.#leave();
    if (!this.readableEnded) this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave();
    done(error);
  }

  #leave(): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.closed();
  }

  // Methods of net.Socket that clients call and that have no effect here.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** The server's end of a MemoryStream. */
class MemoryConnection implements Connection {
  readonly remote = '127.0.0.1:0';
  readonly local = '127.0.0.1:0';
  readonly #stream: MemoryStream;

  constructor(stream: MemoryStream) {
    this.#stream = stream;
  }

  get pending(): number {
    return this.#stream.readableLength;
  }

  send(bytes: Bytes): void {
    if (!this.#stream.destroyed && !this.#stream.readableEnded) this.#stream.push(toBuffer(bytes));
  }

  close(): void {
    if (this.#stream.destroyed) return;
    this.#stream.push(null);
    this.#stream.end();
  }

  abort(): void {
    const error: NodeJS.ErrnoException = new Error('read ECONNRESET');
    error.code = 'ECONNRESET';
    this.#stream.destroy(error);
  }

  pause(): void {
    this.#stream.reading = false;
  }

  resume(): void {
    this.#stream.reading = true;
    this.#stream.schedule();
  }
}

/** Opens an in-memory connection to the server. Returns the stream that a client uses instead of a socket. */
export function connectInMemory(server: Acceptor): Duplex {
  const stream = new MemoryStream();
  const client = server.accept(new MemoryConnection(stream));
  if (client !== undefined) stream.attach(client);
  return stream;
}
