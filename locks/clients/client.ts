/** The narrow face of a Redis client that the locks need; `ioredis.ts` and `node-redis.ts` put it on real clients. */

/** One command with its arguments. */
export type RedisCommand = readonly string[];

/** How one of several commands sent together ended. */
export type Settled = PromiseSettledResult<unknown>;

/**
 * A client of one Redis: a server, a pair behind Sentinel, or a cluster.
 *
 * An error that the server answered must reject with an Error whose `name` is `ReplyError`. Any other rejection means
 * that nobody knows whether the command was executed.
 */
export interface LockClient {
  /** Whether keys live in slots: scripts are then kept to one slot each. */
  readonly cluster: boolean;
  /** Whether messages go by SPUBLISH to the node of the channel's slot. */
  readonly sharded: boolean;
  send(command: RedisCommand): Promise<unknown>;
  /**
   * Sends commands back to back on one connection (a cluster: that of the first command's keys). When that connection
   * breaks, whatever it has not answered rejects, or all of them are sent again together: never the rest alone. WAIT says
   * something about the commands before it only when it was answered by the connection that answered those.
   */
  sendAll(commands: readonly RedisCommand[]): Promise<Settled[]>;
  /** Whether an error means that this client will not send anything any more: it was closed, or only listens. */
  unusable?(error: unknown): boolean;
  /** A connection of its own for messages. */
  openSubscriber(events: SubscriberEvents): Subscriber;
}

export interface SubscriberEvents {
  message(channel: string, text: string): void;
  /** The connection was lost and is back; everything is subscribed again. Messages may have been missed. */
  reconnected(): void;
}

export interface Subscriber {
  /** Resolves when the server has confirmed. */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  close(): void;
}

/** A reply that came from another connection than the one before it: it says nothing about that one's writes. */
export class OtherConnection extends Error {
  override readonly name = 'OtherConnection';

  constructor() {
    super('the connection was lost between two commands that belong together');
  }
}

/**
 * What several commands sent together came to, given the connection that answered each: from the first that another one
 * has answered, nothing is known.
 */
export function settledOn(connections: readonly unknown[], settled: readonly Settled[]): Settled[] {
  const same = (index: number): boolean => connections[index] === connections[0];
  return settled.map((each, index) =>
    same(index) ? each : { status: 'rejected', reason: new OtherConnection() },
  );
}

/** Whether an error is the server's answer, and so a certain outcome. */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
