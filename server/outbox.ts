/** Clients with output that waits for the end of the present event. */
import type { Client } from './client.ts';

export class Outbox {
  #clients: Client[] = [];

  /** The client has output, or is to be closed. */
  add(client: Client): void {
    this.#clients.push(client);
  }

  /** Hands everything over. */
  flush(): void {
    const clients = this.#clients;
    if (clients.length === 0) return;
    this.#clients = [];
    for (const client of clients) client.flush();
  }
}
