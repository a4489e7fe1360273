/** A client that hides nothing: it sends bytes, keeps every byte that comes back, and sees how a connection ends. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Bytes, fromBuffer, toBuffer } from '../../protocol/bytes.ts';
import { ReplyReader } from './reply-reader.ts';
import { type RawReply, readReply, request } from './reply-text.ts';

/** Where to connect: a TCP port, a unix socket, or a stream that is connected already (`server.connect()`). */
export type Target = { readonly port: number; readonly host?: string } | { readonly path: string } | Duplex;

/** One reply: its exact bytes and its values. */
export interface Received {
  readonly raw: Bytes;
  readonly value: RawReply;
}

/** How a connection ended: 'end' by FIN, 'reset' by RST or another error. */
export type Ending = 'end' | 'reset';

export class RawClient {
  /** RESP3 pushes in the order of arrival, kept apart from replies. */
  readonly pushes: Received[] = [];
  ending: Ending | undefined;
  /** Why the received bytes are no reply; nothing after them is read. */
  broken: string | undefined;
  readonly #stream: Duplex;
  readonly #replies: Received[] = [];
  readonly #chunks: Bytes[] = [];
  /** How many chunks take() has answered. */
  #taken = 0;
  readonly #reader = new ReplyReader();
  #waiting: (() => void)[] = [];

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('data', (chunk: Uint8Array) => this.#take(fromBuffer(chunk)));
    stream.on('error', () => this.#finish('reset'));
    stream.on('end', () => this.#finish('end'));
    stream.on('close', () => this.#finish('end'));
  }

  /** Connects. Rejects when the connection is refused. */
  static async connect(target: Target): Promise<RawClient> {
    if (!('port' in target || 'path' in target)) return new RawClient(target);
    const socket = 'path' in target ? connect(target.path) : connect(target.port, target.host ?? '127.0.0.1');
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawClient(socket);
  }

  /** Everything received so far. */
  get received(): Bytes {
    return this.#chunks.join('');
  }

  /** The bytes received since the last call. */
  take(): Bytes {
    const fresh = this.#chunks.slice(this.#taken).join('');
    this.#taken = this.#chunks.length;
    return fresh;
  }

  /** Writes bytes as they are. Resolves when they have been handed over. */
  send(bytes: Bytes): Promise<void> {
    return new Promise((resolve) => {
      this.#stream.write(toBuffer(bytes), () => resolve());
    });
  }

  /** The next reply that is no push. Rejects when the connection ends before it. */
  async read(): Promise<Received> {
    while (this.#replies.length === 0) {
      await this.#change('a reply');
    }
    return this.#replies.shift()!;
  }

  /** The next push message that has not been taken. Rejects when the connection ends before it. */
  async readPush(): Promise<Received> {
    while (this.pushes.length === 0) {
      await this.#change('a push');
    }
    return this.pushes.shift()!;
  }

  /** Sends one request, as words or as raw bytes, and answers its reply. */
  async ask(first: Bytes, ...words: Bytes[]): Promise<Received> {
    await this.send(words.length === 0 && first.includes('\r\n') ? first : request(first, ...words));
    return this.read();
  }

  /** Resolves when the far end has closed. */
  async ended(): Promise<Ending> {
    while (this.ending === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.ending;
  }

  close(): void {
    this.#stream.destroy();
  }

  #take(bytes: Bytes): void {
    this.#chunks.push(bytes);
    this.#reader.write(bytes);
    try {
      if (this.broken === undefined) this.#parse();
    } catch (error) {
      this.broken = String(error);
    }
    this.#notify();
  }

  #parse(): void {
    for (let raw = this.#reader.next(); raw !== undefined; raw = this.#reader.next()) {
      (raw.startsWith('>') ? this.pushes : this.#replies).push({ raw, value: readReply(raw) });
    }
  }

  #finish(ending: Ending): void {
    this.ending ??= ending;
    this.#notify();
  }

  #change(wanted: string): Promise<void> {
    if (this.broken !== undefined) throw new Error(`${this.broken} instead of ${wanted}`);
    if (this.ending !== undefined) throw new Error(`the connection's ${this.ending} instead of ${wanted}`);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/**
 * Waits, without any clock, until a single-threaded server has dealt with `bytes` sent to it before: a second
 * connection's pings go round its event loop, once for each 16 KiB it may read at a time and a few more.
 */
export async function settle(fence: RawClient, bytes = 0): Promise<void> {
  const rounds = 4 + Math.ceil(bytes / 16384);
  for (let i = 0; i < rounds; i++) await fence.ask('PING');
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
