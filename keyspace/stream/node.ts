/**
 * A run of a stream's entries, with the same bounds as Redis' macro nodes. Approximate trimming removes whole nodes, so
 * clients can observe where a node ends.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import type { EncodingLimits } from '../collections/encoding.ts';
import { elementSize, integerSize } from '../format/listpack.ts';
import { idMillis, idSequence, type StreamId } from './id.ts';

/** An entry of a stream. */
export interface StreamEntry {
  readonly id: StreamId;
  /** Alternating fields and values. */
  readonly fields: readonly Bytes[];
}

/** Redis never lets a node grow beyond this, whatever stream-node-max-bytes is. */
const BYTES_MAX = 2 ** 30;
/** The size of a listpack's header and end mark, in bytes. */
const FRAME = 7;
/** The largest integer of the smallest size in a listpack. */
const NEAR = 127n;

/** A run of entries. */
export class StreamNode {
  /** The id of the first entry, kept after that entry was deleted, because Redis stores the others relative to it. */
  readonly headId: StreamId;
  /** The field names of the first entry. Entries with the same names are stored without them. */
  readonly headFields: readonly Bytes[];
  entries: StreamEntry[] = [];
  /** How many entries were deleted from the middle. */
  deleted = 0;
  /** The last id that was added, even if it was deleted. */
  lastId: StreamId;
  /** The size of the head entry's fields and of all entries, in bytes. */
  #bytes: number;

  constructor(headId: StreamId, headFields: readonly Bytes[]) {
    this.headId = headId;
    this.headFields = headFields;
    this.lastId = headId;
    this.#bytes = FRAME + integerSize(headFields.length) + integerSize(0);
    for (const field of headFields) this.#bytes += elementSize(field);
  }

  /** The node's size in bytes in Redis' layout, in which deleted entries keep their space. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True when Redis would begin a new node for an entry with these fields. */
  isFull(fields: readonly Bytes[], limits: Readonly<EncodingLimits>): boolean {
    let added = 0;
    for (const text of fields) added += text.length;
    const configured = limits.streamNodeMaxBytes;
    const most = configured === 0 || configured > BYTES_MAX ? BYTES_MAX : configured;
    const counters = integerSize(this.entries.length) + integerSize(this.deleted);
    if (this.#bytes + counters + added >= most) return true;
    const count = limits.streamNodeMaxEntries;
    return count !== 0 && this.entries.length + this.deleted >= count;
  }

  /** Adds an entry after all others. */
  append(entry: StreamEntry): void {
    this.entries.push(entry);
    this.lastId = entry.id;
    this.#bytes += this.#sizeOf(entry);
  }

  /** True when the entry has exactly the field names of the node's first entry. */
  sameFields(fields: readonly Bytes[]): boolean {
    const names = this.headFields;
    return fields.length === names.length * 2 && names.every((name, i) => fields[i * 2] === name);
  }

  /** The position of the first entry with an id that is not smaller. */
  indexOf(id: StreamId): number {
    const entries = this.entries;
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (entries[middle]!.id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Deletes entries from a position on. */
  remove(index: number, count: number): void {
    this.entries.splice(index, count);
    this.deleted += count;
  }

  copy(): StreamNode {
    const copy = new StreamNode(this.headId, this.headFields);
    copy.entries = this.entries.slice();
    copy.deleted = this.deleted;
    copy.lastId = this.lastId;
    copy.#bytes = this.#bytes;
    return copy;
  }

  /** The size in bytes of an id, which Redis stores relative to the first id. */
  #distanceSize(id: StreamId): number {
    const distance = id - this.headId;
    // Both halves take the fewest bytes. To cut ids into halves was a third of the time that an append took.
    if (distance >= 0n && distance <= NEAR) return 2 * integerSize(0);
    const millis = idMillis(id) - idMillis(this.headId);
    const sequence = BigInt.asIntN(64, idSequence(id) - idSequence(this.headId));
    return integerSize(millis) + integerSize(sequence);
  }

  #sizeOf({ id, fields }: StreamEntry): number {
    const count = fields.length / 2;
    const same = this.sameFields(fields);
    let bytes = integerSize(same ? 2 : 0) + this.#distanceSize(id);
    bytes += same ? integerSize(count + 3) : integerSize(count) + integerSize(count * 2 + 4);
    for (let i = same ? 1 : 0; i < fields.length; i += same ? 2 : 1) bytes += elementSize(fields[i]!);
    return bytes;
  }
}
