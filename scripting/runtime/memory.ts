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
export function joined<T>(text: T): T {
  if (typeof text === 'string' && text.length >= LARGE) weigh(text);
  return text;
}

function weigh(text: Bytes): void {
  allocate(text.length);
  if (allowance.flattens) text.charCodeAt(0);
}

/** Counts the places of a list. */
export function allocatePlaces(count: number): void {
  if (count * PLACE_BYTES >= LARGE) allocate(count * PLACE_BYTES);
}

/** Counts a text that is about to be made from another one. */
export function allocateText(length: number): void {
  if (length >= LARGE) allocate(length);
}
