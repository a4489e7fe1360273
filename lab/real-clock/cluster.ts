/** A cluster in real time, over TCP: its nodes talk over links that a test holds and cuts, and fail over by their own votes. */

import { badOption } from '../../base/options.ts';
import { createClusterNode } from '../../cluster/index.ts';
import type { ClusterNode } from '../../cluster/node.ts';
import { replicateNode, takeOver } from '../../cluster/operator.ts';
import type { Timeline } from '../../page/format.ts';
import type { Host } from '../../server/host/host.ts';
import type { Server, ServerOptions } from '../../server/server.ts';
import { type ClusterSize, SETUP_TIMEOUT } from '../../start/cluster.ts';
import type { Cluster, RedisClusterOptions } from '../ioredis-types.ts';
import type { RestartOptions } from '../replica-group/dialects.ts';
import { AnyCluster, enterCluster, memberOf } from '../replica-group/shards.ts';
import { type RealClockTimelineNotes, realClockTimeline } from '../timeline/real-clock.ts';
import { noteIn, toldStory } from '../timeline/told.ts';
import type { ClusterConstructor } from '../virtual/client.ts';
import { RealClockClients } from './clients.ts';
import { ANYBODY, RealClockEndpoint } from './endpoint.ts';
import { CLOSED, type RealClockLane } from './lane.ts';
import { RealClockNetwork } from './network.ts';
import { RealClockNode, type RealClockNodeOptions } from './node.ts';
import { comesTrue, pass } from './wait.ts';

/** A node of a cluster on TCP. After a restart it knows the cluster as its disk does. */
export class RealClockClusterNode extends RealClockNode {
  /** The port that the cluster announces. What connects to it passes the link of `client`. */
  readonly #entrance: RealClockEndpoint;
  /** Where the process itself listens: for clients, and for the bus. */
  readonly #own = { clients: 0, bus: 0 };

  /** @internal */
  constructor(network: RealClockNetwork, name: string, options: RealClockNodeOptions) {
    super(network, name, options);
    this.#entrance = new RealClockEndpoint(network, ANYBODY, () => this.port);
  }

  /** @internal */
  protected override create(host: Host, options: ServerOptions): Server {
    return createClusterNode(host, options).server;
  }

  /** @internal Its part in the cluster. */
  get member(): ClusterNode {
    return memberOf(this);
  }

  /** The TCP port, at which clients reach the node. It stays the same over restarts. */
  override get port(): number {
    return this.#entrance.port;
  }

  /** @internal Opens the port that the cluster announces; 0 picks a free one. Rejects with Node's error when it is taken. */
  open(port: number): Promise<void> {
    return this.#entrance.listen(port);
  }

  /** @internal */
  override async listen(): Promise<void> {
    const own = this.#own;
    own.clients = await this.host.listen(own.clients, this.server.connections);
    own.bus = await this.host.listen(own.bus, this.member);
    this.host.network.name(this.port, this.name, own.clients);
    this.host.network.name(own.bus, this.name);
    Object.assign(this.server.settings, { port: this.port, 'cluster-port': own.bus });
  }

  /** @internal Begins to talk to the other nodes. */
  begin(): void {
    enterCluster(this.member, (type, text) => this.host.note(type, text));
  }

  /** Starts a new process, which knows the cluster as its disk does. Rejects with TypeError for a wrong option. */
  override async restart(options: RestartOptions = {}): Promise<void> {
    if (this.up) return;
    await super.restart(options);
    this.begin();
  }

  /** @internal CLUSTER FAILOVER TAKEOVER. Throws when the node is not a replica. */
  protected override lead(): void {
    takeOver(this.member);
  }

  /** @internal CLUSTER REPLICATE. Throws Redis' error, for example while the node serves slots. */
  protected override trail(primary: RealClockClusterNode): void {
    replicateNode(this.member, primary.member);
  }

