/** A client's end of a connection to a node on the real clock: a Duplex over a socket, led over the network's lanes. */
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { nodeClock } from '../../server/host/node.ts';
import type { RealLane } from './lane.ts';
import type { RealNetwork, RealWire } from './network.ts';

export class RealSocket extends Duplex implements RealWire {
  readonly from: string;
  readonly to: string;
  connecting = true;
  readonly #socket: Socket;
  readonly #network: RealNetwork;
  readonly #out: RealLane;
  readonly #back: RealLane;
  /** Bytes of the server that the client has taken. */
  #taken = 0;
  /** Bytes that the client has sent. */
  #sent = 0;
  /** The connection breaks when the server has read so much. */
  #breaksAt = Infinity;
  /** A message was lost: nothing behind it arrives in that direction. */
  #outLost = false;
  #backLost = false;
  #local: string | undefined;

  /** Dials at once. @param from the client's name */
  constructor(network: RealNetwork, from: string, port: number) {
    super();
    this.from = from;
    this.to = network.ownerOf(port);
    this.#network = network;
    this.#out = network.lane(from, this.to);
    this.#back = network.lane(this.to, from);
    this.#socket = connect(port, '127.0.0.1').setNoDelay(true);
    network.add(this);
    this.#listen();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('connect', () => {
      this.#local = `${socket.localAddress}:${socket.localPort}`;
      this.#network.add(this, this.#local);
      this.#out.pass(undefined, () => this.#back.pass(undefined, () => this.#connected()));
    });
    socket.on('data', (chunk: Uint8Array) => this.#arrive(chunk));
    socket.on('end', () => this.#behind(() => void (this.destroyed || this.push(null))));
    socket.on('error', (error) => this.#behind(() => void this.destroy(error)));
    socket.on('close', () => this.#behind(() => void this.destroy()));
  }

  /** Happens behind what the server has sent; never, where some of that was lost. */
  #behind(happen: () => void): void {
    if (!this.#backLost) this.#back.pass(undefined, happen);
  }

  #connected(): void {
    this.connecting = false;
    if (!this.destroyed) this.emit('connect');
  }

  #arrive(chunk: Uint8Array): void {
    if (this.#backLost) return;
    const fate = this.#back.fate();
    this.#backLost = fate === 'lost';
    if (this.#backLost) return;
    this.#back.pass(chunk, (content) => {
      const part = content as Uint8Array;
      this.#taken += part.length;
      if (!this.destroyed) this.push(part);
    });
    // Whoever reads the stream has the message first.
    if (fate === 'last') this.#behind(() => void nodeClock.soon(() => this.reset()));
  }

  tookUpTo(position: number): boolean {
    return this.#taken >= position;
  }

  wasRead(position: number): void {
    if (position >= this.#breaksAt) this.reset();
  }

  reset(): void {
    // One that is just shutting down refuses to be reset, without ever closing then.
    if (this.#socket.writableEnded) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
    const error: NodeJS.ErrnoException = new Error('read ECONNRESET');
    error.code = 'ECONNRESET';
    this.destroy(error);
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#sent += chunk.length;
    const fate = this.#outLost ? 'lost' : this.#out.fate();
    this.#outLost = fate === 'lost';
    if (fate === 'last') this.#breaksAt = Math.min(this.#breaksAt, this.#sent);
    if (fate !== 'lost') {
      this.#out.pass(chunk, (content) => void this.#socket.write(content as Uint8Array));
    }
    done();
  }

  override _final(done: () => void): void {
    if (!this.#outLost) this.#out.pass(undefined, () => void this.#socket.end());
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#network.remove(this, this.#local);
    this.#socket.destroy();
    done(error);
  }

  // What clients ask of a net.Socket.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(ms: number, late?: () => void): this {
    this.#socket.setTimeout(ms, late);
    return this;
  }
  ref(): this {
    this.#socket.ref();
    return this;
  }
  unref(): this {
    this.#socket.unref();
    return this;
  }
}
