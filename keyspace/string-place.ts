/** Where Redis stores a short string: alone, or in one object with its key. A string that does not fit has the encoding raw. */
import type { Bytes } from '../protocol/bytes.ts';
import { EMBSTR_MAX, stringEncoding } from './collections/encoding.ts';
import type { Entry } from './entry.ts';
import { NONE } from './expiry/deadlines.ts';

/**
 * Where a short string is stored: in an object of its own, so that every string of up to 44 bytes is an embstr, or in one
 * object of 64 bytes with its key and its deadline (Redis 8.2, Valkey 8.1). When a string replaces one that has a deadline,
 * Redis makes room for the new deadline, and Valkey for the old one.
 */
export type StringPlace = 'apart from its key' | 'with its key' | 'with its key and old deadline';

/** The most bytes of a key and a string in one object. */
const TOGETHER_MAX = 41;
/** The bytes of a deadline in an object. */
const DEADLINE = 8;
/** The bytes of an object besides its key and its string. Keys of 32 bytes and more have a longer header. */
const AROUND = 23;
const AROUND_LONG_KEY = 25;
const LONG_KEY = 32;

function fits(key: Bytes, { length }: Bytes, withDeadline: boolean): boolean {
  return key.length + length + (withDeadline ? DEADLINE : 0) <= TOGETHER_MAX;
}

/** True if the allocator, which rounds sizes up to a multiple of 16, has left room for a deadline. */
function hasRoom(key: Bytes, { length }: Bytes): boolean {
  const size = key.length + length + (key.length < LONG_KEY ? AROUND : AROUND_LONG_KEY);
  return (-size & 15) >= DEADLINE;
}

/** Called for a value that was stored under a key: notes that a string is raw if it does not fit. */
export function placeString(place: StringPlace, key: Bytes, entry: Entry, keepTtl: boolean): void {
  const { held, deadline } = entry;
  if (place === 'apart from its key' || typeof held !== 'string') return;
  const room = deadline !== NONE && (keepTtl || place === 'with its key and old deadline');
  if (!fits(key, held, room) && stringEncoding(held) !== 'int') entry.madeAs = 'raw';
}

/** Called before a key that has no deadline gets one: a string that was stored with it may have to leave its object. */
export function placeDeadline(place: StringPlace, key: Bytes, entry: Entry): void {
  const { held, madeAs } = entry;
  if (place === 'apart from its key' || typeof held !== 'string') return;
  if ((madeAs ?? stringEncoding(held)) !== 'embstr' || fits(key, held, true)) return;
  if (!hasRoom(key, held)) entry.madeAs = 'raw';
}

/** Notes how a string is stored that Redis keeps as text although it may be an integer. */
export function placeText(place: StringPlace, key: Bytes, entry: Entry, text: Bytes): void {
  const short =
    place === 'apart from its key' ? text.length <= EMBSTR_MAX : fits(key, text, entry.deadline !== NONE);
  entry.madeAs = short ? 'embstr' : 'raw';
}
