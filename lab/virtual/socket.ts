/** A client's end of a virtual connection, as net.createConnection returns it in a world. */
import { isIP } from 'node:net';
import { Duplex } from 'node:stream';
import { flows, isIdle } from '../../server/host/direct.ts';
import type { Actor } from '../time/actor.ts';
import { VirtualTimeout } from '../time/timers.ts';
import type { Ends, Pipe, PipeMessage } from './pipe.ts';

type WriteDone = (error?: Error | null) => void;

/** The parts of net.Socket that programs use, on virtual time. */
export class VirtualSocket extends Duplex {
  connecting = true;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly remoteFamily = 'IPv4';
  readonly localAddress = '127.0.0.1';
  localPort = 0;
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  readonly #actor: Actor;
  readonly #address: string;
  #out: Pipe | undefined;
  #in: Pipe | undefined;
  #ended = false;
  #idle: VirtualTimeout | undefined;
  /** When the last write passed the stream's buffer. */
  #wroteAt = NaN;
  /** A write that waits until the connection is open. */
  #early: (() => void) | undefined;

  constructor(actor: Actor, host: string, port: number) {
    super({ allowHalfOpen: false, emitClose: false, decodeStrings: true });
    this.#actor = actor;
    this.#address = `${host}:${port}`;
    this.remoteAddress = isIP(host) === 0 ? '127.0.0.1' : host;
    this.remotePort = port;
  }

  /** The network has accepted the connection request. */
  begin(dialled: Ends): void {
    this.#out = dialled.out;
    this.#in = dialled.in;
    this.localPort = Number(dialled.local.slice(dialled.local.lastIndexOf(':') + 1));
  }

  /** Receives a message from the pipe. */
  readonly arrived = (message: PipeMessage): void => {
    if (this.destroyed) return;
    this.#idle?.refresh();
    if (typeof message !== 'string') {
      this.bytesRead += message.length;
      if (flows(this)) this.emit('data', message);
      else if (!this.push(message)) this.#in?.stall();
    } else if (message === 'accepted') this.#connected();
    else if (message === 'end') this.push(null);
    else if (message === 'refused') this.#break('connect', 'ECONNREFUSED');
    else if (message === 'timed out') this.#break('read', 'ETIMEDOUT');
    else if (message === 'reset') this.#break(this.connecting ? 'connect' : 'read', 'ECONNRESET');
  };

  #connected(): void {
    this.connecting = false;
    this.#early?.();
    this.#early = undefined;
    this.emit('connect');
    this.emit('ready');
  }

  #break(syscall: string, code: string): void {
    this.#ended = true;
    const where = syscall === 'connect' ? ` ${this.#address}` : '';
    const error: NodeJS.ErrnoException = new Error(`${syscall} ${code}${where}`);
    Object.assign(error, { code, syscall });
    if (syscall === 'connect') Object.assign(error, { address: this.remoteAddress, port: this.remotePort });
    this.destroy(error);
  }

  // Node documents these properties for every socket.

  get pending(): boolean {
    return this.connecting;
  }

  get readyState(): string {
    if (this.connecting) return 'opening';
    if (this.readable && this.writable) return 'open';
    if (this.readable) return 'readOnly';
    return this.writable ? 'writeOnly' : 'closed';
  }

  address(): object {
    return { address: this.localAddress, port: this.localPort, family: 'IPv4' };
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  /** Emits 'timeout' after `ms` virtual milliseconds without traffic; 0 turns this off. */
  setTimeout(ms: number, expired?: () => void): this {
    this.timeout = ms;
    this.#idle?.cancel();
    this.#idle =
      ms === 0 ? undefined : new VirtualTimeout(this.#actor, () => this.emit('timeout'), ms, [], false);
    if (expired !== undefined) {
      if (ms === 0) this.off('timeout', expired);
      else this.once('timeout', expired);
    }
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): this {
    this.#out?.break();
    this.#ended = true;
    return this.destroy();
  }

  // The methods of a Duplex stream.

  override write(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    const { world } = this.#actor;
    if (!world.isInside && !world.closed) {
      throw new Error('a client that lives in a world was used outside of it: use world.run(() => ...)');
    }
    const isPlain = typeof chunk === 'string' && encoding === undefined && done === undefined;
    if (isPlain && !this.connecting && isIdle(this)) {
      const bytes = Buffer.from(chunk);
      if (bytes.length > 0 && bytes.length < this.writableHighWaterMark) {
        this.#wroteAt = this.#actor.schedule.micros;
        // As many bytes as characters: ASCII, which is the same text in latin1.
        this.#send(bytes, undefined, bytes.length === chunk.length ? chunk : undefined);
        return true;
      }
    }
    return super.write(chunk, encoding as BufferEncoding, done as WriteDone);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: WriteDone): void {
    this.#send(chunk, done);
  }

  /** Sends everything that was corked in one write. */
  override _writev(chunks: { chunk: Buffer }[], done: WriteDone): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  #send(bytes: Buffer, done?: WriteDone, text?: string): void {
    if (this.connecting) {
      this.#early = () => this.#send(bytes, done);
      return;
    }
    this.#idle?.refresh();
    this.bytesWritten += bytes.length;
    this.#out?.send(bytes, text);
    done?.();
  }

  override _read(): void {
    this.#in?.flow();
  }

  override _final(done: WriteDone): void {
    if (this.connecting) {
      this.#early = () => this._final(done);
      return;
    }
    // A stream ends in the tick after its last write. The order in which messages leave is part of every trace.
    if (this.#wroteAt === this.#actor.schedule.micros) {
      this.#wroteAt = NaN;
      process.nextTick(() => this._final(done));
      return;
    }
    this.#sendEnd();
    done();
    if (this.#actor.world.closed) this.destroy();
  }

  #sendEnd(): void {
    if (!this.#ended) this.#out?.send('end');
    this.#ended = true;
  }

  override _destroy(error: Error | null, done: WriteDone): void {
    this.connecting = false;
    this.#idle?.cancel();
    this.#sendEnd();
    this.#in?.close();
    done(error);
    // As for a net.Socket, 'close' follows 'error' and says whether there was one.
    process.nextTick(() => this.emit('close', error !== null));
  }
}
