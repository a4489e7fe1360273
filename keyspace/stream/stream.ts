/** A stream: entries with ascending ids, stored in runs, and its consumer groups. */
import Denque from 'denque';
import type { Bytes } from '../../protocol/bytes.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from '../collections/encoding.ts';
import { StreamGroup, sortedByName } from './group.ts';
import { MAX_ID, MIN_ID, type StreamId } from './id.ts';
import { Idempotence } from './idempotence.ts';
import { type StreamEntry, StreamNode } from './node.ts';

export type { StreamEntry };

/** The options of XTRIM and of XADD's trimming. */
export interface TrimOptions {
  /** Keep at most this many entries (MAXLEN). */
  readonly maxLength?: number | undefined;
  /** Keep no entry with a smaller id (MINID). */
  readonly minId?: StreamId | undefined;
  /** `~`: remove whole nodes only. */
  readonly approximate?: boolean | undefined;
  /** Stop before removing more than this many entries; 0 for no limit. */
  readonly limit?: number | undefined;
  /** What happens to the references of consumer groups; KEEPREF unless said otherwise. */
  readonly references?: ReferencePolicy | undefined;
}

/**
 * What deleting an entry does about consumer groups: leave what they have pending, forget it there too, or delete only
 * what no group still needs (https://redis.io/docs/latest/commands/xdelex/).
 */
export type ReferencePolicy = 'KEEPREF' | 'DELREF' | 'ACKED';

/** A number of entries as Redis stores it: a signed 64-bit number that overflows to the smallest value. */
export function counted(count: bigint): bigint {
  return BigInt.asIntN(64, count);
}

/** The value of a key of type stream. */
export class StreamValue {
  readonly type = 'stream';
  /** The last id ever added, or set by XSETID. */
  lastId: StreamId = MIN_ID;
  /** The id of the first entry; 0-0 when there is none. */
  firstId: StreamId = MIN_ID;
  /** The largest id that XDEL deleted. */
  maxDeletedId: StreamId = MIN_ID;
  readonly groups = new Map<Bytes, StreamGroup>();
  /** The ids of its idempotent producers. */
  idempotence: Idempotence;
  /** The least position of all groups, where it was asked for and is still thought to be true. */
  #slowest: StreamId | undefined;
  #nodes = new Denque<StreamNode>();
  #shape = 0;
  #length = 0;
  /** The number of entries ever added is the sum of these. A bigint is slow to increment. */
  #addedBefore = 0n;
  #addedSince = 0;
  #bytes = 0;
  readonly #limits: Readonly<EncodingLimits>;

  constructor(limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#limits = limits;
    this.idempotence = new Idempotence(limits);
  }

  /** The number of entries. There is no `size`, because a stream without entries is still a value. */
  get length(): number {
    return this.#length;
  }

