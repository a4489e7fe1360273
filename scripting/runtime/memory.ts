/** Counts what scripts allocate, before it is allocated (docs/decisions/0039). */
import { allocate, allowance } from '../../protocol/allowance.ts';
import type { Bytes } from '../../protocol/bytes.ts';

/** In bytes. What is smaller is not counted by itself, but with the steps that the script takes. */
export const LARGE = 256;

/** After so many steps, the small pieces that a script has made are counted. */
export const TRANCHE = 65_536;
/** What they are for each step, in bytes. */
export const STEP_BYTES = 256;

/** The bytes of a table without items. */
export const TABLE_BYTES = 128;

/** The bytes of a place in an array, and of an entry of a table's hash part. */
export const PLACE_BYTES = 8;
export const ENTRY_BYTES = 24;

/**
 * Counts a text that was joined from others. V8 joins texts when their bytes are first read, so that a short script could make
 * many long ones which take no memory yet.
 */
export function joined(text: Bytes): Bytes {
  return text.length < LARGE ? text : weighed(text);
}

/** In bytes. Joined texts are counted in parts of so many. */
const PART = 16_384;

/**
 * How many bytes of joined texts have been counted in advance. It is always a small integer, which V8 changes in a third of
 * the time of `allowance.left`: scripts append to texts in loops.
 */
const counted = { left: 0 };

/** Counts a joined text of at least `LARGE` bytes, and returns it. */
export function weighed(text: Bytes): Bytes {
  if ((counted.left -= text.length) < 0) count(text);
  return text;
}

function count(text: Bytes): void {
  counted.left = 0;
  allocate(text.length);
  // As long as nothing is counted in advance, each text comes here.
  if (allowance.flattens) text.charCodeAt(0);
  else if (text.length < PART) {
    allocate(PART);
    counted.left = PART;
  }
}

/** Counts the places of a list. */
export function allocatePlaces(count: number): void {
  if (count * PLACE_BYTES >= LARGE) allocate(count * PLACE_BYTES);
}

/** Counts a text that is about to be made from another one. */
export function allocateText(length: number): void {
  if (length >= LARGE) allocate(length);
}
