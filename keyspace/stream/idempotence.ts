/**
 * What a stream remembers about its idempotent producers: the ids under which they added entries. A producer that sends
 * an entry again under the same id gets the first entry's id back
 * (https://redis.io/docs/latest/develop/data-types/streams/idempotency/).
 */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { idMillis, type StreamId } from './id.ts';

/** The bounds of XCFGSET and of RDB: seconds, and ids of one producer. */
export const DURATION_MAX = 86_400;
export const PRODUCER_IDS_MAX = 10_000;

/** How often Redis forgets the ids whose time is over, in milliseconds. */
const SWEEP_PERIOD = 1000;

/** How long and how many ids a stream remembers. */
export interface IdempotenceLimits {
  /** stream-idmp-duration: how long an id is remembered, in seconds. */
  readonly streamIdmpDuration: number;
  /** stream-idmp-maxsize: how many ids of one producer are remembered. */
  readonly streamIdmpMaxSize: number;
}

/** The ids of a stream's idempotent producers. */
export class Idempotence {
  /** How long an id is remembered, in seconds. */
  duration: number;
  /** How many ids of one producer are remembered. */
  maxSize: number;
  /** How many ids were ever added. */
  added = 0n;
  /** How many entries were ever refused because their id was known. */
  duplicates = 0n;
  // For each producer its ids, oldest first, and the entries that they were added as.
  #producers: Map<Bytes, Map<Bytes, StreamId>> | undefined;
  // The last sweep that is done.
  #sweptAt: Millis = 0;

  constructor({ streamIdmpDuration, streamIdmpMaxSize }: IdempotenceLimits) {
    this.duration = streamIdmpDuration;
    this.maxSize = streamIdmpMaxSize;
  }

  /** The entry that a producer added under this id; undefined if the stream does not remember one. */
  find(producer: Bytes, id: Bytes, now: Millis): StreamId | undefined {
    this.sweep(now);
    return this.#producers?.get(producer)?.get(id);
  }

  /** Remembers an id that is not known yet, and forgets the producer's oldest one if there are too many. */
  record(producer: Bytes, id: Bytes, entry: StreamId, now: Millis): void {
    this.sweep(now);
    this.restore(producer, id, entry);
    this.added++;
    const ids = this.#producers!.get(producer)!;
    for (const oldest of ids.keys()) {
      if (ids.size <= this.maxSize) break;
      ids.delete(oldest);
    }
  }

  /** Puts an id back that was stored in a dump. An id that is already there stays as it is. */
  restore(producer: Bytes, id: Bytes, entry: StreamId): void {
    this.#producers ??= new Map();
    let ids = this.#producers.get(producer);
    if (ids === undefined) this.#producers.set(producer, (ids = new Map()));
    if (!ids.has(id)) ids.set(id, entry);
  }

  /** Changes the limits. Every id is forgotten if one of them changes. Returns whether one did. */
  configure(duration: number | undefined, maxSize: number | undefined): boolean {
    const changed =
      (duration !== undefined && duration !== this.duration) ||
      (maxSize !== undefined && maxSize !== this.maxSize);
    if (!changed) return false;
    this.duration = duration ?? this.duration;
    this.maxSize = maxSize ?? this.maxSize;
    this.#producers = undefined;
    return true;
  }

  /** The producers with their ids, sorted by the bytes of the producers' names. */
  producers(): [name: Bytes, ids: ReadonlyMap<Bytes, StreamId>][] {
    return [...(this.#producers ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /**
   * Forgets the ids that had expired at the last sweep. Redis sweeps once a second, and an id is known until then,
   * however old its entry is. Here the sweep is done when the ids are looked at.
   */
  sweep(now: Millis): void {
    const at = now - (now % SWEEP_PERIOD);
    if (at <= this.#sweptAt) return;
    this.#sweptAt = at;
    const last = BigInt(at) - BigInt(this.duration) * 1000n;
    for (const [producer, ids] of this.#producers ?? []) {
      for (const [id, entry] of ids) {
        if (idMillis(entry) > last) break;
        ids.delete(id);
      }
      if (ids.size === 0) this.#producers?.delete(producer);
    }
  }

  copy(): Idempotence {
    const copy = new Idempotence({ streamIdmpDuration: this.duration, streamIdmpMaxSize: this.maxSize });
    copy.added = this.added;
    copy.duplicates = this.duplicates;
    copy.#sweptAt = this.#sweptAt;
    if (this.#producers !== undefined)
      copy.#producers = new Map([...this.#producers].map(([name, ids]) => [name, new Map(ids)]));
    return copy;
  }
}
