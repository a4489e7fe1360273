/** CLIENT PAUSE: requests wait, expiry stands still, until time runs out or UNPAUSE comes. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { type Client, PRIMARY_LINK, REPLICA_LINK } from './client.ts';
import { GATE_PAUSED } from './execute.ts';
import type { Timer } from './host.ts';
import type { Server } from './server.ts';

export class Pausing {
  readonly #server: Server;
  #all = false;
  #until: Millis = 0;
  #timer: Timer | undefined;
  #postponed: { client: Client; argv: Bytes[] }[] = [];

  constructor(server: Server) {
    this.#server = server;
  }

  /** Pauses for so many milliseconds; a pause in force is never shortened or weakened. */
  pause(timeout: Millis, all: boolean): void {
    const server = this.#server;
    const active = (server.state & GATE_PAUSED) !== 0;
    this.#all = all || (active && this.#all);
    this.#until = Math.max(active ? this.#until : 0, server.host.clock.now() + timeout);
    server.gate(GATE_PAUSED, true);
    server.expiry.follow();
    this.#timer?.cancel();
    this.#timer = server.host.clock.at(this.#until, () => this.unpause());
  }

  /** Lets everything that waited run, in order of arrival. */
  unpause(): void {
    const server = this.#server;
    if ((server.state & GATE_PAUSED) === 0) return;
    this.#timer?.cancel();
    server.gate(GATE_PAUSED, false);
    server.expiry.follow();
    const postponed = this.#postponed;
    this.#postponed = [];
    for (const { client, argv } of postponed) {
      if (client.gone) continue;
      server.blocking.forget(client);
      server.host.clock.soon(() => {
        if (client.gone) return;
        server.execute(client, argv);
        server.unblocked(client);
        server.settle();
      });
    }
  }

  /** True when the client's request has to wait; links between nodes never do. */
  holds(client: Client, writes: boolean): boolean {
    if (client.has(PRIMARY_LINK | REPLICA_LINK)) return false;
    return this.#all || writes;
  }

  /** Keeps a request for later. */
  postpone(client: Client, argv: Bytes[]): void {
    this.#postponed.push({ client, argv });
    this.#server.blocking.block(client, { kind: 'pause', timeout: 0, timeoutReply: null });
  }
}
