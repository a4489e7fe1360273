/** Formats the name of a chunk for messages. */
import { type Bytes, cString } from '../../protocol/bytes.ts';

const NAME_ROOM = 43;

/** '=name' and '@file' are shown as they are, a text by its first line. All end at a NUL, like C's strings. */
export function chunkName(text: Bytes): Bytes {
  const name = cString(text);
  if (name.startsWith('=')) return name.slice(1, 60);
  if (name.startsWith('@')) return name.length > 52 ? `...${name.slice(-51)}` : name.slice(1);
  const line = /^[^\r\n]*/.exec(name)![0].slice(0, NAME_ROOM);
  return `[string "${line}${line.length < name.length ? '...' : ''}"]`;
}
