/** The `timeout` setting: closes connections of clients that have sent nothing for that many seconds. */
import { Beat } from '../host/beat.ts';
import { silence } from '../host/silence.ts';
import type { HasClients, HasHost, HasSettings, Units } from '../ports.ts';
import { PRIMARY_LINK, REPLICA_LINK } from './client.ts';

/** The node, as the idle check sees it. */
type IdleNode = HasClients & HasHost & HasSettings & Pick<Units, 'settle'>;

/** Closes idle connections. */
export class Idle {
  readonly #server: IdleNode;
  readonly #beat: Beat;

  constructor(server: IdleNode) {
    this.#server = server;
    this.#beat = new Beat(server, () => this.#review());
  }

  /** Applies the setting. */
  configure(): void {
    if (this.#server.settings.timeout === 0) this.stop();
    else this.#beat.start();
  }

  stop(): void {
    this.#beat.stop();
  }

  // Replicas, blocked clients and subscribers may be silent, and are exempt.
  #review(): void {
    const server = this.#server;
    const { host, settings } = server;
    const seconds = (at: number): number => Math.floor(at / 1000);
    const now = host.clock.now();
    for (const client of [...server.clients.values()]) {
      const spared = client.has(REPLICA_LINK | PRIMARY_LINK) || client.blocked !== undefined;
      if (spared || client.subscriptions.count > 0) continue;
      if (seconds(now) - seconds(client.heardAt) <= settings.timeout) continue;
      const limit = settings.timeout * 1000;
      if (silence(host, now, client.heardAt, limit) <= limit) continue;
      client.close();
    }
    server.settle();
  }
}
