/** Channels, patterns and shard channels: who listens, and delivery in subscription order. */
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

export class PubSub {
  readonly channels = new Map<Bytes, Set<Client>>();
  readonly patterns = new Map<Bytes, Set<Client>>();
  readonly shardChannels = new Map<Bytes, Set<Client>>();

  /** Subscribes and confirms, one message per name. */
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

  /** Unsubscribes from the names, or from all, and confirms each; with nothing to leave, one message says so. */
  unsubscribe(client: Client, kind: SubscriptionKind, names: readonly Bytes[]): void {
    const all = names.length > 0 ? names : [...client.subscriptions[kind]];
    if (all.length === 0) confirm(client, LEFT[kind], null, count(client, kind));
    for (const name of all) {
      this.#leave(client, kind, name);
      confirm(client, LEFT[kind], name, count(client, kind));
    }
    markSubscriber(client);
  }

  /** Ends all subscriptions without a word: the client has gone or was reset. */
  forget(client: Client): void {
    if (client.subscriptions.total === 0) return;
    for (const kind of ['channels', 'patterns', 'shardChannels'] as const) {
      for (const name of [...client.subscriptions[kind]]) this.#leave(client, kind, name);
    }
    markSubscriber(client);
  }

  /** Delivers to the channel's subscribers, then to patterns; answers how many got it. */
  publish(channel: Bytes, text: Bytes): number {
    let receivers = 0;
    // A channel's name that nobody looks for need not be hashed: most releases of locks are heard by nobody.
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

  /** Delivers to the shard channel's subscribers; answers how many got it. */
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

/** A confirmation is a push: it reaches even a client that has turned replies off. */
function confirm(client: Client, event: Bytes, name: Reply, subscriptions: number): void {
  client.output.write(encodeReply(new PushReply([event, name, subscriptions]), client.protocol));
}

/** Notes whether RESP2's restriction to a few commands holds; to be called again when the protocol changes. */
export function markSubscriber(client: Client): void {
  client.mark(RESP2_SUBSCRIBER, client.protocol === 2 && client.subscriptions.total > 0);
}
