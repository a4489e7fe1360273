/** Consumer groups of a stream: what was delivered to whom and is not acknowledged yet. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { StreamId } from './id.ts';
import { type OrderedMap, orderedMap } from './ordered-map.ts';

/** An entry that was delivered and not acknowledged. */
export interface Pending {
  readonly id: StreamId;
  consumer: StreamConsumer;
  deliveredAt: Millis;
  /** Of 64 bits, as a client may set it. */
  deliveries: bigint;
}

export class StreamConsumer {
  readonly name: Bytes;
  /** When it last tried to do anything. */
  seenAt: Millis;
  /** When it was last given an entry; undefined: never. */
  activeAt: Millis | undefined;
  /** Its share of the group's pending entries. */
  readonly pending: OrderedMap<Pending> = orderedMap();

  constructor(name: Bytes, seenAt: Millis) {
    this.name = name;
    this.seenAt = seenAt;
  }
}

export class StreamGroup {
  readonly name: Bytes;
  /** The last id delivered to any consumer. */
  lastId: StreamId;
  /** How many entries of the stream's whole life were delivered, where that is known. */
  entriesRead: bigint | undefined;
  readonly pending: OrderedMap<Pending> = orderedMap();
  readonly consumers = new Map<Bytes, StreamConsumer>();

  constructor(name: Bytes, lastId: StreamId, entriesRead: bigint | undefined) {
    this.name = name;
    this.lastId = lastId;
    this.entriesRead = entriesRead;
  }

  /** Consumers by name, in the order of bytes, as Redis lists them. */
  sortedConsumers(): StreamConsumer[] {
    return sortedByName(this.consumers);
  }

  /** A new consumer; undefined when the name is taken. */
  createConsumer(name: Bytes, now: Millis): StreamConsumer | undefined {
    if (this.consumers.has(name)) return undefined;
    const consumer = new StreamConsumer(name, now);
    this.consumers.set(name, consumer);
    return consumer;
  }

  /** Forgets a consumer and its pending entries; how many those were, undefined when there is no such consumer. */
  deleteConsumer(name: Bytes): number | undefined {
    const consumer = this.consumers.get(name);
    if (consumer === undefined) return undefined;
    this.consumers.delete(name);
    for (const id of consumer.pending.keysArray()) this.pending.delete(id);
    return consumer.pending.size;
  }

  /** Notes a first delivery, of an entry that may have been pending with somebody before. */
  deliver(id: StreamId, consumer: StreamConsumer, now: Millis): Pending {
    return this.assign(id, consumer, now, 1n);
  }

  /** Makes an entry pending with a consumer, whoever had it. */
  assign(id: StreamId, consumer: StreamConsumer, deliveredAt: Millis, deliveries: bigint): Pending {
    let pending = this.pending.get(id);
    if (pending === undefined) {
      pending = { id, consumer, deliveredAt, deliveries };
      this.pending.set(id, pending);
    } else {
      if (pending.consumer !== consumer) pending.consumer.pending.delete(id);
      pending.consumer = consumer;
      pending.deliveredAt = deliveredAt;
      pending.deliveries = deliveries;
    }
    consumer.pending.set(id, pending);
    return pending;
  }

  /** Takes an entry off the pending ones; false when it was not pending. */
  acknowledge(id: StreamId): boolean {
    const pending = this.pending.get(id);
    if (pending === undefined) return false;
    this.pending.delete(id);
    pending.consumer.pending.delete(id);
    return true;
  }

  copy(): StreamGroup {
    const copy = new StreamGroup(this.name, this.lastId, this.entriesRead);
    for (const { name, seenAt, activeAt } of this.consumers.values()) {
      const made = copy.createConsumer(name, seenAt);
      if (made !== undefined) made.activeAt = activeAt;
    }
    for (const { id, consumer, deliveredAt, deliveries } of this.pending.values()) {
      copy.assign(id, copy.consumers.get(consumer.name)!, deliveredAt, deliveries);
    }
    return copy;
  }
}

/** What has a name, in the order of the names' bytes. */
export function sortedByName<T extends { readonly name: Bytes }>(named: ReadonlyMap<Bytes, T>): T[] {
  return [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
