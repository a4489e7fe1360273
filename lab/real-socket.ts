/** A client's end of a connection to a node on the real clock: a Duplex over a socket, led over the network's lanes. */
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { RealLane } from './real-lane.ts';
import type { RealNetwork, RealWire } from './real-network.ts';

export class RealSocket extends Duplex implements RealWire {
  readonly from: string;
  readonly to: string;
  connecting = true;
  readonly #socket: Socket;
  readonly #network: RealNetwork;
  readonly #out: RealLane;
  readonly #back: RealLane;
  /** Bytes that came from the server, dropped ones included, and those of them that the client has taken. */
  #come = 0;
  #taken = 0;
  readonly #dropped: [from: number, to: number][] = [];
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
    socket.on('end', () => this.#back.pass(undefined, () => void (this.destroyed || this.push(null))));
    socket.on('error', (error) => this.#back.pass(undefined, () => void this.destroy(error)));
    socket.on('close', () => this.#back.pass(undefined, () => void this.destroy()));
  }

  #connected(): void {
    this.connecting = false;
    if (!this.destroyed) this.emit('connect');
  }

  #arrive(chunk: Uint8Array): void {
    const from = this.#come;
    this.#come += chunk.length;
    const copies = this.#back.copies();
    if (copies === 0) {
      this.#dropped.push([from, this.#come]);
      this.#back.pass(undefined, () => {
        this.#taken += chunk.length;
      });
    }
    for (let i = 0; i < copies; i++) {
      this.#back.pass(chunk, (content) => {
        const part = content as Uint8Array;
        if (i === 0) this.#taken += part.length;
        if (!this.destroyed) this.push(part);
      });
    }
  }

  tookUpTo(position: number): boolean {
    if (this.#dropped.some(([from, to]) => position > from && position <= to)) return false;
    return this.#taken >= position;
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
    const copies = this.#out.copies();
    for (let i = 0; i < copies; i++) {
      this.#out.pass(chunk, (content) => void this.#socket.write(content as Uint8Array));
    }
    done();
  }

  override _final(done: () => void): void {
    this.#out.pass(undefined, () => void this.#socket.end());
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
