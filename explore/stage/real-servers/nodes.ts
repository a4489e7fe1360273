/** The servers of a play on real servers, as a topology asks for them, and how clients reach them. */
import type { Redis, RedisClusterOptions, RedisOptions } from '../../../lab/ioredis-types.ts';
import type { Link } from '../../../lab/links/link.ts';
import type { RealClockLane } from '../../../lab/real-clock/lane.ts';
import type { RealClockNetwork } from '../../../lab/real-clock/network.ts';
import { startRealServerCluster } from '../../../lab/real-servers/cluster.ts';
import type { RealServerNode } from '../../../lab/real-servers/node.ts';
import type { RealServerPair } from '../../../lab/real-servers/pair.ts';
import { startServers } from '../../../lab/start.ts';
import type { Entrances } from '../../client.ts';
import { sizeOf, type Topology } from '../../topology.ts';
import { ServersReplicaSet, type ServersSet, ServersShard } from './sets.ts';

/** The servers, and how clients reach them. */
export interface ServersNodes extends Entrances {
  readonly sets: readonly ServersSet[];
  /** A URL for each entrance: each primary, or each node of a cluster. */
  urls(client: string): Promise<string[]>;
  /** Resolves when a client has opened every connection that it needs, and has read what servers say on them. */
  ready(redis: Redis): Promise<void>;
  close(): Promise<void>;
}

/** How soon the nodes of a cluster suspect one that is silent, in milliseconds: busy machines keep processes waiting. */
const DOWN_AFTER = 3000;

/** Starts the servers of a topology. @param program takes redis-server's arguments */
export async function startRealServerNodes(topology: Topology, program: string): Promise<ServersNodes> {
  const { settings } = topology;
  const common = { ...sizeOf(topology), ...(settings !== undefined && { settings }) };
  if (topology.cluster !== undefined) {
    const cluster = await startRealServerCluster({ program, nodeTimeout: DOWN_AFTER, ...common });
    return {
      sets: cluster.shards.map((shard) => new ServersShard(shard, cluster)),
      entrances: 1,
      urls: async () => cluster.addresses.map(({ host, port }) => `redis://${host}:${port}`),
      open: (client, options) => cluster.client(client, options as RedisClusterOptions) as unknown as Redis,
      ready: async (redis) => {
        await redis.ping();
        const { nodes } = redis as unknown as { nodes(): readonly Redis[] };
        await Promise.all(nodes.call(redis).map((node) => node.ping()));
      },
      close: () => cluster.close(),
    };
  }
  const servers = await startServers({ clock: 'real', nodes: program, ...common });
  const sets = servers.sets.map((pair) => new ServersReplicaSet(pair));
  for (const set of sets) await set.askForStream();
  return {
    sets,
    entrances: sets.length,
    urls: (client) => Promise.all(servers.sets.map(async (pair) => (await pair.actor(client)).url)),
    open: (client, options, entrance) =>
      (servers.sets[entrance] as RealServerPair).client(client, options as RedisOptions),
    ready: async (redis) => void (await redis.ping()),
    close: () => servers.close(),
  };
}

/** The network that two parties share, of which at least one is a node. */
export function networkOf(
  sets: readonly Pick<ServersSet, 'nodes' | 'network'>[],
  one: string,
  other: string,
): RealClockNetwork {
  const found = sets.find(({ nodes }) => nodes.some(({ name }) => name === one || name === other));
  return (found ?? (sets[0] as ServersSet)).network;
}

/** The links between a client and all nodes. */
export function linksOf(sets: readonly ServersSet[], client: string): Link<RealClockLane>[] {
  return sets.flatMap(({ nodes, network }) => nodes.map(({ name }) => network.link(client, name)));
}

/** True while a request for a write is at a server, which has not yet answered. */
export function isAsking(sets: readonly ServersSet[], client: string): boolean {
  return sets.some(({ nodes }) => nodes.some(({ requests }) => requests.hasOpen(client)));
}

/** What is held up on its way to a client: the reply to the write that is waited for, or anything else. */
export type HeldReply = 'awaited' | 'other' | undefined;

/**
 * What waits for a client; undefined as well while it is not yet known what a request has written.
 * @param command the write that is waited for, as it enters the replication stream; undefined for any write
 */
export function heldFor(
  sets: readonly ServersSet[],
  client: string,
  command: readonly string[] | undefined,
): HeldReply {
  const nodes: readonly RealServerNode[] = sets.flatMap((set) => set.nodes);
  const unread = nodes.flatMap((node) => node.requests.unreadBy(client).map((reply) => ({ node, reply })));
  if (unread.some(({ reply }) => reply.wrote(command))) return 'awaited';
  const undecided = unread.filter(({ reply }) => !reply.decided);
  // A node that goes down meanwhile has told before.
  for (const node of new Set(undecided.map((each) => each.node))) node.decide().catch(() => {});
  if (undecided.length > 0) return undefined;
  return linksOf(sets, client).some(({ back }) => back.waiting > 0) ? 'other' : undefined;
}
