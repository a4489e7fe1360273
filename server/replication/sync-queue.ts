/**
 * Replicas that wait for a full resync. Like Redis, the queue waits for more replicas and serves all of them at once.
 */
import type { Client } from '../clients/client.ts';
import type { Timer } from '../host/host.ts';
import type { HasHost, HasSettings, Units } from '../ports.ts';

/** The queue of full resyncs. */
export class SyncQueue {
  readonly #server: HasHost & HasSettings & Units;
  readonly #serve: (client: Client) => void;
  #waiting: Client[] = [];
  #timer: Timer | undefined;

  /** @param serve sends the dataset, and then the stream */
  constructor(server: HasHost & HasSettings & Units, serve: (client: Client) => void) {
    this.#server = server;
    this.#serve = serve;
  }

  /**
   * Serves the client at once, or later together with others, as `repl-diskless-sync-delay` (seconds) and
   * `repl-diskless-sync-max-replicas` require.
   */
  add(client: Client): void {
    const { settings, host } = this.#server;
    const delay = settings['repl-diskless-sync'] ? settings['repl-diskless-sync-delay'] : 0;
    this.#waiting.push(client);
    const enough = settings['repl-diskless-sync-max-replicas'];
    if (delay === 0 || (enough > 0 && this.#waiting.length >= enough)) {
      this.#serveAll();
      return;
    }
    this.#timer ??= host.clock.at(host.clock.now() + delay * 1000, () => {
      this.#server.unit(() => this.#serveAll());
      this.#server.settle();
    });
  }

  /** Removes a client whose connection is closed. */
  forget(client: Client): void {
    this.#waiting = this.#waiting.filter((each) => each !== client);
  }

  #serveAll(): void {
    this.stop();
    for (const client of this.#waiting.splice(0)) this.#serve(client);
  }

  /** Cancels the timer. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
