/**
 * Puts a node of a cluster together: a server (`server/`), and its part in the cluster:
 *
 *     node           what the server asks, and the links      cluster     the view: members, slots, epochs
 *     routing        MOVED, ASK, CROSSSLOT and the like       commands/   CLUSTER
 *     link, message  connections and messages of the bus      gossip      what nodes tell each other
 *     receive        what a message changes                   heartbeat   what happens ten times a second
 *     health         which nodes have failed, the state     election    a replica takes over
 *     slots          who serves what, by epochs               configuration   nodes.conf
 *
 * It speaks the bus protocol of Redis, and reaches time, randomness and connections through its host alone, so it runs
 * on the real and the virtual clock.
 */
import type { Bytes } from '../protocol/bytes.ts';
import { DEFAULT_DIALECT, dialectNamed } from '../server/dialects/index.ts';
import type { Host } from '../server/host/host.ts';
import { createNode } from '../server/index.ts';
import type { Server, ServerOptions } from '../server/server.ts';
import { ClusterNode } from './node.ts';

/** A server, and its part in a cluster. */
export interface ClusterServer {
  readonly server: Server;
  readonly node: ClusterNode;
}

/**
 * Creates a node of a cluster on a host. It knows nobody and serves no slots until it is told to, and begins when its
 * `start` is called.
 * @param id its id, 40 hexadecimal digits; by default a random one
 * @throws RangeError for a dialect that does not exist
 */
export function createClusterNode(host: Host, options: ServerOptions = {}, id?: Bytes): ClusterServer {
  const { databases } = dialectNamed(options.dialect ?? DEFAULT_DIALECT).cluster;
  const settings = {
    ...options.settings,
    'cluster-enabled': true,
    ...(databases === 'one, others refused' && { databases: 1 }),
  };
  const server = createNode(host, { ...options, settings });
  const node = new ClusterNode(server, id ?? server.randomHex(40));
  server.join(node);
  return { server, node };
}
