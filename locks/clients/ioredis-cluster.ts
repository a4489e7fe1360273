/** Sharded channels on an ioredis cluster: one connection for messages per node, each told only of its own slots. */

import { slotOf } from '../keys.ts';
import type { Subscriber, SubscriberEvents } from './client.ts';

/** What is used of a cluster's node for messages. */
export interface NodeLike {
  readonly options: { host?: string | undefined; port?: number | undefined };
  duplicate(options: object): NodeLike;
  on(event: string, listener: (...args: string[]) => void): unknown;
  ssubscribe(...channels: string[]): Promise<unknown>;
  sunsubscribe(...channels: string[]): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
}

/** What is used of the cluster to find a slot's node. */
export interface ClusterLike {
  /** For each slot the nodes that have it as host:port, the primary first. */
  readonly slots: string[][];
  call(command: string, ...args: string[]): Promise<unknown>;
  nodes(role?: 'master'): NodeLike[];
}

interface Node {
  readonly redis: NodeLike;
  readonly channels: Set<string>;
}

export class ShardedSubscriber implements Subscriber {
  readonly #cluster: ClusterLike;
  readonly #events: SubscriberEvents;
  readonly #nodes = new Map<string, Node>();
  #closed = false;

  constructor(cluster: ClusterLike, events: SubscriberEvents) {
    this.#cluster = cluster;
    this.#events = events;
  }

  async subscribe(channel: string): Promise<void> {
    // The key of the channel's slot, asked of the cluster: whoever has it now answers, and a move becomes known.
    await this.#cluster.call('EXISTS', channel);
    const node = this.#nodeOf(channel);
    node.channels.add(channel);
    await node.redis.ssubscribe(channel);
  }

  async unsubscribe(channel: string): Promise<void> {
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
    redis.on('error', () => {}); // The commands' own rejections tell; an unheard 'error' would end the process.
    redis.on('ready', () => {
      if (before) void this.#move(key, redis, channels);
      before = true;
    });
    redis.on('end', () => void this.#move(key, redis, channels));
  }

  /** The node was away, or its slots went elsewhere: its channels are subscribed where they belong now. */
  async #move(key: string, redis: NodeLike, channels: Set<string>): Promise<void> {
    if (this.#closed) return;
    redis.disconnect();
    if (this.#nodes.get(key)?.redis === redis) this.#nodes.delete(key);
    const all = [...channels];
    channels.clear();
    await Promise.allSettled(all.map((channel) => this.subscribe(channel)));
    this.#events.reconnected();
  }
}
