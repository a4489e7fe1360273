/** Pub/sub: the subscribers of channels, patterns and shard channels, and delivery in subscription order. */
import type { Bytes } from '../../protocol/bytes.ts';
import { encodeReply } from '../../protocol/encode.ts';
import { globMatch } from '../../protocol/glob.ts';
import { PushReply, type Reply } from '../../protocol/reply.ts';
import { type Client, RESP2_SUBSCRIBER } from './client.ts';
import { PushMessage } from './message.ts';
import type { SubscriptionKind } from './subscriptions.ts';

const JOINED: Record<SubscriptionKind, Bytes> = {
  channels: 'subscribe',
  patterns: 'psubscribe',
  shardChannels: 'ssubscribe',
};
const LEFT: Record<SubscriptionKind, Bytes> = {
  channels: 'unsubscribe',
  patterns: 'punsubscribe',
  shardChannels: 'sunsubscribe',
};

/** The subscriptions of all clients (https://redis.io/docs/latest/develop/interact/pubsub/). */
export class PubSub {
  readonly channels = new Map<Bytes, Set<Client>>();
  readonly patterns = new Map<Bytes, Set<Client>>();
  readonly shardChannels = new Map<Bytes, Set<Client>>();

  /** Subscribes a client and confirms each name with one message. */
  subscribe(client: Client, kind: SubscriptionKind, names: readonly Bytes[]): void {
    for (const name of names) {
      if (!client.subscriptions[kind].has(name)) {
        client.subscriptions[kind].add(name);
        let listeners = this[kind].get(name);
        if (listeners === undefined) this[kind].set(name, (listeners = new Set()));
        listeners.add(client);
      }
      confirm(client, JOINED[kind], name, count(client, kind));
    }
    markSubscriber(client);
  }

  /**
   * Unsubscribes from the names, or from all names of the kind, and confirms each. If there are none, it sends one
   * confirmation without a name.
   */
  unsubscribe(client: Client, kind: SubscriptionKind, names: readonly Bytes[]): void {
    const all = names.length > 0 ? names : [...client.subscriptions[kind]];
    if (all.length === 0) confirm(client, LEFT[kind], null, count(client, kind));
    for (const name of all) {
      this.#leave(client, kind, name);
      confirm(client, LEFT[kind], name, count(client, kind));
    }
    markSubscriber(client);
  }

  /** Ends all subscriptions of a client without confirmations: its connection is closed or was reset. */
  forget(client: Client): void {
    if (client.subscriptions.total === 0) return;
    for (const kind of ['channels', 'patterns', 'shardChannels'] as const) {
      for (const name of [...client.subscriptions[kind]]) this.#leave(client, kind, name);
    }
    markSubscriber(client);
  }

  /** Delivers a message to the channel's subscribers, then to matching patterns. Returns the number of deliveries. */
  publish(channel: Bytes, text: Bytes): number {
    let receivers = 0;
    // If there are no channels, the name need not be hashed: most lock releases have no subscriber.
    const listeners = this.channels.size === 0 ? undefined : this.channels.get(channel);
    if (listeners !== undefined) {
      receivers = listeners.size;
      deliver(listeners, new PushMessage('message', channel, text));
    }
    if (this.patterns.size === 0) return receivers;
    for (const [pattern, clients] of this.patterns) {
      if (!globMatch(pattern, channel)) continue;
      receivers += clients.size;
      deliver(clients, new PushMessage('pmessage', pattern, channel, text));
    }
    return receivers;
  }

  /** Delivers a message to the shard channel's subscribers. Returns the number of deliveries. */
  publishShard(channel: Bytes, text: Bytes): number {
    const listeners = this.shardChannels.get(channel);
    if (listeners === undefined) return 0;
    deliver(listeners, new PushMessage('smessage', channel, text));
    return listeners.size;
  }

  #leave(client: Client, kind: SubscriptionKind, name: Bytes): void {
    if (!client.subscriptions[kind].delete(name)) return;
    const listeners = this[kind].get(name);
    listeners?.delete(client);
    if (listeners?.size === 0) this[kind].delete(name);
  }
}

function deliver(clients: ReadonlySet<Client>, message: PushMessage): void {
  for (const client of clients) client.output.push(message);
}

function count(client: Client, kind: SubscriptionKind): number {
  return kind === 'shardChannels' ? client.subscriptions.shardChannels.size : client.subscriptions.count;
}

/** Sends a confirmation. It is a push, so that it reaches even a client that has turned replies off. */
function confirm(client: Client, event: Bytes, name: Reply, subscriptions: number): void {
  if (client.disconnectsReplica()) return;
  client.output.write(encodeReply(new PushReply([event, name, subscriptions]), client.protocol));
}

/** Updates whether RESP2's restriction to a few commands applies. Must be called again when the protocol changes. */
export function markSubscriber(client: Client): void {
  client.mark(RESP2_SUBSCRIBER, client.protocol === 2 && client.subscriptions.total > 0);
}
