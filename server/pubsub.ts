/** Channels, patterns and shard channels: who listens, and delivery in subscription order. */
import type { Bytes } from '../protocol/bytes.ts';
import { globMatch } from '../protocol/glob.ts';
import type { Reply } from '../protocol/reply.ts';
import { type Client, push, RESP2_SUBSCRIBER } from './client.ts';

type Kind = 'channels' | 'patterns' | 'shardChannels';
const NOUN: Record<Kind, string> = {
  channels: 'subscribe',
  patterns: 'psubscribe',
  shardChannels: 'ssubscribe',
};

export class PubSub {
  readonly channels = new Map<Bytes, Set<Client>>();
  readonly patterns = new Map<Bytes, Set<Client>>();
  readonly shardChannels = new Map<Bytes, Set<Client>>();

  /** Subscribes and confirms, one message per name. */
  subscribe(client: Client, kind: Kind, names: readonly Bytes[]): void {
    for (const name of names) {
      if (!client[kind].has(name)) {
        client[kind].add(name);
        let listeners = this[kind].get(name);
        if (listeners === undefined) this[kind].set(name, (listeners = new Set()));
        listeners.add(client);
      }
      confirm(client, NOUN[kind], name, count(client, kind));
    }
    markSubscriber(client);
  }

  /** Unsubscribes from the names, or from all, and confirms each; with nothing to leave, one message says so. */
  unsubscribe(client: Client, kind: Kind, names: readonly Bytes[]): void {
    const all = names.length > 0 ? names : [...client[kind]];
    if (all.length === 0) confirm(client, `${unNoun(kind)}`, null, count(client, kind));
    for (const name of all) {
      this.#leave(client, kind, name);
      confirm(client, unNoun(kind), name, count(client, kind));
    }
    markSubscriber(client);
  }

  /** Ends all subscriptions without a word: the client has gone or was reset. */
  forget(client: Client): void {
    for (const kind of ['channels', 'patterns', 'shardChannels'] as const) {
      for (const name of [...client[kind]]) this.#leave(client, kind, name);
    }
    markSubscriber(client);
  }

  /** Delivers to the channel's subscribers, then to patterns; answers how many got it. */
  publish(channel: Bytes, message: Bytes): number {
    let receivers = 0;
    for (const client of this.channels.get(channel) ?? []) {
      client.push(push('message', channel, message));
      receivers++;
    }
    for (const [pattern, clients] of this.patterns) {
      if (!globMatch(pattern, channel)) continue;
      for (const client of clients) {
        client.push(push('pmessage', pattern, channel, message));
        receivers++;
      }
    }
    return receivers;
  }

  /** Delivers to the shard channel's subscribers; answers how many got it. */
  publishShard(channel: Bytes, message: Bytes): number {
    const clients = this.shardChannels.get(channel);
    for (const client of clients ?? []) client.push(push('smessage', channel, message));
    return clients?.size ?? 0;
  }

  #leave(client: Client, kind: Kind, name: Bytes): void {
    if (!client[kind].delete(name)) return;
    const listeners = this[kind].get(name);
    listeners?.delete(client);
    if (listeners?.size === 0) this[kind].delete(name);
  }
}

function unNoun(kind: Kind): string {
  return kind === 'channels' ? 'unsubscribe' : kind === 'patterns' ? 'punsubscribe' : 'sunsubscribe';
}

function count(client: Client, kind: Kind): number {
  return kind === 'shardChannels' ? client.shardChannels.size : client.subscriptions;
}

function confirm(client: Client, event: string, name: Reply, subscriptions: number): void {
  client.reply(push(event, name, subscriptions));
}

function markSubscriber(client: Client): void {
  client.mark(
    RESP2_SUBSCRIBER,
    client.protocol === 2 && client.subscriptions + client.shardChannels.size > 0,
  );
}
