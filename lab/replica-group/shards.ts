/** What clusters on both clocks share: a node's part in its cluster, the shards, and what their promotions lose. */

import { badOption } from '../../base/options.ts';
import type { ClusterEvent } from '../../cluster/cluster.ts';
import { keepIn } from '../../cluster/configuration.ts';
import { ClusterNode } from '../../cluster/node.ts';
import type { Timeline } from '../../page/format.ts';
import { fromText } from '../../protocol/bytes.ts';
import { slotOf } from '../../protocol/slot.ts';
import type { Server } from '../../server/server.ts';
import { formCluster } from '../../start/cluster.ts';
import { checkMillis } from '../checks.ts';
import type { LaneControls } from '../links/gate.ts';
import type { Lanes } from '../links/lanes.ts';
import { type Member, ReplicaGroup } from './replica-group.ts';
import type { Write } from './write-log.ts';

/** The file in which a node keeps its place in the cluster. */
export const CLUSTER_FILE = 'nodes.conf';

/** A node of a cluster, on either clock. */
export interface ShardMember<N> extends Member<N> {
  /** @internal Its part in the cluster. */
  readonly member: ClusterNode;
  /** @internal The names of all nodes: what they send is no request of a client. */
  fellows: readonly string[];
}

/** Where the nodes live: their links, and the record of what happens. */
export interface Surroundings<L extends LaneControls> {
  readonly network: Lanes<L>;
  /** Throws when the nodes are closed. */
  checkOpen(): void;
  /** Records what happened to a party. */
  note(who: string, what: string, detail: string): void;
}

/** How many nodes a cluster has. */
interface Size {
  readonly primaries: number;
  readonly replicas: number;
}

/** A node's part in the cluster. */
export function memberOf({ name, server }: { readonly name: string; readonly server: Server }): ClusterNode {
  if (server.cluster instanceof ClusterNode) return server.cluster;
  throw new Error(`${name} is not a cluster node`);
}

/** Lets a new process talk to the other nodes, with what the disk still has. @param note records an event */
export function enterCluster(member: ClusterNode, note: (type: string, text: string) => void): void {
  const { cluster } = member;
  const tell = ({ type, text }: ClusterEvent): void => note(type, text);
  cluster.onEvent = tell;
  member.enter(() => keepIn(cluster, CLUSTER_FILE));
  member.start();
}

/** One primary and its replicas: which node is the primary now, and what promotions have lost. */
export class Shard<N extends ShardMember<N>, L extends LaneControls> extends ReplicaGroup<N, L> {
  readonly #around: Surroundings<L>;

  /** @internal */
  constructor(around: Surroundings<L>, names: readonly string[], make: (name: string) => N) {
    super(names, false, make);
    this.#around = around;
    this.letSentinelsDecide();
  }

  /** The lanes between all nodes and clients, by name. */
  get network(): Lanes<L> {
    return this.#around.network;
  }

  /** The slots that it serves, as its primary sees them: `0-5460`. Empty when it serves none. */
  get slots(): string {
    const { myself, owners } = this.primary.member.cluster;
    const ranges: string[] = [];
    for (let slot = 0; slot < owners.length; slot++) {
      if (owners[slot] !== myself) continue;
      const first = slot;
      while (owners[slot + 1] === myself) slot++;
      ranges.push(first === slot ? `${first}` : `${first}-${slot}`);
    }
    return ranges.join(', ');
  }

  /** @internal */
  protected checkOpen(): void {
    this.#around.checkOpen();
  }

  /** @internal */
  protected override noteLost(old: N, lost: readonly Write[]): void {
    for (const { client = '-', command } of lost) {
      this.#around.note(old.name, 'lost', `${client} ${command.join(' ')}`);
    }
  }

  /**
   * CLUSTER FAILOVER TAKEOVER: a replica becomes the primary at once, without votes, and the other nodes follow when they
   * hear of it. What that loses is in `lost` and `failovers`. Throws TypeError for a node that cannot take over, RangeError for
   * an unknown name.
   */
  override promote(name: string): void {
    this.checkOpen();
    const node = this.node(name);
    if (!this.replicas.includes(node) || !node.up || node.paused) {
      throw badOption('promote', name, 'a replica of the shard that is up and not paused');
    }
    node.promote();
  }