  /** Ends the node for good. Resolves when no handle is left. */
  override async close(): Promise<void> {
    await Promise.all([this.#entrance.close(), super.close()]);
  }
}

/** A client of any library on the real clock, whose connections the links know by its name. */
export interface RealClockClusterActor {
  /** The name of the client on the links and in `lost`. */
  readonly name: string;
  /** Where the client begins. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** Maps the addresses that the cluster announces to those of this client: `natMap` of ioredis, `nodeAddressMap` of node-redis. */
  readonly natMap: Readonly<Record<string, { readonly host: string; readonly port: number }>>;
}

/** A cluster in real time, over TCP. */
export class RealClockCluster extends AnyCluster<RealClockClusterNode, RealClockLane> {
  /** The lanes between all nodes and clients, by name. */
  readonly network: RealClockNetwork;
  readonly #ioredis: ClusterConstructor | undefined;
  readonly #clients: RealClockClients;

  /** @internal @param ioredis the client of clusters; undefined where it is not installed */
  constructor(
    size: Required<ClusterSize>,
    options: RealClockNodeOptions,
    ioredis: ClusterConstructor | undefined,
    trace: boolean,
  ) {
    const network = new RealClockNetwork();
    const around = {
      network,
      checkOpen: () => {
        if (network.closed) throw new Error(CLOSED);
      },
      note: (who: string, what: string, detail: string) => network.trace.note(who, what, detail),
    };
    super(size, around, (name) => new RealClockClusterNode(network, name, options));
    this.network = network;
    this.#ioredis = ioredis;
    this.#clients = new RealClockClients(network);
    if (trace) network.trace.begin();
  }

  /**
   * @internal
   * Makes the nodes listen, and a cluster. Rejects with Node's error for a port in use, after closing what it has opened.
   * @param port that of the first node; 0 picks free ones
   * @param nodeTimeout milliseconds
   */
  async start(port: number, nodeTimeout: number): Promise<void> {
    try {
      for (const [i, node] of this.nodes.entries()) await node.open(port === 0 ? 0 : port + i);
      await Promise.all(this.nodes.map((node) => node.listen()));
      this.#timeOut(Math.max(nodeTimeout, SETUP_TIMEOUT));
      for (const node of this.nodes) node.begin();
      await this.settle(() => pass(1));
      this.#timeOut(nodeTimeout);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #timeOut(ms: number): void {
    for (const { server } of this.nodes) server.settings['cluster-node-timeout'] = ms;
  }

  /**
   * A client of any library: connections to its `addresses` pass links under its name, if the client knows its `natMap`.
   * Rejects with TypeError for a name that a client cannot have.
   */
  async actor(name: string): Promise<RealClockClusterActor> {
    this.#check('actor', name);
    const opened = this.nodes.map(async (node) => {
      const { port } = await this.#clients.endpoint(`${name}>${node.name}`, name, () => node.port);
      return { host: '127.0.0.1', port };
    });
    const addresses = await Promise.all(opened);
    const pairs = this.nodes.map(({ port }, i) => [`127.0.0.1:${port}`, addresses[i]] as const);
    return { name, addresses, natMap: Object.fromEntries(pairs) as RealClockClusterActor['natMap'] };
  }

  /**
   * ioredis' client of the cluster, with this name on the links. Its extra connection for subscriptions, which ioredis opens by
   * itself, counts as one of `client`. `close` disconnects it. Throws Error when ioredis is not installed, TypeError for a
   * name that a client cannot have.
   */
  client(name: string, options: RedisClusterOptions = {}): Cluster {
    this.#check('client', name);
    return this.#clients.openCluster(this.#ioredis, name, options, this.addresses);
  }

  #check(what: string, name: unknown): void {
    if (this.network.closed) throw new Error(CLOSED);
    const taken = [...this.nodes.map((node) => node.name), ANYBODY];
    if (typeof name === 'string' && name !== '' && !taken.includes(name)) return;
    throw badOption(what, name, `a client's name: not empty, and none of ${taken.join(', ')}`);
  }

  /** @internal */
  protected async until(condition: () => boolean, maxMs: number): Promise<void> {
    if (!(await comesTrue(condition, maxMs)))
      throw new Error(`the condition did not hold within ${maxMs} ms`);
  }

  /**
   * What has happened so far, as the data of a timeline (docs/timeline.md). A message counts as arrived when it has passed its
   * link. About the last 20,000 messages are kept. Throws Error without the option `trace`.
   */
  timelineData(notes: RealClockTimelineNotes = {}): Timeline {
    if (!this.network.trace.isOn) throw new Error('timelineData() needs startCluster with trace: true');
    return realClockTimeline(
      { network: this.network, nodes: this.nodes, sentinels: [], shards: this.shards },
      notes,
    );
  }

  /**
   * Writes a line into the story and onto the timeline, now: `note('w1', 'charges o1')`. Throws TypeError for an empty name or text.
   * @param who a client or a node
   */
  note(who: string, text: string): void {
    noteIn(this.network.trace, who, text);
  }

  /**
   * What has happened so far, in sentences, a line for each with its time in milliseconds, as the timeline tells it. Throws
   * Error without the option `trace`.
   */
  story(): string {
    return toldStory(this.timelineData());
  }

  /** Disconnects the cluster's clients and stops every node. Resolves when no handle is left. */
  async close(): Promise<void> {
    this.#clients.disconnect();
    this.network.close();
    await Promise.all([this.#clients, ...this.nodes].map((each) => each.close()));
  }
}
