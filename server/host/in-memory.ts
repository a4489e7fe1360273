/** The in-memory transport: a Duplex connected to the server without a socket. */
import { Duplex } from 'node:stream';
import Denque from 'denque';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { flows, isIdle } from './direct.ts';
import type { Acceptor, Connection, Receiver } from './host.ts';
import { realTick } from './real-time.ts';

/** Bytes that a server has sent and a stream has not taken. */
interface Delivery {
  readonly stream: MemoryStream;
  readonly bytes: Buffer;
}

/** The deliveries of a turn, in the order in which servers wrote, which clients can observe. */
const deliveries = new Denque<Delivery>();
/** True while a server runs requests, and until the deliveries of its turn are handed on. */
let isTurn = false;

/** Hands the deliveries on, when the server has finished, because listeners may throw. */
function handOn(): void {
  try {
    for (let next = deliveries.shift(); next !== undefined; next = deliveries.shift())
      next.stream.deliver(next.bytes);
  } finally {
    isTurn = !deliveries.isEmpty();
    if (isTurn) realTick(handOn);
  }
}

/** The user's end. Requests written to it run after the current tick; replies are read from it. */
class MemoryStream extends Duplex {
  readonly connecting = false;
  reading = true;
  /** How many bytes the stream has not taken yet. */
  unread = 0;
  #chunks: Uint8Array[] = [];
  #scheduled = false;
  #receiver: Receiver | undefined;

  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  override write(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    if (typeof chunk === 'string' && encoding === undefined && done === undefined && isIdle(this)) {
      const bytes = Buffer.from(chunk);
      if (bytes.length > 0 && bytes.length < this.writableHighWaterMark) {
        this.#chunks.push(bytes);
        this.schedule();
        return true;
      }
    }
    return super.write(chunk, encoding as BufferEncoding, done as () => void);
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
    realTick(this.#pass);
  }

  readonly #pass = (): void => {
    this.#scheduled = false;
    const chunks = this.#chunks;
    this.#chunks = [];
    const only = chunks[0];
    if (only === undefined) return;
    const isFirst = !isTurn;
    isTurn = true;
    try {
      this.#receiver?.receive(chunks.length === 1 ? only : Buffer.concat(chunks));
    } finally {
      if (isFirst) handOn();
    }
  };

  /** Takes bytes from the server. */
  reply(bytes: Buffer): void {
    if (!isTurn) {
      this.push(bytes);
      return;
    }
    this.unread += bytes.length;
    deliveries.push({ stream: this, bytes });
  }

  deliver(bytes: Buffer): void {
    this.unread -= bytes.length;
    if (this.destroyed) return;
    if (flows(this)) this.emit('data', bytes);
    else this.push(bytes);
  }

  /** The server's bytes end here. */
  finish(): void {
    const all = deliveries.toArray();
    deliveries.clear();
    for (const delivery of all) {
      if (delivery.stream === this) this.push(delivery.bytes);
      else deliveries.push(delivery);
    }
    this.unread = 0;
    this.push(null);
  }

  override _read(): void {}

  override _final(done: () => void): void {
    // What was written before the end comes first.
    if (this.#scheduled) {
      realTick(() => this._final(done));
      return;
    }
    this.#leave();
    if (!this.readableEnded) this.finish();
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
    return this.#stream.readableLength + this.#stream.unread;
  }

  send(bytes: Bytes): void {
    if (!this.#stream.destroyed && !this.#stream.readableEnded) this.#stream.reply(toBuffer(bytes));
  }

  close(): void {
    if (this.#stream.destroyed) return;
    this.#stream.finish();
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
