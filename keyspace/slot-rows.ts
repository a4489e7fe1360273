/**
 * The keys of a database by cluster slot: for each slot a list of rows, the newest first, as Redis 7.0 keeps it. It takes
 * 8 bytes a row, and 128 KiB.
 */
import { SLOT_COUNT } from '../protocol/slot.ts';

const FIRST_ROWS = 1024;

/** Rows by slot. Row 0 means that there is no row. */
export class SlotRows {
  /** How many rows each slot has. */
  readonly counts = new Uint32Array(SLOT_COUNT);
  readonly #newest = new Int32Array(SLOT_COUNT);
  /** The rows beside a row in its list. */
  #older = new Int32Array(FIRST_ROWS);
  #newer = new Int32Array(FIRST_ROWS);

  /** Adds a row that is newer than all others of the slot. */
  add(slot: number, row: number): void {
    if (row >= this.#older.length) this.#grow(row);
    const next = this.#newest[slot]!;
    this.#older[row] = next;
    this.#newer[row] = 0;
    if (next !== 0) this.#newer[next] = row;
    this.#newest[slot] = row;
    this.counts[slot]!++;
  }

  delete(slot: number, row: number): void {
    const [older, newer] = [this.#older[row]!, this.#newer[row]!];
    if (older !== 0) this.#newer[older] = newer;
    if (newer !== 0) this.#older[newer] = older;
    else this.#newest[slot] = older;
    this.counts[slot]!--;
  }

  /** At most `most` rows of a slot, the newest first. */
  rows(slot: number, most: number): number[] {
    const rows: number[] = [];
    for (let row = this.#newest[slot]!; row !== 0 && rows.length < most; row = this.#older[row]!)
      rows.push(row);
    return rows;
  }

  /** The newest row of a slot, or 0. */
  newest(slot: number): number {
    return this.#newest[slot]!;
  }

  /** The next older row of the same slot as a row in use; 0 if it is the oldest. */
  olderThan(row: number): number {
    return this.#older[row]!;
  }

  #grow(row: number): void {
    const length = 2 * Math.max(row, this.#older.length);
    const [older, newer] = [this.#older, this.#newer];
    this.#older = new Int32Array(length);
    this.#newer = new Int32Array(length);
    this.#older.set(older);
    this.#newer.set(newer);
  }
}
