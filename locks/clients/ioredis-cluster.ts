/** Sharded Pub/Sub on an ioredis cluster: one connection per node, which gets the messages of the node's slots. */

import { slotOf } from '../keys.ts';
import { pause } from '../timing/clock.ts';
import type { Subscriber, SubscriberEvents } from './client.ts';

/** When to subscribe again after a failure, in milliseconds. */
const AGAIN_AFTER_MS = 100;

/** The parts of a cluster node that are used for Pub/Sub. */
export interface NodeLike {
  readonly options: { host?: string | undefined; port?: number | undefined };
  duplicate(options: object): NodeLike;
  on(event: string, listener: (...args: string[]) => void): unknown;
  ssubscribe(...channels: string[]): Promise<unknown>;
  sunsubscribe(...channels: string[]): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
}

/** The parts of the cluster that are used to find the node of a slot. */
export interface ClusterLike {
  /** The nodes of each slot as host:port, the primary first. */
  readonly slots: string[][];
  call(command: string, ...args: string[]): Promise<unknown>;
  nodes(role?: 'master'): NodeLike[];
}

interface Node {
  readonly redis: NodeLike;
  readonly channels: Set<string>;
}

/** Subscribes each channel on the node that has the channel's slot. */
export class ShardedSubscriber implements Subscriber {
  readonly #cluster: ClusterLike;
  readonly #events: SubscriberEvents;
  readonly #nodes = new Map<string, Node>();
  /** The channels to subscribe, even while no node has their slots. */
  readonly #wanted = new Set<string>();
  #closed = false;

  constructor(cluster: ClusterLike, events: SubscriberEvents) {
    this.#cluster = cluster;
    this.#events = events;
  }

  subscribe(channel: string): Promise<void> {
    this.#wanted.add(channel);
    return this.#subscribe(channel);
  }

  async #subscribe(channel: string): Promise<void> {
    // A command for the channel's slot makes the cluster client learn of a slot that moved.
    await this.#cluster.call('EXISTS', channel);
    if (this.#closed || !this.#wanted.has(channel)) return;
    const node = this.#nodeOf(channel);
    node.channels.add(channel);
    await node.redis.ssubscribe(channel);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#wanted.delete(channel);
    for (const node of this.#nodes.values()) {
      if (node.channels.delete(channel)) await node.redis.sunsubscribe(channel);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { redis } of this.#nodes.values()) redis.disconnect();
    this.#nodes.clear();
  }

  #nodeOf(channel: string): Node {
    const key = this.#cluster.slots[slotOf(channel)]?.[0];
    const source = this.#cluster
      .nodes('master')
      .find(({ options }) => `${options.host}:${options.port}` === key);
    if (key === undefined || !source) throw new Error(`no node of the cluster has the channel ${channel}`);
    const known = this.#nodes.get(key);
    if (known) return known;
    const redis = source.duplicate({
      autoResubscribe: false,
      maxRetriesPerRequest: null,
      lazyConnect: false,
    });
    const node: Node = { redis, channels: new Set() };
    this.#nodes.set(key, node);
    this.#listen(key, node);
    return node;
  }

  #listen(key: string, { redis, channels }: Node): void {
    let before = false;
    redis.on('smessage', (channel: string, text: string) => this.#events.message(channel, text));
    redis.on('error', () => {}); // Commands reject by themselves; an 'error' without a listener would end the process.
    redis.on('ready', () => {
      if (before) void this.#move(key, redis, channels);
      before = true;
    });
    redis.on('end', () => void this.#move(key, redis, channels));
    // ioredis emits it for an SUNSUBSCRIBE that the node sends by itself, because the slot has left it, and for MOVED.
    redis.on('moved', () => void this.#move(key, redis, channels));
  }

  /** The node went away or lost slots: subscribes its channels again, on the nodes that have those slots now. */
  async #move(key: string, redis: NodeLike, channels: Set<string>): Promise<void> {
    if (this.#closed) return;
    redis.disconnect();
    if (this.#nodes.get(key)?.redis === redis) this.#nodes.delete(key);
    const all = [...channels];
    channels.clear();
    await this.#subscribeAgain(all);
  }

  /** Subscribes channels until each has a node again. Messages may have been missed in between. */
  async #subscribeAgain(channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return;
    const outcomes = await Promise.allSettled(channels.map((channel) => this.#subscribe(channel)));
    if (this.#closed) return;
    this.#events.reconnected();
    const failed = channels.filter((_, index) => outcomes[index]?.status === 'rejected');
    if (failed.length > 0) await pause(AGAIN_AFTER_MS, true);
    await this.#subscribeAgain(failed);
  }
}
