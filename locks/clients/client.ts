/** The interface to a Redis client that the locks need; `ioredis.ts` and `node-redis.ts` implement it for real clients. */

/** One command with its arguments. */
export type RedisCommand = readonly string[];

/** The outcome of one of several commands sent together. */
export type Settled = PromiseSettledResult<unknown>;

/**
 * A client of one Redis: a server, a primary with replicas behind Sentinel, or a cluster.
 *
 * An error reply of the server must reject with an Error whose `name` is `ReplyError`. Any other rejection means that it is
 * unknown whether the command was executed.
 */
export interface LockClient {
  /** Whether the client is for a cluster: each script then uses keys of one slot only. */
  readonly cluster: boolean;
  /** Whether messages are sent by SPUBLISH, to the node of the channel's slot only. */
  readonly sharded: boolean;
  /** Sends one command. Rejects with the server's error, or when the connection ends before the reply. */
  send(command: RedisCommand): Promise<unknown>;
  /**
   * Sends commands back to back on one connection; on a cluster, that of the first command's keys. When the connection
   * breaks, the commands without a reply must reject, or all be sent again together, but never a part of them: WAIT covers
   * the commands before it only on the same connection. When a cluster replies with MOVED, the client must find the slot's new
   * node, because the same commands are sent again soon.
   */
  sendAll(commands: readonly RedisCommand[]): Promise<Settled[]>;
  /** Whether an error means that this client cannot send commands any more: it was closed, or is in subscriber mode. */
  unusable?(error: unknown): boolean;
  /** Opens a separate connection for Pub/Sub. */
  openSubscriber(events: SubscriberEvents): Subscriber;
}

export interface SubscriberEvents {
  /** A message has arrived on a channel. */
  message(channel: string, text: string): void;
  /** The connection was lost, is back, and all channels are subscribed again. Messages may have been missed. */
  reconnected(): void;
}

/** A Pub/Sub connection. */
export interface Subscriber {
  /** Resolves when the server has confirmed the subscription. */
  subscribe(channel: string): Promise<void>;
  /** Ends a subscription. */
  unsubscribe(channel: string): Promise<void>;
  /** Closes the connection. */
  close(): void;
}

/** A reply from another connection than the reply before it, so that it does not cover that connection's writes. */
export class OtherConnection extends Error {
  override readonly name = 'OtherConnection';

  constructor() {
    super('the connection was lost between two commands that belong together');
  }
}

/**
 * The outcomes of commands sent together. Those whose reply came from another connection than the first one's are rejected
 * with OtherConnection.
 * @param connections the connection that each reply came from
 */
export function settledOn(connections: readonly unknown[], settled: readonly Settled[]): Settled[] {
  const same = (index: number): boolean => connections[index] === connections[0];
  return settled.map((each, index) =>
    same(index) ? each : { status: 'rejected', reason: new OtherConnection() },
  );
}

/** Whether an error is a reply of the server, which makes the outcome certain. */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
