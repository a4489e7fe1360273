/** Value encodings: the thresholds of a node, and the encodings of strings that were modified after they were set. */
import {
  type EncodingLimits,
  type StringEncoding,
  stringEncoding,
} from '../../keyspace/collections/encoding.ts';
import type { Entry } from '../../keyspace/entry.ts';
import { placeText, type StringLayout } from '../../keyspace/string-place.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Settings } from './settings.ts';

/** The node, as it stores the strings of scripts. */
interface TextNode {
  readonly dialect: Pick<Dialect, 'integersOfScripts'>;
  readonly world: { readonly stringLayout: StringLayout | undefined };
}

/** Copies the thresholds from the settings. */
export function setLimits(
  limits: EncodingLimits,
  settings: Settings,
  {
    fieldCommands,
    rdbFormat,
    smallList,
    smallSet,
  }: Pick<Dialect, 'fieldCommands' | 'rdbFormat' | 'smallList' | 'smallSet'>,
): void {
  limits.packsTimes = fieldCommands === 'redis';
  limits.packsLists = smallList === 'listpack';
  limits.setMaxEntries = smallSet === 'listpack' ? settings['set-max-listpack-entries'] : 0;
  limits.countsStreams = rdbFormat.countsStreams;
  limits.sizesValues = smallSet === 'listpack';
  limits.setMaxValue = settings['set-max-listpack-value'];
  limits.hashMaxEntries = settings['hash-max-listpack-entries'];
  limits.hashMaxValue = settings['hash-max-listpack-value'];
  limits.setMaxIntset = settings['set-max-intset-entries'];
  limits.zsetMaxEntries = settings['zset-max-listpack-entries'];
  limits.zsetMaxValue = settings['zset-max-listpack-value'];
  limits.listMaxListpackSize = settings['list-max-listpack-size'];
  limits.streamNodeMaxBytes = settings['stream-node-max-bytes'];
  limits.streamNodeMaxEntries = settings['stream-node-max-entries'];
  limits.streamIdmpDuration = settings['stream-idmp-duration'];
  limits.streamIdmpMaxSize = settings['stream-idmp-maxsize'];
}

/** Notes that the entry's string has another encoding than a string that was set as a whole. */
export function noteEncoding(entry: Entry, encoding: StringEncoding): void {
  if (typeof entry.held === 'string') entry.madeAs = encoding;
}

/** Notes that an integer which a script has stored as a string is kept as its text, on servers that do so. */
export function keepText({ server }: { readonly server: TextNode }, name: Bytes, entry: Entry): void {
  const { held } = entry;
  if (server.dialect.integersOfScripts !== 'as text' || typeof held !== 'string') return;
  if (stringEncoding(held) === 'int') placeText(server.world.stringLayout, name, entry, held);
}

/** Copies that note to an entry that holds the same string, which may itself be too long to be stored with its key. */
export function carryEncoding(madeAs: StringEncoding | undefined, to: Entry): void {
  if (to.madeAs === undefined || madeAs === 'raw') to.madeAs = madeAs;
}

/** Returns the encoding of an entry's value, as reported by OBJECT ENCODING. */
export function encodingOf(entry: Entry): Bytes {
  const value = entry.held;
  if (typeof value !== 'string') return value.type === 'string' ? 'raw' : value.encoding();
  return entry.madeAs ?? stringEncoding(value);
}
