/** The channels, patterns and shard channels that one client is subscribed to. */
import type { Bytes } from '../../protocol/bytes.ts';

/** What a client can subscribe to, as the fields of `Subscriptions` are named. */
export type SubscriptionKind = 'channels' | 'patterns' | 'shardChannels';

/** One client's subscriptions, each kind in the order in which they were made. */
export class Subscriptions {
  readonly channels = new Set<Bytes>();
  readonly patterns = new Set<Bytes>();
  readonly shardChannels = new Set<Bytes>();

  /** Channels and patterns, as SUBSCRIBE's reply counts them; shard channels are counted apart. */
  get count(): number {
    return this.channels.size + this.patterns.size;
  }

  /** Subscriptions of all kinds. */
  get total(): number {
    return this.count + this.shardChannels.size;
  }
}
