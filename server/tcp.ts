/** The TCP and unix-socket transport: Node sockets as Connections of a server. */
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { type Bytes, toBuffer } from '../protocol/bytes.ts';
import type { Connection, Receiver } from './host.ts';
import type { Server } from './server.ts';

/** Above this a string is cheaper to hand over as one Buffer. */
const LARGE = 1 << 16;

/** A Node socket as a Connection. */
export class SocketConnection implements Connection {
  readonly remote: string;
  readonly local: string;
  readonly #socket: Socket;
  readonly #isTcp: boolean;

  constructor(socket: Socket, path?: string) {
    this.#socket = socket;
    this.#isTcp = path === undefined;
    this.remote = path === undefined ? `${socket.remoteAddress}:${socket.remotePort}` : `${path}:0`;
    this.local = path === undefined ? `${socket.localAddress}:${socket.localPort}` : `${path}:0`;
  }

  get pending(): number {
    return this.#socket.writableLength;
  }

  /** Directs what arrives to the receiver. */
  attach(receiver: Receiver): void {
    const socket = this.#socket;
    socket.on('data', (chunk: Uint8Array) => receiver.receive(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => receiver.closed());
    socket.on('end', () => socket.destroySoon());
  }

  send(bytes: Bytes): void {
    if (this.#socket.destroyed) return;
    if (bytes.length > LARGE) this.#socket.write(toBuffer(bytes));
    else this.#socket.write(bytes, 'latin1');
  }

  close(): void {
    this.#socket.destroySoon();
  }

  abort(): void {
    // A unix socket knows no reset.
    if (this.#isTcp) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}

/** Listens on a TCP port or a unix socket and attaches every connection to the server. */
export class Listener {
  readonly #net: NetServer;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server, path?: string) {
    this.#net = createServer({ noDelay: true, allowHalfOpen: false }, (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      const connection = new SocketConnection(socket, path);
      const client = server.accept(connection);
      if (client !== undefined) connection.attach(client);
      else socket.on('error', () => socket.destroy());
    });
  }

  /** Starts to listen. Rejects with Node's error when the address is taken or may not be used. */
  listen(where: { host: string; port: number } | { path: string }): Promise<{ port: number }> {
    return new Promise((resolve, reject) => {
      this.#net.once('error', reject);
      this.#net.listen(where, () => {
        this.#net.off('error', reject);
        const address = this.#net.address();
        resolve({ port: typeof address === 'object' && address !== null ? address.port : 0 });
      });
    });
  }

  /** Lets the process end although this listens. */
  unref(): void {
    this.#net.unref();
  }

  /** Stops listening and closes every connection; resolves when no handle is left. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#net.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }
}
