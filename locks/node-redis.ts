/** The locks' view of a node-redis client (the `redis` package, 5 or 6). */
import type { LockClient, Subscriber, SubscriberEvents } from './client.ts';

/** What is used of a node-redis client. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  sendCommand(args: string[]): Promise<unknown>;
  duplicate(): NodeRedisLike;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (...args: never[]) => void): unknown;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}

/** Wraps a connected node-redis client. The client stays the caller's: it is never closed here. */
export function fromNodeRedis(redis: NodeRedisLike): LockClient {
  const send = (command: readonly string[]): Promise<unknown> =>
    redis.sendCommand([...command]).catch((error: unknown) => {
      throw asReplyError(error);
    });
  return {
    cluster: false,
    send,
    sendAll: (commands) => Promise.allSettled(commands.map(send)),
    openSubscriber: (events) => new NodeRedisSubscriber(redis, events),
  };
}

/** node-redis tells the server's answers apart by class (ErrorReply and what extends it), not by name. */
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
  #readyBefore = false;
  #closed = false;

  constructor(source: NodeRedisLike, events: SubscriberEvents) {
    this.#redis = source.duplicate();
    this.#events = events;
    this.#redis.on('error', () => {}); // The commands' own rejections tell; an unheard 'error' would end the process.
    this.#redis.on('ready', () => {
      // node-redis has subscribed everything again before it says 'ready'.
      if (this.#readyBefore) events.reconnected();
      this.#readyBefore = true;
    });
    this.#connected = this.#redis.connect();
    this.#connected.catch(() => {});
  }

  async subscribe(channel: string): Promise<void> {
    await this.#connected;
    await this.#redis.subscribe(channel, (message) => this.#events.message(channel, message));
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#connected;
    if (!this.#closed) await this.#redis.unsubscribe(channel);
  }

  close(): void {
    this.#closed = true;
    this.#connected.then(
      () => this.#redis.destroy(),
      () => {},
    );
  }
}
