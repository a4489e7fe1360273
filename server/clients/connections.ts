/** The connections of a node: accepts them, numbers the clients, and cleans up after closed connections. */
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
  /** The nesting depth of execution units; 0 between requests. */
  readonly depth: number;
  readonly observer: Observer;
  readonly outputLimits: OutputLimits;
  readonly pubsub: PubSub;
  readonly replication: Replication;
  /** True when the node accepts no more connections. */
  readonly stopped: boolean;
  readonly tracking: Tracking;
  readonly world: KeyspaceWorld;
}

/** Creates the clients of a node, and removes them. */
export class Connections<Node extends ConnectedNode> {
  readonly #server: Node;
  #nextId = 1;

  constructor(server: Node) {
    this.#server = server;
  }

  /** Returns the next client id, in order of arrival. */
  nextId(): number {
    return this.#nextId++;
  }

  /** Accepts a new connection. If it is refused, closes it and returns undefined. */
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

  /** Creates a client without a connection, for scripts and other internal work. */
  pseudoClient(): Client<Node> {
    const client = new Client<Node>(this.#server, 0, undefined);
    client.mark(SCRIPT, true);
    return client;
  }

  /** Removes a client whose connection is closed: its waits, watches, subscriptions and links. */
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
