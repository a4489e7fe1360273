/** The in-memory transport: a Duplex connected to the server without a socket. */
import { Duplex } from 'node:stream';
import Denque from 'denque';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { ChunkMemory } from './chunk-memory.ts';
import { flows, isIdle } from './direct.ts';
import type { Acceptor, Connection, Receiver } from './host.ts';
import { realSoon, realTick } from './real-time.ts';

/** In characters. Texts up to this length are encoded into memory that is reused. */
const SHORT_TEXT = 4096;
/** A character takes at most three bytes. */
const memory = new ChunkMemory(3 * SHORT_TEXT);

/** Bytes that a server has sent and a stream has not taken, the error with which the connection breaks, or `end`. */
interface Delivery {
  readonly stream: MemoryStream;
  readonly content: Buffer | Error | 'end';
}

/** The deliveries of a turn, in the order in which servers wrote, which clients can observe. */
let queue: Denque<Delivery> | undefined;
const deliveries = (): Denque<Delivery> => (queue ??= new Denque());

/** True while a server runs requests, and until the deliveries of its turn are handed on. */
let isTurn = false;

/** Hands the deliveries on, when the server has finished, because listeners may throw. */
function handOn(): void {
  try {
    for (let next = deliveries().shift(); next !== undefined; next = deliveries().shift())
      next.stream.deliver(next.content);
  } finally {
    isTurn = !deliveries().isEmpty();
    if (isTurn) realTick(handOn);
  }
}

/** What was written, as one chunk. */
function chunkOf(written: readonly (Uint8Array | string)[]): Uint8Array {
  const [only = ''] = written;
  if (written.length > 1)
    return Buffer.concat(written.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return typeof only === 'string' ? memory.chunk(memory.block.write(only)) : only;
}

/** The user's end. Requests written to it run after the current tick; replies are read from it. */
class MemoryStream extends Duplex {
  connecting = false;
  reading = true;
  /** How many bytes the stream has not taken yet. */
  unread = 0;
  /** What was written. Texts are encoded when they are passed on. */
  #written: (Uint8Array | string)[] = [];
  #scheduled = false;
  #receiver: Receiver | undefined;

  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  override write(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    const isPlain = typeof chunk === 'string' && encoding === undefined && done === undefined;
    if (isPlain && chunk.length > 0 && chunk.length <= SHORT_TEXT && isIdle(this)) {
      this.#written.push(chunk);
      this.schedule();
      return true;
    }
    return super.write(chunk, encoding as BufferEncoding, done as () => void);
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#written.push(chunk);
    this.schedule();
    done();
  }

  // Not in the same tick: clients queue a command after writing it, so a reply now would come too early.
  schedule(): void {
    if (this.#scheduled || !this.reading || this.#written.length === 0) return;
    this.#scheduled = true;
    realTick(this.#pass);
  }

  readonly #pass = (): void => {
    this.#scheduled = false;
    const written = this.#written;
    this.#written = [];
    if (written.length === 0) return;
    const isFirst = !isTurn;
    isTurn = true;
    try {
      this.#receiver?.receive(chunkOf(written));
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
    deliveries().push({ stream: this, content: bytes });
  }

  deliver(content: Delivery['content']): void {
    if (content === 'end') {
      this.hangUp();
      return;
    }
    if (content instanceof Error) {
      this.destroy(content);
      return;
    }
    this.unread -= content.length;
    if (this.destroyed) return;
    if (flows(this)) this.emit('data', content);
    else this.push(content);
  }

  /** The connection breaks. What the server sent before still arrives. */
  break(error: Error): void {
    if (isTurn) deliveries().push({ stream: this, content: error });
    else this.destroy(error);
  }

  /** The server ends the connection. What it sent before is handed on as all else, so that a reply before the end needs no tick. */
  close(): void {
    if (isTurn) deliveries().push({ stream: this, content: 'end' });
    else this.hangUp();
  }

  hangUp(): void {
    if (this.destroyed) return;
    this.finish();
    this.end();
  }

  /** The server's bytes end here. */
  finish(): void {
    const all = deliveries().toArray();
    deliveries().clear();
    for (const delivery of all) {
      if (delivery.stream === this && delivery.content instanceof Uint8Array) this.push(delivery.content);
      else deliveries().push(delivery);
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
    this.#stream.close();
  }

  abort(): void {
    const error: NodeJS.ErrnoException = new Error('read ECONNRESET');
    error.code = 'ECONNRESET';
    this.#stream.break(error);
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

/** Returns a stream that is connecting and then fails with the error, as a socket does when nobody listens. */
export function failInMemory(error: Error): Duplex {
  const stream = new MemoryStream();
  stream.connecting = true;
  realSoon(() => stream.destroy(error));
  return stream;
}
