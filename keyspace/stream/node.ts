/**
 * A run of a stream's entries, with the same bounds as Redis' macro nodes. Approximate trimming removes whole nodes, so
 * clients can observe where a node ends.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import type { EncodingLimits } from '../collections/encoding.ts';
import { elementSize, integerSize } from '../format/listpack.ts';
import { idMillis, idSequence, millisOf, type StreamId, sequenceOf } from './id.ts';

export interface StreamEntry {
  readonly id: StreamId;
  /** Alternating fields and values. */
  readonly fields: readonly Bytes[];
}

/** Redis never lets a node grow beyond this, whatever stream-node-max-bytes is. */
const BYTES_MAX = 2 ** 30;
/** The size of a listpack's header and end mark, in bytes. */
const FRAME = 7;

/** A run of entries. */
export class StreamNode {
  /** The id of the first entry, kept after that entry was deleted, because Redis stores the others relative to it. */
  readonly headId: StreamId;
  readonly #headMillis: number;
  readonly #headSequence: number;
  /** The field names of the first entry. Entries with the same names are stored without them. */
  readonly headFields: readonly Bytes[];
  // An object for each entry would outlive the collections of new objects, which copy it twice: up to a quarter of XADD's time.
  #ids: StreamId[] = [];
  /** The fields and values of all entries, one after the other, and where those of each entry begin. */
  #words: Bytes[] = [];
  #starts: number[] = [];
  /** How many entries were deleted from the middle. */
  deleted = 0;
  /** The last id that was added, even if it was deleted. */
  lastId: StreamId;
  /** The size of the head entry's fields and of all entries, in bytes. */
  #bytes: number;

  constructor(headId: StreamId, headFields: readonly Bytes[]) {
    this.headId = headId;
    this.#headMillis = millisOf(headId);
    this.#headSequence = sequenceOf(headId);
    this.headFields = headFields;
    this.lastId = headId;
    this.#bytes = FRAME + integerSize(headFields.length) + integerSize(0);
    for (const field of headFields) this.#bytes += elementSize(field);
  }

  /** The number of entries. */
  get length(): number {
    return this.#ids.length;
  }

  /** The id of the entry in a position, from 0; undefined if there is none. */
  idAt(position: number): StreamId | undefined {
    return this.#ids[position];
  }

  entryAt(position: number): StreamEntry {
    const fields = this.#words.slice(this.#starts[position], this.#starts[position + 1]);
    return { id: this.#ids[position]!, fields };
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
    const counters = integerSize(this.length) + integerSize(this.deleted);
    if (this.#bytes + counters + added >= most) return true;
    const count = limits.streamNodeMaxEntries;
    return count !== 0 && this.length + this.deleted >= count;
  }

  /** Adds an entry after all others. */
  append(id: StreamId, fields: readonly Bytes[]): void {
    this.#ids.push(id);
    this.#starts.push(this.#words.length);
    for (let i = 0; i < fields.length; i++) this.#words.push(fields[i]!);
    this.lastId = id;
    this.#bytes += this.#sizeOf(id, fields);
  }

  /** True when the entry has exactly the field names of the node's first entry. */
  sameFields(fields: readonly Bytes[]): boolean {
    const names = this.headFields;
    return fields.length === names.length * 2 && names.every((name, i) => fields[i * 2] === name);
  }

  /** The position of the first entry with an id that is not smaller. */
  indexOf(id: StreamId): number {
    const ids = this.#ids;
    let low = 0;
    let high = ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ids[middle]! < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Deletes entries from a position on. */
  remove(index: number, count: number): void {
    const starts = this.#starts;
    const from = starts[index] ?? this.#words.length;
    const words = (starts[index + count] ?? this.#words.length) - from;
    this.#words.splice(from, words);
    this.#ids.splice(index, count);
    starts.splice(index, count);
    for (let i = index; i < starts.length; i++) starts[i]! -= words;
    this.deleted += count;
  }

  copy(): StreamNode {
    const copy = new StreamNode(this.headId, this.headFields);
    copy.#ids = this.#ids.slice();
    copy.#words = this.#words.slice();
    copy.#starts = this.#starts.slice();
    copy.deleted = this.deleted;
    copy.lastId = this.lastId;
    copy.#bytes = this.#bytes;
    return copy;
  }

  /** The size in bytes of an id, which Redis stores relative to the first id. */
  #distanceSize(id: StreamId): number {
    const millis = millisOf(id) - this.#headMillis;
    const sequence = sequenceOf(id) - this.#headSequence;
    if (!Number.isNaN(millis + sequence)) return integerSize(millis) + integerSize(sequence);
    const rest = BigInt.asIntN(64, idSequence(id) - idSequence(this.headId));
    return integerSize(idMillis(id) - idMillis(this.headId)) + integerSize(rest);
  }

  #sizeOf(id: StreamId, fields: readonly Bytes[]): number {
    const count = fields.length / 2;
    const same = this.sameFields(fields);
    let bytes = integerSize(same ? 2 : 0) + this.#distanceSize(id);
    bytes += same ? integerSize(count + 3) : integerSize(count) + integerSize(count * 2 + 4);
    for (let i = same ? 1 : 0; i < fields.length; i += same ? 2 : 1) bytes += elementSize(fields[i]!);
    return bytes;
  }
}
