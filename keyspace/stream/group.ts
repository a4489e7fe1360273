/** Consumer groups of a stream: which entries were delivered to which consumer and are not acknowledged yet. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { StreamId } from './id.ts';
import { type OrderedMap, orderedMap } from './ordered-map.ts';

/** An entry that was delivered and is not acknowledged. */
export interface Pending {
  readonly id: StreamId;
  consumer: StreamConsumer;
  deliveredAt: Millis;
  /** A 64-bit number, because a client may set it. */
  deliveries: bigint;
  /** Orders entries that were delivered in the same millisecond. */
  turn: number;
}

/** A consumer of a group. */
export class StreamConsumer {
  readonly name: Bytes;
  /** When the consumer last tried to do anything, in milliseconds since the epoch. */
  seenAt: Millis;
  /** When the consumer last got an entry to acknowledge, in milliseconds since the epoch; -1 for never. */
  activeAt: Millis = -1;
  /** The consumer's part of the group's pending entries. */
  readonly pending: OrderedMap<Pending> = orderedMap();

  constructor(name: Bytes, seenAt: Millis) {
    this.name = name;
    this.seenAt = seenAt;
  }
}

/** The largest number of deliveries, which marks an entry that can never be processed. */
export const DELIVERIES_MAX = 2n ** 63n - 1n;

/** A consumer group. */
export class StreamGroup {
  readonly name: Bytes;
  /** The last id delivered to any consumer. */
  lastId: StreamId;
  /** How many entries of the stream's whole life were delivered, if known. */
  entriesRead: bigint | undefined;
  readonly pending: OrderedMap<Pending> = orderedMap();
  readonly consumers = new Map<Bytes, StreamConsumer>();
  /** Stands for the consumer of entries that were released (XNACK). It is not listed. */
  readonly nobody = new StreamConsumer('', 0);
  #turns = 0;

  constructor(name: Bytes, lastId: StreamId, entriesRead: bigint | undefined) {
    this.name = name;
    this.lastId = lastId;
    this.entriesRead = entriesRead;
  }

  /** The consumers, sorted by the bytes of their names, as Redis lists them. */
  sortedConsumers(): StreamConsumer[] {
    return sortedByName(this.consumers);
  }

  /** Creates a consumer; undefined when the name is taken. */
  createConsumer(name: Bytes, now: Millis): StreamConsumer | undefined {
    if (this.consumers.has(name)) return undefined;
    const consumer = new StreamConsumer(name, now);
    this.consumers.set(name, consumer);
    return consumer;
  }

  /**
   * Deletes a consumer and its pending entries. Returns how many those were, or undefined when there is no such
   * consumer.
   */
  deleteConsumer(name: Bytes): number | undefined {
    const consumer = this.consumers.get(name);
    if (consumer === undefined) return undefined;
    this.consumers.delete(name);
    for (const id of consumer.pending.keysArray()) this.pending.delete(id);
    return consumer.pending.size;
  }

  /** Records a first delivery. The entry may have been pending for another consumer. */
  deliver(id: StreamId, consumer: StreamConsumer, now: Millis): Pending {
    consumer.activeAt = now;
    return this.assign(id, consumer, now, 1n);
  }

  /** Makes an entry pending for a consumer, whichever consumer had it before. */
  assign(id: StreamId, consumer: StreamConsumer, deliveredAt: Millis, deliveries: bigint): Pending {
    let pending = this.pending.get(id);
    if (pending === undefined) {
      pending = { id, consumer, deliveredAt, deliveries, turn: ++this.#turns };
      this.pending.set(id, pending);
    } else {
      if (pending.consumer !== consumer) pending.consumer.pending.delete(id);
      pending.consumer = consumer;
      pending.deliveries = deliveries;
      this.redeliver(pending, deliveredAt);
    }
    consumer.pending.set(id, pending);
    return pending;
  }

  /** Sets when a pending entry was last delivered, in milliseconds since the epoch. */
  redeliver(pending: Pending, at: Millis): void {
    pending.deliveredAt = at;
    pending.turn = ++this.#turns;
  }

  /** The entries that were delivered at or before a time, in the order of their last delivery. */
  deliveredBy(time: Millis): Pending[] {
    const due: Pending[] = [];
    for (const pending of this.pending.values()) if (pending.deliveredAt <= time) due.push(pending);
    return due.sort((a, b) => a.deliveredAt - b.deliveredAt || a.turn - b.turn);
  }

  /** Takes an entry away from its consumer. Everyone may claim it, whatever idle time is asked for. */
  release(id: StreamId, deliveries: bigint): void {
    this.assign(id, this.nobody, 0, deliveries);
  }

  /** Removes an entry from the pending ones; false when it was not pending. */
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
      copy.createConsumer(name, seenAt)!.activeAt = activeAt;
    }
    // As in Redis, entries of the same millisecond are in the order of their ids in the copy.
    for (const { id, consumer, deliveredAt, deliveries } of this.pending.values()) {
      const owner = consumer === this.nobody ? copy.nobody : copy.consumers.get(consumer.name)!;
      copy.assign(id, owner, deliveredAt, deliveries);
    }
    return copy;
  }
}

/** Sorts items by the bytes of their names. */
export function sortedByName<T extends { readonly name: Bytes }>(named: ReadonlyMap<Bytes, T>): T[] {
  return [...named.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