  /** How many entries were ever added. */
  get entriesAdded(): bigint {
    return counted(this.#addedBefore + BigInt(this.#addedSince));
  }

  set entriesAdded(count: bigint) {
    this.#addedBefore = count;
    this.#addedSince = 0;
  }

  /** The total size of all runs, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of runs of entries. */
  get nodeCount(): number {
    return this.#nodes.length;
  }

  /** Changes whenever a run of entries comes or goes. */
  get shape(): number {
    return this.#shape;
  }

  /** The id with which the first run began, even if that entry was deleted; undefined if there is none. */
  get headId(): StreamId | undefined {
    return this.#nodes.peekFront()?.headId;
  }

  encoding(): 'stream' {
    return 'stream';
  }

  /** Adds an entry, whose id must be greater than `lastId`. */
  append(id: StreamId, fields: readonly Bytes[]): void {
    let node = this.#nodes.peekBack();
    if (node === undefined || node.isFull(fields, this.#limits)) {
      node = new StreamNode(
        id,
        fields.filter((_, i) => i % 2 === 0),
      );
      this.#nodes.push(node);
      this.#shape++;
      this.#bytes += node.bytes;
    }
    const before = node.bytes;
    node.append(id, fields);
    this.#bytes += node.bytes - before;
    this.#length++;
    this.#addedSince++;
    this.lastId = id;
    if (this.#length === 1) this.firstId = id;
  }

  get(id: StreamId): StreamEntry | undefined {
    const node = this.#nodes.peekAt(this.#nodeOf(id));
    const index = node?.indexOf(id) ?? 0;
    return node?.idAt(index) === id ? node.entryAt(index) : undefined;
  }

  firstEntry(): StreamEntry | undefined {
    return this.range(MIN_ID, MAX_ID, 1)[0];
  }

  lastEntry(): StreamEntry | undefined {
    return this.range(MIN_ID, MAX_ID, 1, true)[0];
  }

  /** Up to `count` entries with ids from start to end, both inclusive; with `reverse`, from the end backwards. */
  range(start: StreamId, end: StreamId, count = Infinity, reverse = false): StreamEntry[] {
    const out: StreamEntry[] = [];
    if (start > end || this.#nodes.length === 0) return out;
    const from = reverse ? end : start;
    const step = reverse ? -1 : 1;
    let number = Math.max(0, this.#nodeOf(from));
    for (let node = this.#nodes.peekAt(number); node !== undefined; node = this.#node((number += step))) {
      const { length } = node;
      let i = 0;
      if (reverse) i = end >= node.lastId ? length - 1 : node.indexOf(end + 1n) - 1;
      else if (start > node.headId) i = node.indexOf(start);
      for (; i >= 0 && i < length; i += step) {
        const id = node.idAt(i)!;
        if (out.length >= count || (reverse ? id < start : id > end)) return out;
        out.push(node.entryAt(i));
      }
    }
    return out;
  }

  /** Deletes an entry, as XDEL does; false when there is none with this id. */
  delete(id: StreamId): boolean {
    const number = this.#nodeOf(id);
    const node = this.#node(number);
    const index = node?.indexOf(id) ?? 0;
    if (node?.idAt(index) !== id) return false;
    node.remove(index, 1);
    this.#length--;
    if (node.length === 0) {
      this.#nodes.removeOne(number);
      this.#shape++;
      this.#bytes -= node.bytes;
    }
    if (id > this.maxDeletedId) this.maxDeletedId = id;
    if (id === this.firstId || this.#length === 0) this.#findFirst();
    return true;
  }

  /** Trims the oldest entries and returns how many were removed. */
  trimTo(options: TrimOptions): number {
    const { maxLength, minId = MIN_ID, approximate = false, limit = 0, references = 'KEEPREF' } = options;
    if (references !== 'KEEPREF') return this.#trimEach(options, references);
    let removed = 0;
    for (let node = this.#nodes.peekFront(); node !== undefined; node = this.#nodes.peekFront()) {
      const count = node.length;
      if (maxLength !== undefined && this.#length <= maxLength) break;
      if (limit > 0 && removed + count > limit) break;
      if (maxLength !== undefined ? this.#length - count >= maxLength : node.lastId < minId) {
        this.#nodes.shift();
        this.#shape++;
        this.#bytes -= node.bytes;
        this.#length -= count;
        removed += count;
        continue;
      }
      if (approximate) break;
      const some = maxLength !== undefined ? this.#length - maxLength : node.indexOf(minId);
      node.remove(0, some);
      this.#length -= some;
      removed += some;
      break;
    }
    if (removed > 0) this.#findFirst();
    return removed;
  }

  /**
   * Trims entry by entry, from the old end on; goes no further than the first node that may stay. The limit ends it before
   * a node with more entries than are left of it.
   */
  #trimEach({ maxLength, minId = MIN_ID, limit = 0 }: TrimOptions, references: ReferencePolicy): number {
    let removed = 0;
    for (const node of this.nodes()) {
      if (maxLength !== undefined && this.#length <= maxLength) break;
      if (limit > 0 && removed + node.length > limit) break;
      const whole = maxLength !== undefined ? this.#length - node.length >= maxLength : node.lastId < minId;
      for (let i = 0; i < node.length; ) {
        const id = node.idAt(i)!;
        if (maxLength !== undefined ? this.#length <= maxLength : id >= minId) break;
        if (references === 'ACKED' && this.isReferenced(id)) {
          i++;
          continue;
        }
        if (references === 'DELREF') this.forgetReferences(id);
        node.remove(i, 1);
        this.#length--;
        removed++;
      }
      if (node.length === 0) this.#dropNode(node);
      if (!whole) break;
    }
    if (removed > 0) this.#findFirst();
    return removed;
  }

  #dropNode(node: StreamNode): void {
    this.#nodes.removeOne(this.nodes().indexOf(node));
    this.#shape++;
    this.#bytes -= node.bytes;
  }

  /** True when a consumer group has yet to read an entry of the id, or has it pending. The entry need not exist. */
  isReferenced(id: StreamId): boolean {
    if (this.groups.size === 0) return false;
    const groups = [...this.groups.values()];
    this.#slowest ??= groups.reduce((least, { lastId }) => (lastId < least ? lastId : least), MAX_ID);
    return id > this.#slowest || groups.some(({ pending }) => pending.get(id) !== undefined);
  }

  /** Takes an id off the pending ones of all groups. */
  forgetReferences(id: StreamId): void {
    for (const group of this.groups.values()) group.acknowledge(id);
  }

  /**
   * Moves a group's position. The least position of all is computed again after the slowest group has moved or another one
   * has become the slowest.
   */
  position(group: StreamGroup, id: StreamId): void {
    if (this.#slowest !== undefined && (id < this.#slowest || group.lastId === this.#slowest))
      this.#slowest = undefined;
    group.lastId = id;
  }

  /** Creates a consumer group; undefined when the name is taken. */
  createGroup(name: Bytes, lastId: StreamId, entriesRead?: bigint): StreamGroup | undefined {
    if (this.groups.has(name)) return undefined;
    if (this.#slowest !== undefined && lastId < this.#slowest) this.#slowest = undefined;
    const group = new StreamGroup(name, lastId, entriesRead);
    this.groups.set(name, group);
    return group;
  }

  /**
   * Removes a group; false when there is none.
   * @param measures whether the least position of all is computed again. In Redis 8.2 it is not, and what the others have
   * read beyond it still counts as unread.
   */
  destroyGroup(name: Bytes, measures: boolean): boolean {
    if (measures) this.#slowest = undefined;
    return this.groups.delete(name);
  }

  /** The groups, sorted by the bytes of their names, as Redis lists them. */
  sortedGroups(): StreamGroup[] {
    return sortedByName(this.groups);
  }

  /** The runs of entries, in order: for RDB, and for XINFO's radix-tree-keys. */
  nodes(): StreamNode[] {
    return this.#nodes.toArray();
  }

  /** Adds a run as it was stored. The caller sets ids and counts. */
  addNode(node: StreamNode): void {
    this.#nodes.push(node);
    this.#shape++;
    this.#bytes += node.bytes;
    this.#length += node.length;
  }

  /** Takes a stored number of entries for the number of entries, even if the runs have others. */
  believe(length: number): void {
    this.#length = length;
  }

  copy(): StreamValue {
    const copy = new StreamValue(this.#limits);
    for (const node of this.nodes()) copy.addNode(node.copy());
    copy.#length = this.#length;
    copy.lastId = this.lastId;
    copy.firstId = this.firstId;
    copy.maxDeletedId = this.maxDeletedId;
    copy.entriesAdded = this.entriesAdded;
    for (const group of this.groups.values()) copy.groups.set(group.name, group.copy());
    copy.idempotence = this.idempotence.copy();
    return copy;
  }

  #findFirst(): void {
    this.firstId = this.firstEntry()?.id ?? MIN_ID;
  }

  #node(number: number): StreamNode | undefined {
    return number < 0 ? undefined : this.#nodes.peekAt(number);
  }

  /** The number of the last node that begins at or before the id; -1 when there is none. */
  #nodeOf(id: StreamId): number {
    const nodes = this.#nodes;
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (nodes.peekAt(middle)!.headId <= id) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
