/** A running Sentinel, as a server has it. */
import type { SentinelServer } from '../../sentinel/server.ts';
import type { Listener } from '../../server/host/tcp.ts';

/** A running Sentinel. */
export class LostlockSentinel implements AsyncDisposable {
  /** @internal The node itself, for access to what this class does not expose. */
  readonly node: SentinelServer;
  /** The address that it listens on. */
  readonly host: string;
  /** The TCP port that it listens on. */
  readonly port: number;
  readonly #listener: Listener;

  /** @internal */
  constructor(node: SentinelServer, host: string, port: number, listener: Listener) {
    this.node = node;
    this.host = host;
    this.port = port;
    this.#listener = listener;
    node.onShutdown = () => void this.stop();
    node.sentinel.onCrash = () => node.onShutdown();
  }

  /** Closes every connection and the listener. Resolves when no handle is left. */
  async stop(): Promise<void> {
    this.node.stop();
    await this.#listener.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