  /** @internal A cluster's nodes follow a new primary by themselves. */
  demote(name: string): never {
    throw badOption(
      'demote',
      name,
      'no cluster node (a former primary follows when it hears of the new one)',
    );
  }
}

/** The nodes of a cluster in shards, on either clock. */
export abstract class AnyCluster<N extends ShardMember<N>, L extends LaneControls> {
  /** Each primary with its replicas: their roles now, their links, and what promotions have lost. */
  readonly shards: readonly Shard<N, L>[];
  /** All nodes, node-1 and so on, those that began as primaries first. */
  readonly nodes: readonly N[];
  readonly #around: Surroundings<L>;

  /** @internal @param make makes a node; `index` counts from 0 */
  constructor(size: Size, around: Surroundings<L>, make: (name: string, index: number) => N) {
    const { primaries, replicas } = size;
    const names = Array.from({ length: primaries * (replicas + 1) }, (_, i) => `node-${i + 1}`);
    const isOf = (shard: number) => (_: string, index: number) => index % primaries === shard;
    this.#around = around;
    this.shards = Array.from(
      { length: primaries },
      (_, shard) => new Shard(around, names.filter(isOf(shard)), (name) => make(name, names.indexOf(name))),
    );
    const all = this.shards.flatMap((shard) => shard.nodes);
    this.nodes = names.flatMap((name) => all.find((node) => node.name === name) ?? []);
    for (const node of this.nodes) node.fellows = names;
  }

  /** @internal Gives all nodes the same view, and waits until they know each other and the replicas are in sync. */
  protected settle(wait: () => Promise<void>): Promise<void> {
    const members = this.nodes.map(({ member }) => member);
    return formCluster(members, fromText('127.0.0.1'), this.shards.length, wait);
  }

  /** The primaries now, one for each shard. */
  get primaries(): readonly N[] {
    return this.shards.map(({ primary }) => primary);
  }

  /** The shard that serves a key, as its own primary sees it. Throws RangeError when there is none. */
  shardOf(key: string): Shard<N, L> {
    const slot = slotOf(fromText(key));
    const found = this.shards.find(({ primary }) => {
      const { owners, myself } = primary.member.cluster;
      return owners[slot] === myself;
    });
    if (found === undefined) throw new RangeError(`no primary of the cluster serves slot ${slot}`);
    return found;
  }

  /** The node with this name. Throws RangeError when there is none. */
  node(name: string): N {
    const found = this.nodes.find((node) => node.name === name);
    if (found !== undefined) return found;
    throw new RangeError(
      `no node is called '${name}'; there are ${this.nodes.map((each) => each.name).join(', ')}`,
    );
  }

  /** Where clients begin: for ioredis `new Cluster(cluster.addresses)`. */
  get addresses(): { readonly host: string; readonly port: number }[] {
    return this.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** The acknowledged writes that promotions and restarts have lost so far. */
  get lost(): readonly Write[] {
    return this.shards.flatMap((shard) => shard.lost);
  }

  /**
   * Waits until the condition holds, at most `maxMs` milliseconds of the cluster's clock (default 120,000). Rejects when that
   * takes longer.
   */
  async when(condition: () => boolean, maxMs = 120_000): Promise<void> {
    this.#around.checkOpen();
    checkMillis('when', maxMs);
    await this.until(condition, maxMs);
  }

  /** @internal */
  protected abstract until(condition: () => boolean, maxMs: number): Promise<void>;

  /** What has happened so far, as the data of a timeline. Each clock says under which conditions. */
  abstract timelineData(notes?: { readonly title?: string }): Timeline;

  /**
   * Writes a timeline of what has happened so far: a self-contained page for a browser (a name that ends in `.html`), or its
   * data (`.json`). Rejects with TypeError for another name, and as `timelineData` throws.
   */
  async timeline(file: string, notes: { readonly title?: string } = {}): Promise<void> {
    await (await import('../timeline/write.ts')).writeTimeline(file, [this.timelineData(notes)]);
  }

  /** Ends the nodes, and with them everything that the lab has opened for the cluster. */
  abstract close(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
