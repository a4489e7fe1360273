/** Real servers as a play sees them: primaries with their replicas, independent of each other or in a cluster. */
import type { Write } from '../../lab/failover/write-log.ts';
import type { Redis, RedisClusterOptions, RedisOptions } from '../../lab/ioredis-types.ts';
import type { Link } from '../../lab/links/link.ts';
import { type ProcessCluster, startProcessCluster } from '../../lab/processes/cluster.ts';
import type { ProcessNode } from '../../lab/processes/node.ts';
import type { ProcessPair } from '../../lab/processes/set.ts';
import type { ProcessShard } from '../../lab/processes/shard.ts';
import { comesTrue } from '../../lab/processes/wait.ts';
import type { RealLane } from '../../lab/real/lane.ts';
import type { RealNetwork } from '../../lab/real/network.ts';
import { startServers } from '../../lab/start.ts';
import type { Topology } from '../topology.ts';

/** Waits as long as in the virtual world, and for what had happened there in the meantime. */
export type Wait = (ms: number) => Promise<void>;

/** One primary and its replicas. */
export interface RealSet {
  readonly nodes: readonly ProcessNode[];
  readonly primary: ProcessNode;
  readonly replicas: readonly ProcessNode[];
  /** The acknowledged writes that have been lost so far. */
  readonly lost: readonly Write[];
  readonly network: RealNetwork;
  /** A client of the primary alone. */
  client(name: string, options?: RedisOptions): Redis;
  /**
   * Replaces the primary as a fault says; it crashes unless `how` is 'demote'. Resolves when a replica is promoted.
   * @param after how long there is no primary, where nothing but the lab decides on that; in milliseconds
   * @param told called as soon as the primary is down, and as soon as a replica is promoted
   */
  replace(how: string, after: number, wait: Wait, told: (what: 'crash' | 'promotion') => void): Promise<void>;
  /** Starts a crashed node again. */
  restart(name: string): Promise<void>;
  /** Makes the primary a replica of another node, while its clients stay connected. A cluster cannot do that. */
  swap?(): Promise<ProcessNode>;
}

/** What is held up on its way to a client: the reply to the write that is waited for, or anything else. */
export type HeldReply = 'awaited' | 'other' | undefined;

/** The servers of a play. */
export interface RealNodes {
  readonly sets: readonly RealSet[];
  /** How many clients reach everything: one for each independent primary, or one for a cluster. */
  readonly entrances: number;
  /** A URL for each entrance: each primary, or each node of a cluster. */
  urls(client: string): Promise<string[]>;
  /** Opens a client. */
  open(client: string, options: RedisOptions | RedisClusterOptions, entrance: number): Redis;
  /** Resolves when a client has opened every connection that it needs, and has read what servers say on them. */
  ready(redis: Redis): Promise<void>;
  /** The links between a client and all nodes. */
  links(client: string): Link<RealLane>[];
  /** True while a request for a write is at a server, which has not yet answered. */
  isAsking(client: string): boolean;
  /**
   * What waits for a client; undefined as well while it is not yet known what a request has written.
   * @param command the write that is waited for, as it enters the replication stream; undefined for any write
   */
  heldFor(client: string, command: readonly string[] | undefined): HeldReply;
  close(): Promise<void>;
}

/** How soon the nodes of a cluster suspect one that is silent, in milliseconds: busy machines keep processes waiting. */
const DOWN_AFTER = 3000;
/** How long the nodes of a cluster may take to promote a replica, in milliseconds. */
const DECISION_MAY_TAKE = 60_000;
/** How often a fault looks whether they have, in milliseconds. */
const LOOKS_EVERY = 50;

/** Starts the servers of a topology. @param program takes redis-server's arguments */
export async function startReal(topology: Topology, program: string): Promise<RealNodes> {
  const { cluster, primaries = 1, settings } = topology;
  const { replicas = primaries > 1 ? 0 : 1 } = topology;
  const own = settings !== undefined && { settings };
  if (cluster !== undefined) {
    const size = { primaries: cluster, replicas, nodeTimeout: DOWN_AFTER };
    return new ClusterNodes(await startProcessCluster({ program, ...size, ...own }));
  }
  const servers = await startServers({ clock: 'real', nodes: program, primaries, replicas, ...own });
  for (const pair of servers.sets) await askForStreams(pair);
  return new PairNodes(servers.sets, () => servers.close());
}

