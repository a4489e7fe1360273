/** The transport over TCP, TLS and unix sockets: Node sockets as connections of a server. */
import { createServer, type Server as NetServer, Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import type { Bytes } from '../../protocol/bytes.ts';
import { ChunkMemory } from './chunk-memory.ts';
import type { Acceptor, Connection, Receiver } from './host.ts';
import { LongOutput } from './long-output.ts';
import { realElapsed, realSoon } from './real-time.ts';
import { resetSocket } from './reset.ts';
import { nodeTls } from './tls.ts';
import { addOutput, Inlet, sendAll } from './turn.ts';

/** In bytes. Longer output is not joined to one string. */
const LARGE = 1 << 16;

/** All sockets of a thread read into one block of this size. */
const READ_BYTES = 1 << 16;
let memory: ChunkMemory | undefined;

/** How long one client's requests, if they arrive in several chunks, may delay other clients, in milliseconds. */
const TURN = 5;

/**
 * The part of libuv's listening handle that is replaced to save a Buffer per read. It is internal to Node, and used
 * only where it exists.
 */
interface ListeningHandle {
  readStart?: unknown;
  onconnection?: (status: number, handle?: object) => void;
}

/** A Node socket as a Connection. */
export class SocketConnection implements Connection {
  readonly remote: string;
  readonly local: string;
  readonly isSecure: boolean;
  readonly #socket: Socket;
  /** Whether it can be reset. */
  readonly #isTcp: boolean;
  /** Output that waits for the end of this turn of the event loop. */
  #out: Bytes = '';
  /** Longer output, which comes before #out. */
  readonly #long: LongOutput;
  #isListed = false;
  #receiver: Receiver | undefined;
  #isClosing = false;

  constructor(socket: Socket, path?: string) {
    this.#socket = socket;
    this.isSecure = 'encrypted' in socket;
    this.#long = new LongOutput(socket, !this.isSecure);
    this.#isTcp = path === undefined && !this.isSecure;
    this.remote = path === undefined ? `${socket.remoteAddress}:${socket.remotePort}` : `${path}:0`;
    this.local = path === undefined ? `${socket.localAddress}:${socket.localPort}` : `${path}:0`;
  }

  get pending(): number {
    return this.#long.length + this.#out.length + this.#socket.writableLength;
  }

  /** Directs received bytes to the receiver. `reads` is given if the socket hands chunks over by itself. */
  attach(receiver: Receiver, reads?: Reads): void {
    const socket = this.#socket;
    const inlet = new Inlet(receiver);
    this.#receiver = receiver;
    if (reads === undefined) socket.on('data', (chunk: Uint8Array) => inlet.read(chunk, false));
    else reads.inlet = inlet;
    // Node reports 'close' some turns of the event loop after an end. Until then, others would find a client that has left.
    socket.on('close', () => inlet.closed());
    socket.on('error', () => {
      socket.destroy();
      inlet.closed();
    });
    // The other end has closed its side, and may still read. Sockets without TLS are half-open, for what is left here.
    socket.on('end', () => inlet.closed(() => this.close()));
  }

  send(bytes: Bytes): void {
    if (this.#isClosing) {
      this.#refuse();
      return;
    }
    if (this.#out.length + bytes.length > LARGE) this.#lengthen();
    this.#out += bytes;
    this.#list();
  }

  sendPieces(pieces: readonly Bytes[]): void {
    if (this.#isClosing) {
      this.#refuse();
      return;
    }
    this.#lengthen();
    for (const piece of pieces) this.#long.add(piece);
    this.#list();
  }

  #lengthen(): void {
    if (this.#out !== '') this.#long.add(this.#out);
    this.#out = '';
  }

  /** Output after the end breaks the connection, so that what nobody reads cannot grow without limit. */
  #refuse(): void {
    this.#socket.destroy();
  }

  #list(): void {
    if (this.#isListed) return;
    this.#isListed = true;
    addOutput(this, this.#receiver?.hearsFirst === true);
  }

  /** Hands over the waiting output. */
  flush(): void {
    this.#isListed = false;
    this.#write();
  }

  #write(): void {
    if (this.#out.length > LARGE || this.#long.length > 0) {
      this.#lengthen();
      this.#long.write();
      return;
    }
    const bytes = this.#out;
    this.#out = '';
    if (bytes !== '' && !this.#socket.destroyed) this.#socket.write(bytes, 'latin1');
  }

  close(): void {
    this.#write();
    this.#isClosing = true;
    this.#long.whenDone(() => this.#socket.destroySoon());
  }

  abort(): void {
    this.#write();
    // A unix socket cannot be reset, nor can TLS.
    if (this.#isTcp) resetSocket(this.#socket);
    else this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}

/** Where the chunks of a socket go that reads into the shared buffer. */
interface Reads {
  inlet: Inlet | undefined;
}

/** The far end of a connection. */
function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}

/** Whether a client showed a certificate that no authority has signed. Node admits it where certificates are optional. */
function isForged(socket: TLSSocket): boolean {
  return !socket.authorized && Object.keys(socket.getPeerCertificate()).length > 0;
}

/** What a listener does differently from one on a TCP port. */
export interface ListenerOptions {
  /** The path of the unix socket on which it listens. */
  readonly path?: string;
  /** Connections speak TLS. */
  readonly tls?: TlsOptions;
  /** Receives the reason why a connection could not speak TLS, and its address. */
  readonly failed?: (why: string, address: string) => void;
}

/** Listens on a TCP port or a unix socket, and attaches every connection to the server. */
export class Listener {
  readonly #net: NetServer;
  readonly #sockets = new Set<Socket>();

  readonly #server: Acceptor;
  readonly #path: string | undefined;
  readonly #isSecure: boolean;

  constructor(server: Acceptor, { path, tls, failed }: ListenerOptions = {}) {
    this.#server = server;
    this.#path = path;
    this.#isSecure = tls !== undefined;
    const accept = (socket: Socket): void => this.#accept(socket);
    this.#net =
      tls === undefined
        ? createServer({ noDelay: true, allowHalfOpen: true }, accept)
        : nodeTls().createServer({ ...tls, noDelay: true, allowHalfOpen: false }, (socket) => {
            if (!isForged(socket)) accept(socket);
            else {
              failed?.(String(socket.authorizationError), addressOf(socket));
              socket.destroy();
            }
          });
    if (tls === undefined) return;
    // Noted while the connection is open: once a handshake has failed, its socket has no address any more.
    const addresses = new WeakMap<object, string>();
    // A connection belongs to the listener from its first byte on, so that `close` ends handshakes too.
    this.#net.on('connection', (socket: Socket) => {
      this.#keep(socket);
      addresses.set(socket, addressOf(socket));
    });
    this.#net.on('tlsClientError', (error: Error, socket: TLSSocket) => {
      const under = (socket as unknown as { readonly _parent?: object })._parent;
      failed?.(error.message, (under && addresses.get(under)) ?? addressOf(socket));
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #accept(socket: Socket, reads?: Reads): void {
    this.#keep(socket);
    const connection = new SocketConnection(socket, this.#path);
    const client = this.#server.accept(connection);
    if (client !== undefined) connection.attach(client, reads);
    else socket.on('error', () => socket.destroy());
  }

  // Node reads each chunk of an accepted socket into a new Buffer unless the socket is created with `onread`, which
  // only outgoing sockets offer. So accepted sockets are created here, from libuv's handle.
  #readInPlace(): void {
    if (this.#isSecure) return;
    const handle = (this.#net as unknown as { _handle?: ListeningHandle })._handle;
    // Bun's handle has an `onconnection` of another kind.
    if (typeof handle?.onconnection !== 'function' || typeof handle.readStart !== 'function') return;
    const chunks = (memory ??= new ChunkMemory(READ_BYTES));
    const ordinary = handle.onconnection;
    handle.onconnection = (status, client) => {
      if (status !== 0 || client === undefined) return ordinary.call(handle, status, client);
      const reads: Reads = { inlet: undefined };
      let begun: number | undefined;
      const onread = {
        buffer: chunks.block,
        // While chunks are full, libuv keeps reading from this socket and serves no other one.
        callback: (bytes: number): boolean => {
          if (bytes < READ_BYTES) begun = undefined;
          else begun ??= realElapsed();
          reads.inlet?.read(chunks.chunk(bytes), true);
          if (begun === undefined || realElapsed() - begun < TURN) return true;
          begun = undefined;
          realSoon(() => socket.resume());
          return false;
        },
      };
      const socket: Socket = new Socket({
        handle: client,
        readable: true,
        writable: true,
        allowHalfOpen: true,
        onread,
      } as never);
      socket.setNoDelay(true);
      this.#accept(socket, reads);
    };
  }

  /**
   * Starts to listen, as redis-server does: an IPv6 address is never one of IPv4 too, so that both can be bound. Rejects with
   * Node's error if the address is in use or not permitted.
   */
  listen(where: { host: string; port: number } | { path: string }): Promise<{ port: number }> {
    return new Promise((resolve, reject) => {
      this.#net.once('error', reject);
      this.#net.listen({ ...where, ipv6Only: true }, () => {
        this.#net.off('error', reject);
        this.#readInPlace();
        const address = this.#net.address();
        resolve({ port: typeof address === 'object' && address !== null ? address.port : 0 });
      });
    });
  }

  /** Allows the process to end while this listens. */
  unref(): void {
    this.#net.unref();
  }

  /** Stops listening at once. Connections stay open until `close`. */
  unlisten(): void {
    this.#net.close();
  }

  /** Stops listening and closes every connection. Resolves when no handle is left. */
  close(): Promise<void> {
    sendAll();
    const closed = [...this.#sockets].map((socket) => {
      const gone = new Promise((resolve) => socket.once('close', resolve));
      socket.destroy();
      return gone;
    });
    return new Promise((resolve) => {
      // Node reports an error if it no longer listens; that does not matter here.
      this.#net.close(() => void Promise.all(closed).then(() => resolve()));
    });
  }
}
