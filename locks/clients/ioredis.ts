/** The LockClient of an ioredis client (5 or 6): single, behind Sentinel, or a cluster. */
import {
  type LockClient,
  type RedisCommand,
  type Settled,
  type Subscriber,
  type SubscriberEvents,
  settledOn,
} from './client.ts';
import { type ClusterLike, ShardedSubscriber } from './ioredis-cluster.ts';

/** The parts of ioredis' Redis and Cluster that the locks use. */
export interface IoredisLike {
  call(...command: string[]): Promise<unknown>;
  on(event: string, listener: (...args: string[]) => void): unknown;
  duplicate(...args: never[]): IoredisLike;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
  pipeline(commands?: unknown[][]): { exec(): Promise<[Error | null, unknown][] | null> };
  /** The current socket; a cluster has none. */
  readonly stream?: unknown;
  readonly isCluster?: boolean;
  readonly status?: string;
  readonly options?: { readonly keyPrefix?: string | undefined };
}

/**
 * Makes a LockClient of an ioredis client. The caller keeps ownership: only duplicates of the client are ever closed.
 * @param redis a Redis or Cluster
 * @param sharded on a cluster, whether to use sharded Pub/Sub (Redis 7) instead of messages to all nodes. Default true
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

/** ioredis adds `keyPrefix` to the keys of scripts, which include channels, but not to the channels of SUBSCRIBE. */
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
 * Sends a pipeline. It is one write, keeps commands without a key (WAIT) on the connection of those with keys, and is not
 * sent again in part after a lost connection, as single commands are. The sockets of the replies are checked as well.
 * ioredis follows MOVED only if every command of a pipeline is refused with it, and WAIT is not: a single command for the
 * slot makes it learn where the slot is.
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
  if (redis.isCluster && settled.some(hasMoved))
    await redis.call('EXISTS', keyOf(commands[0]!)).catch(() => {});
  return settledOn(heardOn, settled);
}

const hasMoved = (one: Settled): boolean =>
  one.status === 'rejected' && (one.reason as Error | undefined)?.message?.startsWith('MOVED ') === true;

/** The first key of a script (`evalsha sha count key...`), or of a command whose first argument is its key. */
const keyOf = (command: RedisCommand): string => command[/^eval/i.test(command[0]!) ? 3 : 1]!;

class IoredisSubscriber implements Subscriber {
  readonly #redis: IoredisLike;
  readonly #channels = new Set<string>();
  #connectedBefore = false;

  constructor(source: IoredisLike, events: SubscriberEvents) {
    // We resubscribe ourselves: a waiter may check the lock only after the server has confirmed the subscription.
    const options = {
      autoResubscribe: false,
      lazyConnect: false,
      maxRetriesPerRequest: null,
      enableOfflineQueue: true, // Subscriptions wait for the connection.
    };
    this.#redis = source.isCluster
      ? (source.duplicate as (nodes: never[], options: object) => IoredisLike).call(source, [], {})
      : (source.duplicate as (options: object) => IoredisLike).call(source, options);
    this.#redis.on('message', (channel: string, text: string) => events.message(channel, text));
    this.#redis.on('error', () => {}); // Commands reject by themselves; an 'error' without a listener would end the process.
    this.#redis.on('ready', () => {
      if (!this.#connectedBefore) this.#connectedBefore = true;
      else void this.#resubscribe(events);
    });
  }

  async #resubscribe(events: SubscriberEvents): Promise<void> {
    try {
      if (this.#channels.size > 0) await this.#redis.subscribe(...this.#channels);
    } catch {
      return; // The connection was lost again; the next 'ready' tries again.
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
