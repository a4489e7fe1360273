/** The LockClient of a node-redis client (the `redis` package, 5 or 6). */
import {
  type LockClient,
  type RedisCommand,
  type Settled,
  type Subscriber,
  type SubscriberEvents,
  settledOn,
} from './client.ts';

/** The parts of a node-redis client that the locks use. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  sendCommand(args: string[], options?: { chainId?: symbol }): Promise<unknown>;
  duplicate(): NodeRedisLike;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (...args: string[]) => void): unknown;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}

/** Makes a LockClient of a connected node-redis client. The caller keeps ownership: it is never closed here. */
export function fromNodeRedis(redis: NodeRedisLike): LockClient {
  const send = (command: RedisCommand): Promise<unknown> => redis.sendCommand([...command]).catch(raise);
  return {
    cluster: false,
    sharded: false,
    send,
    sendAll: (commands) => sendChain(redis, commands),
    unusable: () => !redis.isOpen,
    openSubscriber: (events) => new NodeRedisSubscriber(redis, events),
  };
}

/** How often each client has connected since it was first used here. */
const connections = new WeakMap<NodeRedisLike, { count: number }>();

function connectionsOf(redis: NodeRedisLike): { count: number } {
  const known = connections.get(redis);
  if (known) return known;
  const counter = { count: 0 };
  connections.set(redis, counter);
  redis.on('connect', () => counter.count++);
  return counter;
}

/**
 * Sends a chain, as node-redis' pipelines do: when the connection is lost, no part of it is kept for the next connection, as
 * an unwritten single command would be. The connections of the replies are checked as well.
 */
async function sendChain(redis: NodeRedisLike, commands: readonly RedisCommand[]): Promise<Settled[]> {
  const connection = connectionsOf(redis);
  const chainId = Symbol('lostlock');
  const heardOn: unknown[] = [];
  const sent = commands.map(async (command, index) => {
    try {
      return await redis.sendCommand([...command], { chainId });
    } catch (error) {
      return raise(error);
    } finally {
      heardOn[index] = connection.count;
    }
  });
  return settledOn(heardOn, await Promise.allSettled(sent));
}

function raise(error: unknown): never {
  throw asReplyError(error);
}

/** node-redis marks error replies by class (ErrorReply and its subclasses), not by name. */
function asReplyError(error: unknown): unknown {
  for (let type = Object.getPrototypeOf(error); type; type = Object.getPrototypeOf(type)) {
    if (type.constructor?.name === 'ErrorReply') {
      const reply = new Error((error as Error).message, { cause: error });
      reply.name = 'ReplyError';
      return reply;
    }
  }
  return error;
}

class NodeRedisSubscriber implements Subscriber {
  readonly #redis: NodeRedisLike;
  readonly #events: SubscriberEvents;
  readonly #connected: Promise<unknown>;
  readonly #turns = new Map<string, Promise<unknown>>();
  #readyBefore = false;
  #closed = false;

  constructor(source: NodeRedisLike, events: SubscriberEvents) {
    this.#redis = source.duplicate();
    this.#events = events;
    this.#redis.on('error', () => {}); // Commands reject by themselves; an 'error' without a listener would end the process.
    this.#redis.on('ready', () => {
      // node-redis has subscribed all channels again when it emits 'ready'.
      if (this.#readyBefore) events.reconnected();
      this.#readyBefore = true;
    });
    this.#connected = this.#redis.connect();
    this.#connected.catch(() => {});
  }

  subscribe(channel: string): Promise<void> {
    const listener = (message: string): void => this.#events.message(channel, message);
    return this.#inTurn(channel, () => this.#redis.subscribe(channel, listener));
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#inTurn(channel, async () => {
      if (!this.#closed) await this.#redis.unsubscribe(channel);
    });
  }

  /** One change at a time: node-redis loses a subscription made while its UNSUBSCRIBE is under way. */
  async #inTurn(channel: string, change: () => Promise<unknown>): Promise<void> {
    const before = this.#turns.get(channel) ?? this.#connected;
    const turn = before.then(change, change);
    this.#turns.set(channel, turn);
    try {
      await turn;
    } finally {
      if (this.#turns.get(channel) === turn) this.#turns.delete(channel);
    }
  }

  close(): void {
    this.#closed = true;
    this.#connected.then(
      () => this.#redis.destroy(),
      () => {},
    );
  }
}
