/** Short names that hash to each slot. Valkey writes them in the cursors of CLUSTERSCAN. */
import type { Bytes } from './bytes.ts';
import { SLOT_COUNT, slotOf } from './slot.ts';

const LETTERS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

let tags: readonly Bytes[] | undefined;

/** For each slot the first of the shortest names. Every slot has one of at most three letters. */
function find(): readonly Bytes[] {
  const found: Bytes[] = new Array<Bytes>(SLOT_COUNT);
  let missing = SLOT_COUNT;
  let names = [...LETTERS];
  for (;;) {
    for (const name of names) {
      const slot = slotOf(name);
      if (found[slot] !== undefined) continue;
      found[slot] = name;
      // The names with one letter more would be fifteen million.
      if (--missing === 0) return found;
    }
    names = names.flatMap((name) => [...LETTERS].map((letter) => name + letter));
  }
}

/** The name of a slot. The first call takes some milliseconds. */
export function tagOf(slot: number): Bytes {
  tags ??= find();
  return tags[slot]!;
}