/** The network that two parties share, of which at least one is a node. */
export function networkOf(sets: readonly RealSet[], one: string, other: string): RealSet['network'] {
  const found = sets.find(({ nodes }) => nodes.some(({ name }) => name === one || name === other));
  return (found ?? (sets[0] as RealSet)).network;
}

/** A server without replicas keeps no stream before it is asked for it. */
async function askForStreams({ nodes }: ProcessPair): Promise<void> {
  if (nodes.length === 1) await nodes[0]?.decide();
}

/** Reads what a primary has written since nobody follows it. A replica that comes back gets a dataset, which does not tell. */
export async function readStream({ primary }: Pick<RealSet, 'primary'>): Promise<void> {
  // A server that goes down meanwhile has told before.
  await primary.decide().catch(() => {});
}

/** Independent primaries, each with its replicas. */
class PairNodes implements RealNodes {
  readonly sets: readonly RealSet[];
  readonly close: () => Promise<void>;
  readonly #pairs: readonly ProcessPair[];

  constructor(pairs: readonly ProcessPair[], close: () => Promise<void>) {
    this.#pairs = pairs;
    this.sets = pairs.map((pair) => new RealPairSet(pair));
    this.close = close;
  }

  get entrances(): number {
    return this.#pairs.length;
  }

  urls(client: string): Promise<string[]> {
    return Promise.all(this.#pairs.map(async (pair) => (await pair.actor(client)).url));
  }

  open(client: string, options: RedisOptions, entrance: number): Redis {
    return (this.#pairs[entrance] as ProcessPair).client(client, options);
  }

  async ready(redis: Redis): Promise<void> {
    await redis.ping();
  }

  links(client: string): Link<RealLane>[] {
    return this.#pairs.flatMap(({ network, nodes }) => nodes.map(({ name }) => network.link(client, name)));
  }

  isAsking(client: string): boolean {
    return this.#pairs.some(({ nodes }) => nodes.some(({ requests }) => requests.hasOpen(client)));
  }

  heldFor(client: string, command: readonly string[] | undefined): HeldReply {
    return heldBy(
      this.#pairs.flatMap(({ nodes }) => nodes),
      this.links(client),
      client,
      command,
    );
  }
}

function heldBy(
  nodes: readonly ProcessNode[],
  links: readonly Link<RealLane>[],
  client: string,
  command: readonly string[] | undefined,
): HeldReply {
  const unread = nodes.flatMap((node) => node.requests.unreadBy(client).map((reply) => ({ node, reply })));
  if (unread.some(({ reply }) => reply.wrote(command))) return 'awaited';
  const undecided = unread.filter(({ reply }) => !reply.decided);
  // A node that goes down meanwhile has told before.
  for (const node of new Set(undecided.map((each) => each.node))) node.decide().catch(() => {});
  if (undecided.length > 0) return undefined;
  return links.some(({ back }) => back.waiting > 0) ? 'other' : undefined;
}

/** The nodes of a pair or of a shard, and their roles. */
type NodesWithRoles = Pick<ProcessShard, 'nodes' | 'primary' | 'replicas' | 'lost' | 'network'>;

/** What a pair and a shard have in common. */
abstract class Roled implements RealSet {
  readonly #roles: NodesWithRoles;

  constructor(roles: NodesWithRoles) {
    this.#roles = roles;
  }

  get nodes(): readonly ProcessNode[] {
    return this.#roles.nodes;
  }

  get primary(): ProcessNode {
    return this.#roles.primary;
  }

  get replicas(): readonly ProcessNode[] {
    return this.#roles.replicas;
  }

  get lost(): readonly Write[] {
    return this.#roles.lost;
  }

  get network(): RealNetwork {
    return this.#roles.network;
  }

  abstract client(name: string, options?: RedisOptions): Redis;
  abstract replace(...how: Parameters<RealSet['replace']>): Promise<void>;
  abstract restart(name: string): Promise<void>;
}

/** A primary and its replicas, whose roles the lab decides. */
class RealPairSet extends Roled {
  readonly #pair: ProcessPair;

  constructor(pair: ProcessPair) {
    super(pair);
    this.#pair = pair;
  }

  client(name: string, options?: RedisOptions): Redis {
    return this.#pair.client(name, options);
  }

  async replace(
    how: string,
    after: number,
    _wait: Wait,
    told: (what: 'crash' | 'promotion') => void,
  ): Promise<void> {
    const crash = how !== 'demote';
    if (crash) told('crash');
    await this.#pair.failover(
      crash ? { crash: { keep: how === 'empty' ? 'nothing' : 'everything' }, after } : {},
    );
    told('promotion');
  }

  async restart(name: string): Promise<void> {
    await readStream(this);
    await this.#pair.restart(name);
    await askForStreams(this.#pair);
  }

  async swap(): Promise<ProcessNode> {
    const { primary, replica } = this.#pair;
    await this.#pair.promote(replica.name);
    // As a command of an operator does it: nobody is disconnected.
    primary.follow(replica);
    await comesTrue(async () => (await primary.standing()).isReplica, DECISION_MAY_TAKE);
    return replica;
  }
}

/** A cluster. */
class ClusterNodes implements RealNodes {
  readonly sets: readonly RealSet[];
  readonly entrances = 1;
  readonly #cluster: ProcessCluster;

  constructor(cluster: ProcessCluster) {
    this.#cluster = cluster;
    this.sets = cluster.shards.map((shard) => new RealShardSet(cluster, shard));
  }

  async urls(): Promise<string[]> {
    return this.#cluster.addresses.map(({ host, port }) => `redis://${host}:${port}`);
  }

  open(client: string, options: RedisClusterOptions): Redis {
    return this.#cluster.client(client, options) as unknown as Redis;
  }

  async ready(redis: Redis): Promise<void> {
    await redis.ping();
    const cluster = redis as unknown as { nodes(): readonly Redis[] };
    await Promise.all(cluster.nodes().map((node) => node.ping()));
  }

  links(client: string): Link<RealLane>[] {
    const { network, nodes } = this.#cluster;
    return nodes.map(({ name }) => network.link(client, name));
  }

  isAsking(client: string): boolean {
    return this.#cluster.nodes.some(({ requests }) => requests.hasOpen(client));
  }

  heldFor(client: string, command: readonly string[] | undefined): HeldReply {
    return heldBy(this.#cluster.nodes, this.links(client), client, command);
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }
}

/** A shard of a cluster, whose nodes decide on their roles. */
class RealShardSet extends Roled {
  readonly #cluster: ProcessCluster;
  readonly #shard: ProcessShard;

  constructor(cluster: ProcessCluster, shard: ProcessShard) {
    super(shard);
    this.#cluster = cluster;
    this.#shard = shard;
  }

  client(name: string, options: RedisOptions = {}): Redis {
    return this.#cluster.nodeClient(name, options, () => this.primary);
  }

  async replace(
    how: string,
    after: number,
    wait: Wait,
    told: (what: 'crash' | 'promotion') => void,
  ): Promise<void> {
    const old = this.primary;
    const before = this.#shard.failovers.length;
    const isDecided = (): boolean => this.#shard.failovers.length > before;
    if (how !== 'demote') {
      await old.crash({ keep: how === 'empty' ? 'nothing' : 'everything' });
      told('crash');
    }
    if (how === 'forced') await wait(after);
    if (how === 'demote' || how === 'forced') await this.#shard.failover();
    // The virtual time of the fault goes on meanwhile. It may have to wait for clients that need the new primary.
    const isOver = (): boolean => isDecided() || this.network.closed;
    const decided = comesTrue(isOver, DECISION_MAY_TAKE).then(() => isDecided() && told('promotion'));
    for (let waited = 0; !isDecided(); waited += LOOKS_EVERY) {
      if (this.network.closed) throw new Error('the play is over');
      if (waited > DECISION_MAY_TAKE)
        throw new Error(`no replica is promoted within ${DECISION_MAY_TAKE} ms`);
      await wait(LOOKS_EVERY);
    }
    await decided;
  }

  async restart(name: string): Promise<void> {
    await readStream(this);
    await this.#cluster.node(name).restart();
  }
}
