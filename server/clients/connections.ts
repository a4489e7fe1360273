/** The connections of a node: who is let in, the clients' numbers, and what is cleared up behind a client. */
import type { KeyspaceWorld } from '../../keyspace/keyspace.ts';
import type { Acl } from '../acl/acl.ts';
import type { Observer } from '../figures/observer.ts';
import type { Connection } from '../host/host.ts';
import type { Replication } from '../replication/primary.ts';
import { refusal } from './admission.ts';
import type { Blocking } from './blocking.ts';
import { Client, type ClientNode, SCRIPT } from './client.ts';
import type { OutputLimits } from './output-limits.ts';
import type { PubSub } from './pubsub.ts';
import type { Tracking } from './tracking.ts';

/** The node, as its connections see it. */
interface ConnectedNode extends ClientNode {
  readonly acl: Acl;
  readonly blocking: Blocking;
  readonly clients: Map<number, Client>;
  /** How deep in execution units the node is; 0 between requests. */
  readonly depth: number;
  readonly observer: Observer;
  readonly outputLimits: OutputLimits;
  readonly pubsub: PubSub;
  readonly replication: Replication;
  /** True once the node takes no more connections. */
  readonly stopped: boolean;
  readonly tracking: Tracking;
  readonly world: KeyspaceWorld;
}

/** Makes the clients of a node, and forgets them. */
export class Connections<Node extends ConnectedNode> {
  readonly #server: Node;
  #nextId = 1;

  constructor(server: Node) {
    this.#server = server;
  }

  /** Numbers clients in order of arrival. */
  nextId(): number {
    return this.#nextId++;
  }

  /** Takes a new connection. Returns undefined for one that is refused, and closes it. */
  accept(connection: Connection): Client<Node> | undefined {
    const server = this.#server;
    if (server.stopped) {
      connection.abort();
      return undefined;
    }
    const refused = refusal(server, connection.remote);
    if (refused !== undefined) {
      server.stats.rejected++;
      connection.send(refused);
      connection.close();
      return undefined;
    }
    if (server.depth === 0) server.world.now = server.host.clock.now();
    server.stats.connections++;
    const client = new Client<Node>(server, this.nextId(), connection);
    server.acl.admit(client);
    server.clients.set(client.id, client);
    return client;
  }

  /** Makes a client without a connection, for scripts and other work of the node's own. */
  pseudoClient(): Client<Node> {
    const client = new Client<Node>(this.#server, 0, undefined);
    client.mark(SCRIPT, true);
    return client;
  }

  /** Forgets a client whose connection is gone: its waits, watches, subscriptions and links. */
  forget(client: Client): void {
    const server = this.#server;
    server.clients.delete(client.id);
    server.outputLimits.forget(client);
    server.blocking.forget(client);
    client.watches.clear();
    server.pubsub.forget(client);
    server.replication.forget(client);
    server.observer.forget(client);
    server.tracking.disable(client);
  }
}
