/** Where Redis stores a short string: alone, or in one object with its key. A string that does not fit has the encoding raw. */
import type { Bytes } from '../protocol/bytes.ts';
import { EMBSTR_MAX, stringEncoding } from './collections/encoding.ts';
import type { Entry } from './entry.ts';
import { NONE } from './expiry/deadlines.ts';

/**
 * Where a short string is stored: in an object of its own, so that every string of up to 44 bytes is an embstr, or in one
 * object with its key. That object has 64 bytes, or 128 in Valkey 9. It has room for the deadline (Redis 8.2), or for the
 * deadline of the string that this one replaces (Valkey 8.1 and 9), or deadlines take no room in it (Redis 8.6).
 */
export type StringPlace =
  | 'apart from its key'
  | 'with its key'
  | 'with its key and old deadline'
  | 'with its key, whatever its deadline'
  | 'in 128 bytes with its key and old deadline';

/** How one object holds a key and its string. */
export interface StringLayout {
  /** The most bytes of the key and the string, for a key of up to 31 bytes and for a longer one. */
  readonly most: number;
  readonly mostWithLongKey: number;
  /** Whose deadline takes room when a string is stored under a key that has one. */
  readonly room: 'kept' | 'old' | 'none';
  /** Whether a string can lose its place when its key gets a deadline. */
  readonly moves: boolean;
}

const IN_64_BYTES = { most: 41, mostWithLongKey: 41 } as const;

/** The layout of each place; none for a string in an object of its own. */
export const STRING_LAYOUTS: Readonly<Record<StringPlace, StringLayout | undefined>> = {
  'apart from its key': undefined,
  'with its key': { ...IN_64_BYTES, room: 'kept', moves: true },
  'with its key and old deadline': { ...IN_64_BYTES, room: 'old', moves: true },
  'with its key, whatever its deadline': { ...IN_64_BYTES, room: 'none', moves: false },
  'in 128 bytes with its key and old deadline': {
    most: 113,
    mostWithLongKey: 111,
    room: 'old',
    moves: false,
  },
};

/** The bytes of a deadline in an object. */
const DEADLINE = 8;
/** The bytes of an object besides its key and its string. Keys of 32 bytes and more have a longer header. */
const AROUND = 23;
const AROUND_LONG_KEY = 25;
const LONG_KEY = 32;

function fits(layout: StringLayout, key: Bytes, { length }: Bytes, withDeadline: boolean): boolean {
  const most = key.length < LONG_KEY ? layout.most : layout.mostWithLongKey;
  return key.length + length + (withDeadline ? DEADLINE : 0) <= most;
}

/** True if the allocator, which rounds sizes up to a multiple of 16, has left room for a deadline. */
function hasRoom(key: Bytes, { length }: Bytes): boolean {
  const size = key.length + length + (key.length < LONG_KEY ? AROUND : AROUND_LONG_KEY);
  return (-size & 15) >= DEADLINE;
}

/** Called for a value that was stored under a key: notes that a string is raw if it does not fit, or embstr though it is long. */
export function placeString(
  layout: StringLayout | undefined,
  key: Bytes,
  entry: Entry,
  keepTtl: boolean,
): void {
  const { held, deadline } = entry;
  if (layout === undefined || typeof held !== 'string') return;
  const room = deadline !== NONE && (keepTtl ? layout.room !== 'none' : layout.room === 'old');
  if (!fits(layout, key, held, room)) {
    if (stringEncoding(held) !== 'int') entry.madeAs = 'raw';
  } else if (held.length > EMBSTR_MAX) entry.madeAs = 'embstr';
}

/** Called before a key that has no deadline gets one: a string that was stored with it may have to leave its object. */
export function placeDeadline(layout: StringLayout | undefined, key: Bytes, entry: Entry): void {
  const { held, madeAs } = entry;
  if (layout?.moves !== true || typeof held !== 'string') return;
  if ((madeAs ?? stringEncoding(held)) !== 'embstr' || fits(layout, key, held, true)) return;
  if (!hasRoom(key, held)) entry.madeAs = 'raw';
}

/** Notes how a string is stored that Redis keeps as text although it may be an integer. */
export function placeText(layout: StringLayout | undefined, key: Bytes, entry: Entry, text: Bytes): void {
  const room = entry.deadline !== NONE && layout?.room !== 'none';
  const short = layout === undefined ? text.length <= EMBSTR_MAX : fits(layout, key, text, room);
  entry.madeAs = short ? 'embstr' : 'raw';
}
