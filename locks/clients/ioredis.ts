/** The locks' view of an ioredis client (5 or 6), single, behind Sentinel, or a cluster. */
import {
  type LockClient,
  type RedisCommand,
  type Settled,
  type Subscriber,
  type SubscriberEvents,
  settledOn,
} from './client.ts';
import { type ClusterLike, ShardedSubscriber } from './ioredis-cluster.ts';

/** What is used of ioredis' Redis and Cluster. */
export interface IoredisLike {
  call(...command: string[]): Promise<unknown>;
  on(event: string, listener: (...args: string[]) => void): unknown;
  duplicate(...args: never[]): IoredisLike;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
  pipeline(commands?: unknown[][]): { exec(): Promise<[Error | null, unknown][] | null> };
  /** The socket of the moment; a cluster has none of its own. */
  readonly stream?: unknown;
  readonly isCluster?: boolean;
  readonly status?: string;
  readonly options?: { readonly keyPrefix?: string | undefined };
}

/**
 * Wraps an ioredis client. The client stays the caller's: it is never closed here, only its duplicates are.
 * @param sharded on a cluster (Redis 7): whether each message goes to the node of its slot only, or to all nodes
 */
export function fromIoredis(redis: IoredisLike, { sharded = true } = {}): LockClient {
  const cluster = redis.isCluster === true;
  const send = (command: RedisCommand): Promise<unknown> => redis.call(...command);
  return {
    cluster,
    sharded: cluster && sharded,
    send,
    sendAll: (commands) => sendPipeline(redis, commands),
    unusable: (error) =>
      error instanceof Error &&
      (error.message.startsWith('Connection in subscriber mode') ||
        (error.message === 'Connection is closed.' && redis.status === 'end')),
    openSubscriber: (events) => openSubscriber(redis, events, cluster && sharded),
  };
}

/** ioredis puts its prefix before the keys of scripts, channels among them, but not before those that are subscribed. */
function openSubscriber(redis: IoredisLike, events: SubscriberEvents, sharded: boolean): Subscriber {
  const open = (told: SubscriberEvents): Subscriber =>
    sharded
      ? new ShardedSubscriber(redis as IoredisLike & ClusterLike, told)
      : new IoredisSubscriber(redis, told);
  const prefix = redis.options?.keyPrefix ?? '';
  if (prefix === '') return open(events);
  const inner = open({
    message: (channel, text) => events.message(channel.slice(prefix.length), text),
    reconnected: () => events.reconnected(),
  });
  return {
    subscribe: (channel) => inner.subscribe(prefix + channel),
    unsubscribe: (channel) => inner.unsubscribe(prefix + channel),
    close: () => inner.close(),
  };
}

/**
 * A pipeline: it leaves in one write, keeps commands without a key (WAIT) on the connection of those with keys, and of one
 * that was answered in part ioredis sends nothing again, while it sends single commands again one by one. That the
 * replies came from one socket is checked besides.
 */
async function sendPipeline(redis: IoredisLike, commands: readonly RedisCommand[]): Promise<Settled[]> {
  const heardOn: unknown[] = [];
  const calls = commands.map((command, index) => [
    'call',
    ...command,
    () => {
      heardOn[index] = redis.stream;
    },
  ]);
  const replies = (await redis.pipeline(calls).exec()) ?? [];
  const settled = replies.map(
    ([error, value]): Settled =>
      error ? { status: 'rejected', reason: error } : { status: 'fulfilled', value },
  );
  return settledOn(heardOn, settled);
}

class IoredisSubscriber implements Subscriber {
  readonly #redis: IoredisLike;
  readonly #channels = new Set<string>();
  #connectedBefore = false;

  constructor(source: IoredisLike, events: SubscriberEvents) {
    // Resubscribing is done here and not by ioredis: a waiter may only look again once the server has confirmed.
    const options = {
      autoResubscribe: false,
      lazyConnect: false,
      maxRetriesPerRequest: null,
      enableOfflineQueue: true, // Waiting for the connection is what the subscriptions are there for.
    };
    this.#redis = source.isCluster
      ? (source.duplicate as (nodes: never[], options: object) => IoredisLike).call(source, [], {})
      : (source.duplicate as (options: object) => IoredisLike).call(source, options);
    this.#redis.on('message', (channel: string, text: string) => events.message(channel, text));
    this.#redis.on('error', () => {}); // The commands' own rejections tell; an unheard 'error' would end the process.
    this.#redis.on('ready', () => {
      if (!this.#connectedBefore) this.#connectedBefore = true;
      else void this.#resubscribe(events);
    });
  }

  async #resubscribe(events: SubscriberEvents): Promise<void> {
    try {
      if (this.#channels.size > 0) await this.#redis.subscribe(...this.#channels);
    } catch {
      return; // The connection broke again; the next 'ready' tries again.
    }
    events.reconnected();
  }

  async subscribe(channel: string): Promise<void> {
    this.#channels.add(channel);
    await this.#redis.subscribe(channel);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#channels.delete(channel);
    await this.#redis.unsubscribe(channel);
  }

  close(): void {
    this.#redis.disconnect();
  }
}
