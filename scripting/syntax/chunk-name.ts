/** How messages show where a chunk comes from. */
import { type Bytes, cString } from '../../protocol/bytes.ts';

const NAME_ROOM = 43;

/** '=name' and '@file' are shown as they are, text by its first line; all end at a NUL, as C's strings do. */
export function chunkName(text: Bytes): Bytes {
  const name = cString(text);
  if (name.startsWith('=')) return name.slice(1, 60);
  if (name.startsWith('@')) return name.length > 52 ? `...${name.slice(-51)}` : name.slice(1);
  const line = /^[^\r\n]*/.exec(name)![0].slice(0, NAME_ROOM);
  return `[string "${line}${line.length < name.length ? '...' : ''}"]`;
}
