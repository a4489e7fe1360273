/**
 * A client's end of a connection to a node on the real clock: a Duplex over a TCP socket, whose data passes the
 * network's lanes.
 */
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { nodeClock } from '../../server/host/node.ts';
import { resetSocket } from '../../server/host/reset.ts';
import {
  type ConnectionTap,
  type Direction,
  directionsOf,
  type NetworkConnection,
  type RealClockNetwork,
} from './network.ts';

/** A client's connection, as ioredis uses it. */
export class RealClockSocket extends Duplex implements NetworkConnection {
  readonly from: string;
  readonly to: string;
  readonly port: number;
  connecting = true;
  readonly #socket: Socket;
  readonly #network: RealClockNetwork;
  readonly #out: Direction;
  readonly #back: Direction;
  readonly #tap: ConnectionTap | undefined;
  readonly #holder: Pick<ConnectionTap, 'asking' | 'answering'> | undefined;
  /** Settles when the server's bytes that were held up have gone on; undefined while none are. */
  #heldBack: Promise<void> | undefined;
  /** True when the server's machine has vanished: the client is not told that the connection has ended. */
  #silent = false;
  /** How many of the server's bytes the client has received. */
  #taken = 0;
  /** How many bytes the client has sent. */
  #sent = 0;
  /** The connection breaks when the server has read this many bytes. */
  #breaksAt = Infinity;
  #local: string | undefined;

  /** Dials at once. @param from the client's name */
  constructor(network: RealClockNetwork, from: string, port: number) {
    super();
    this.from = from;
    this.port = port;
    this.to = network.ownerOf(port);
    this.#network = network;
    [this.#out, this.#back] = directionsOf(network, from, this.to, this);
    this.#tap = network.tapFor(this);
    this.#holder = network.holderFor(this);
    this.#socket = connect(network.behind(port), '127.0.0.1').setNoDelay(true);
    network.add(this);
    this.#listen();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('connect', () => {
      this.#local = `${socket.localAddress}:${socket.localPort}`;
      this.#network.add(this, this.#local);
      this.#out.lane.pass(this, undefined, () =>
        this.#back.lane.pass(this, undefined, () => this.#connected()),
      );
    });
    socket.on('data', (chunk: Uint8Array) => this.#arrive(chunk));
    socket.on('end', () => this.#inTurn(() => this.#atEnd(() => void (this.destroyed || this.push(null)))));
    socket.on('error', (error) => this.#inTurn(() => this.#behind(() => void this.destroy(error))));
    socket.on('close', () => this.#inTurn(() => this.#atEnd(() => void this.destroy())));
  }

  /** Runs the task behind what is held up. */
  #inTurn(task: () => void): void {
    if (this.#heldBack === undefined) task();
    else this.#holdBack(this.#heldBack.then(task));
  }

  #holdBack(until: Promise<void>): void {
    const held = until.then(() => {
      if (this.#heldBack === held) this.#heldBack = undefined;
    });
    this.#heldBack = held;
  }

  /** Runs the task after everything that the server has sent; never when part of that was lost. */
  #behind(happen: () => void): void {
    if (!this.#back.lost && !this.#silent) this.#back.lane.pass(this, undefined, happen);
  }

  /** Like `#behind`, for an orderly end, which the test may delay further. */
  #atEnd(happen: () => void): void {
    if (!this.#back.lost && !this.#silent) this.#back.lane.passEnd(this, happen);
  }

  #connected(): void {
    this.connecting = false;
    if (!this.destroyed) this.emit('connect');
  }

  #arrive(chunk: Uint8Array): void {
    const before = this.#heldBack;
    const wait = this.#holder?.answering?.(chunk);
    if (before === undefined && wait === undefined) this.#pass(chunk);
    else this.#holdBack(Promise.all([before, wait]).then(() => this.#pass(chunk)));
  }

  #pass(chunk: Uint8Array): void {
    this.#tap?.answered(chunk);
    const fate = this.#back.carry(
      chunk,
      () => this.destroyed,
      (part) => {
        this.#taken += part.length;
        if (this.destroyed) return;
        this.#tap?.took(part);
        this.push(part);
      },
    );
    // The reader of the stream receives the message before the reset.
    if (fate === 'last') this.#behind(() => void nodeClock.soon(() => this.reset()));
  }

  tookUpTo(position: number): boolean {
    return this.#taken >= position;
  }

  wasRead(position: number): void {
    if (position >= this.#breaksAt) this.reset();
  }

  silence(): void {
    this.#silent = true;
  }

  /** True after `silence`. */
  get silent(): boolean {
    return this.#silent;
  }

  get ended(): boolean {
    return this.#socket.closed;
  }

  reset(): void {
    resetSocket(this.#socket);
    const error: NodeJS.ErrnoException = new Error('read ECONNRESET');
    error.code = 'ECONNRESET';
    this.destroy(error);
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    const wait = this.#holder?.asking?.(chunk);
    if (wait === undefined) this.#send(chunk, done);
    else void wait.then(() => this.#send(chunk, done));
  }

  #send(chunk: Uint8Array, done: () => void): void {
    this.#sent += chunk.length;
    if (this.#out.lost) this.#out.noteLost(chunk);
    const fate = this.#out.carry(
      chunk,
      () => this.#socket.destroyed,
      (content) => {
        this.#tap?.asked(content);
        this.#socket.write(content);
      },
    );
    if (fate === 'last') this.#breaksAt = Math.min(this.#breaksAt, this.#sent);
    done();
  }

  override _final(done: () => void): void {
    if (!this.#out.lost) this.#out.lane.passEnd(this, () => void this.#socket.end());
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#network.remove(this, this.#local);
    this.#socket.destroy();
    done(error);
  }

  // Methods that clients call on a net.Socket.
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
