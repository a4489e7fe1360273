/** The door through which connections reach a node. A test can shut it, and a restart puts a new node behind it. */

import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { PRIMARY_LINK, REPLICA_LINK } from '../../server/clients/client.ts';
import type { Acceptor, Connection, Receiver } from '../../server/host/host.ts';
import { connectInMemory, failInMemory } from '../../server/host/in-memory.ts';
import type { Server } from '../../server/server.ts';

/** Accepts connections for a node, while it is open. */
export class Door implements Acceptor {
  /** The node behind it. */
  node: Server;
  /** While false, every new connection is reset. */
  open = true;

  constructor(node: Server) {
    this.node = node;
  }

  accept(connection: Connection): Receiver | undefined {
    if (this.open) return this.node.connections.accept(connection);
    connection.abort();
    return undefined;
  }

  /** Opens an in-memory connection. If nobody is there, its stream ends with the error that a socket would have. */
  connect({ host, port }: { readonly host: string; readonly port: number }): Duplex {
    if (this.open && !this.node.stopped) return connectInMemory(this);
    const code = this.node.stopped ? 'ECONNREFUSED' : 'ECONNRESET';
    return failInMemory(
      Object.assign(new Error(`connect ${code} ${host}:${port}`), {
        code,
        errno: -constants.errno[code],
        syscall: 'connect',
        address: host,
        port,
      }),
    );
  }

  /** Resets the connections of clients. Links to replicas and to the primary stay. @returns how many there were */
  disconnectAll(): number {
    const clients = [...this.node.clients.values()].filter(
      (client) => !client.has(REPLICA_LINK) && !client.has(PRIMARY_LINK),
    );
    for (const client of clients) client.abort();
    return clients.length;
  }
}
