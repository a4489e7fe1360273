/** Encodings as a server knows them: its thresholds, and the names of strings that were not set as a whole. */
import { type EncodingLimits, stringEncoding } from '../../keyspace/collections/encoding.ts';
import type { Entry } from '../../keyspace/entry.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Settings } from './settings.ts';

type StringEncoding = ReturnType<typeof stringEncoding>;

/** Makes the thresholds what the settings say. */
export function setLimits(
  limits: EncodingLimits,
  settings: Settings,
  { smallList, smallSet }: Pick<Dialect, 'smallList' | 'smallSet'>,
): void {
  limits.packsLists = smallList === 'listpack';
  limits.setMaxEntries = smallSet === 'listpack' ? settings['set-max-listpack-entries'] : 0;
  limits.setMaxValue = settings['set-max-listpack-value'];
  limits.hashMaxEntries = settings['hash-max-listpack-entries'];
  limits.hashMaxValue = settings['hash-max-listpack-value'];
  limits.setMaxIntset = settings['set-max-intset-entries'];
  limits.zsetMaxEntries = settings['zset-max-listpack-entries'];
  limits.zsetMaxValue = settings['zset-max-listpack-value'];
  limits.listMaxListpackSize = settings['list-max-listpack-size'];
  limits.streamNodeMaxBytes = settings['stream-node-max-bytes'];
  limits.streamNodeMaxEntries = settings['stream-node-max-entries'];
}

/** The noted encoding, and the string it was noted of. */
interface Note {
  readonly value: Bytes;
  readonly encoding: StringEncoding;
}

const notes = new WeakMap<Entry, Note>();
/** False until the first note: SET need not look for one. */
let noted = false;

/** Notes that the entry's string, as it is now, is kept in another way than a string that was set. */
export function noteEncoding(entry: Entry, encoding: StringEncoding): void {
  const value = entry.held;
  if (typeof value !== 'string') return;
  noted = true;
  notes.set(entry, { value, encoding });
}

/** Forgets what made the entry's string: it has been set as a whole. */
export function forgetEncoding(entry: Entry): void {
  if (noted) notes.delete(entry);
}

/** Takes the note of an entry's string over to an entry that holds the same string. */
export function carryEncoding(from: Entry, to: Entry): void {
  const note = notes.get(from);
  if (note !== undefined && note.value === from.value) notes.set(to, note);
}

/** The encoding of an entry's value, as OBJECT ENCODING answers it. */
export function encodingOf(entry: Entry): Bytes {
  const value = entry.held;
  if (typeof value !== 'string') return value.type === 'string' ? 'raw' : value.encoding();
  const note = notes.get(entry);
  return note !== undefined && note.value === value ? note.encoding : stringEncoding(value);
}
