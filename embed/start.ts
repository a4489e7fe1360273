/** startServer: a node on the real clock with its listeners, as users embed it. */
import type { Duplex } from 'node:stream';
import { connectInMemory } from '../server/memory.ts';
import { nodeHost } from '../server/node-host.ts';
import { type LogLevel, Server } from '../server/server.ts';
import type { Settings } from '../server/settings.ts';
import { Listener } from '../server/tcp.ts';

/** How to start a server. */
export interface StartOptions {
  /** TCP port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Address to listen on; 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  /** A path to listen on as a unix socket besides. */
  readonly unixSocket?: string;
  /** What AUTH must give; none by default. */
  readonly password?: string;
  /** Any other parameter, by redis.conf's name. */
  readonly settings?: Partial<Settings>;
  readonly log?: (level: LogLevel, text: string) => void;
}

/** A running server. */
export class LostlockServer implements AsyncDisposable {
  readonly node: Server;
  readonly host: string;
  readonly port: number;
  readonly #listeners: readonly Listener[];

  constructor(node: Server, host: string, port: number, listeners: readonly Listener[]) {
    this.node = node;
    this.host = host;
    this.port = port;
    this.#listeners = listeners;
  }

  /** redis://host:port, for any client. */
  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  /** Opens an in-memory connection. */
  connect(): Duplex {
    return connectInMemory(this.node);
  }

  /** Closes every connection and listener; resolves when no handle is left. */
  async stop(): Promise<void> {
    this.node.stop();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Starts a server on a free port of 127.0.0.1 unless told otherwise. Rejects when the address cannot be had. */
export async function startServer(options: StartOptions = {}): Promise<LostlockServer> {
  const settings = { ...options.settings };
  if (options.password !== undefined) settings.requirepass = options.password;
  const host = options.host ?? '127.0.0.1';
  const node = new Server(nodeHost(), { settings, ...(options.log && { log: options.log }) });
  const tcp = new Listener(node);
  const listeners = [tcp];
  const { port } = await tcp.listen({ host, port: options.port ?? 0 });
  node.settings.port = port;
  if (options.unixSocket !== undefined) {
    const unix = new Listener(node, options.unixSocket);
    listeners.push(unix);
    await unix.listen({ path: options.unixSocket });
  }
  return new LostlockServer(node, host, port, listeners);
}
