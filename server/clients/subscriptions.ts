/** The channels, patterns and shard channels that one client is subscribed to. */
import type { Bytes } from '../../protocol/bytes.ts';

/** The kinds of subscription, named like the fields of `Subscriptions`. */
export type SubscriptionKind = 'channels' | 'patterns' | 'shardChannels';

/** One client's subscriptions, each kind in subscription order. */
export class Subscriptions {
  readonly channels = new Set<Bytes>();
  readonly patterns = new Set<Bytes>();
  readonly shardChannels = new Set<Bytes>();

  /** The number of channels and patterns, as SUBSCRIBE's reply counts them; shard channels are counted separately. */
  get count(): number {
    return this.channels.size + this.patterns.size;
  }

  /** The number of subscriptions of all kinds. */
  get total(): number {
    return this.count + this.shardChannels.size;
  }
}
