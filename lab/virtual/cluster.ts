/** A cluster in a world: its nodes talk over links that a test holds and cuts, and fail over by their own votes. */
import { arrange, isSettled, showReplicas, showsReplicas } from '../../cluster/arrange.ts';
import type { ClusterEvent } from '../../cluster/cluster.ts';
import { keepIn } from '../../cluster/configuration.ts';
import { createClusterNode } from '../../cluster/index.ts';
import { ClusterNode } from '../../cluster/node.ts';
import { fromText } from '../../protocol/bytes.ts';
import { slotOf } from '../../protocol/slot.ts';
import type { Server, ServerOptions } from '../../server/server.ts';
import type { RestartOptions } from '../failover/dialects.ts';
import { Roles } from '../failover/roles.ts';
import type { Lane } from './lane.ts';
import type { Network } from './network.ts';
import { LabNode, type LabNodeOptions } from './node.ts';
import type { World } from './world.ts';

/** How far the port of the bus is from the port for clients, as in Redis. */
const BUS = 10_000;
/** The file in which a node keeps its place in the cluster. */
export const CLUSTER_FILE = 'nodes.conf';

/** A node of a cluster in a world. After a restart it knows the cluster as its disk does. */
export class LabClusterNode extends LabNode {
  /** @internal */
  protected override create(options: ServerOptions): Server {
    const { server, node } = createClusterNode(this.host, options);
    this.host.listen(this.port + BUS, (connection) => node.accept(connection));
    return server;
  }

  /** @internal Its part in the cluster. */
  get member(): ClusterNode {
    const { cluster } = this.server;
    if (cluster instanceof ClusterNode) return cluster;
    throw new Error(`${this.name} is no node of a cluster`);
  }

  /** @internal Begins to talk to the other nodes, with what the disk still has. */
  begin(): void {
    const { cluster } = this.member;
    cluster.onEvent = ({ type, text }: ClusterEvent) => this.host.world.trace.note(this.name, type, text);
    this.member.enter(() => keepIn(cluster, CLUSTER_FILE));
    this.member.start();
  }

  override restart(options: RestartOptions = {}): void {
    if (this.up) return;
    super.restart(options);
    this.begin();
  }
}

/** One primary and its replicas: which node is the primary now, and what promotions have lost. */
export class Shard extends Roles<LabClusterNode, Lane> {
  readonly #world: World;

  /** @internal */
  constructor(world: World, names: readonly string[], make: (name: string) => LabClusterNode) {
    super(names, false, make);
    this.#world = world;
    this.obeySentinels();
  }

  /** The lanes between all nodes and clients, by name. */
  get network(): Network {
    return this.#world.network;
  }

  /** @internal */
  protected checkOpen(): void {
    this.#world.assertUsable();
  }
}

/** The nodes of a cluster in a world, by shards. */
export class VirtualCluster {
  readonly world: World;
  readonly shards: readonly Shard[];
  /** All nodes, those that began as primaries first. */
  readonly nodes: readonly LabClusterNode[];

  /** @param port that of the first node */
  constructor(
    world: World,
    { primaries, replicas }: { readonly primaries: number; readonly replicas: number },
    port: number,
    options: LabNodeOptions,
  ) {
    this.world = world;
    const count = primaries * (replicas + 1);
    const names = Array.from({ length: count }, (_, i) => `node-${i + 1}`);
    const make = (name: string) => new LabClusterNode(world, name, port + names.indexOf(name), options);
    this.shards = Array.from(
      { length: primaries },
      (_, shard) =>
        new Shard(
          world,
          names.filter((_, i) => i % primaries === shard),
          make,
        ),
    );
    const all = this.shards.flatMap((shard) => shard.nodes);
    this.nodes = names.flatMap((name) => all.find((node) => node.name === name) ?? []);
  }

  /** Gives all nodes the same view, and moves time until they know each other and the replicas are in sync. */
  async settle(): Promise<void> {
    for (const node of this.nodes) node.begin();
    const places = this.nodes.map(({ member: { cluster } }) => ({ cluster, ip: fromText('127.0.0.1') }));
    arrange(places, this.shards.length);
    const members = this.nodes.map(({ member }) => member);
    await this.world.run(async () => {
      while (!members.every(isSettled)) await this.world.advance(1);
      for (const member of members) showReplicas(member);
      while (!members.every(showsReplicas)) await this.world.advance(1);
    }, 60_000);
  }

  /** The shard that serves a key, as its own primary sees it. Throws RangeError when there is none. */
  shardOf(key: string): Shard {
    const slot = slotOf(fromText(key));
    const found = this.shards.find(({ primary }) => {
      const { owners, myself } = primary.member.cluster;
      return owners[slot] === myself;
    });
    if (found === undefined) throw new RangeError(`no primary of the cluster serves slot ${slot}`);
    return found;
  }

  /** The node with this name. Throws RangeError when there is none. */
  node(name: string): LabClusterNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found !== undefined) return found;
    throw new RangeError(
      `no node is called '${name}'; there are ${this.nodes.map((each) => each.name).join(', ')}`,
    );
  }
}
