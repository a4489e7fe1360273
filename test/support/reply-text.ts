/** Reads RESP2 and RESP3 replies exactly: where each ends, its values with their type markers kept, and one readable line of them. */
import type { Bytes } from '../../protocol/bytes.ts';

/**
 * A reply as it stood on the wire: its marker and its text (`['$', 'abc']`), null for the RESP2 nulls, or its elements.
 * A map's elements alternate; an attribute holds its pairs and, last, the reply it belongs to.
 */
export type RawReply = readonly [marker: string, value: Bytes | null | readonly RawReply[]];

const BLOBS = '$=!';
const AGGREGATES = '*~>%|';
const LINES = '+-:,#(_';

interface Line {
  readonly marker: string;
  readonly text: Bytes;
  /** Behind the line's CRLF. */
  readonly end: number;
}

/** The line that starts at `from`; undefined when its end has not come. Throws when it is no reply. */
function lineAt(bytes: Bytes, from: number): Line | undefined {
  const stop = bytes.indexOf('\r\n', from);
  if (stop < 0) return undefined;
  const marker = bytes.charAt(from);
  if (!(BLOBS + AGGREGATES + LINES).includes(marker)) {
    throw new Error(`no reply starts with ${JSON.stringify(bytes.slice(from, from + 40))}`);
  }
  return { marker, text: bytes.slice(from + 1, stop), end: stop + 2 };
}

/** How many replies the aggregate's head announces. */
function countOf({ marker, text }: Line): number {
  const count = lengthOf(text);
  if (marker === '%') return 2 * count;
  return marker === '|' ? 2 * count + 1 : Math.max(0, count);
}

function lengthOf(text: Bytes): number {
  if (!/^(-1|\d+)$/.test(text)) throw new Error(`not a length: ${JSON.stringify(text)}`);
  return Number.parseInt(text, 10); // tidy-allow: bytes (checked above)
}

/** Where the reply that starts at `from` ends; -1 while it is incomplete. Throws when it is no reply. */
export function replyEnd(bytes: Bytes, from: number): number {
  let at = from;
  for (let missing = 1; missing > 0; missing--) {
    const line = lineAt(bytes, at);
    if (line === undefined) return -1;
    at = line.end;
    if (AGGREGATES.includes(line.marker)) missing += countOf(line);
    else if (BLOBS.includes(line.marker) && line.text !== '-1') at += lengthOf(line.text) + 2;
    if (at > bytes.length) return -1;
  }
  return at;
}

/** The values of one complete reply, nested as deep as it likes. */
export function readReply(bytes: Bytes): RawReply {
  const top: RawReply[] = [];
  const open: { into: RawReply[]; missing: number }[] = [{ into: top, missing: 1 }];
  let at = 0;
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    if (frame.missing === 0) {
      open.pop();
      continue;
    }
    frame.missing--;
    const line = lineAt(bytes, at);
    if (line === undefined) throw new Error('an incomplete reply');
    at = line.end;
    if (line.text === '-1' && (line.marker === '$' || line.marker === '*')) {
      frame.into.push([line.marker, null]);
    } else if (AGGREGATES.includes(line.marker)) {
      const into: RawReply[] = [];
      frame.into.push([line.marker, into]);
      open.push({ into, missing: countOf(line) });
    } else if (BLOBS.includes(line.marker)) {
      const end = at + lengthOf(line.text);
      frame.into.push([line.marker, bytes.slice(at, end)]);
      at = end + 2;
    } else {
      frame.into.push([line.marker, line.text]);
    }
  }
  return top[0]!;
}

/**
 * A reply as one line of ASCII that loses nothing: "bulk", :1, +OK, -ERR, nil (RESP3), nil$ and nil* (RESP2), [array],
 * %[map], ~[set], >[push]. `sorted` puts the elements of every aggregate in order.
 */
export function printReply([marker, value]: RawReply, sorted = false): string {
  if (marker === '_') return 'nil';
  if (value === null) return `nil${marker}`;
  if (marker === '$') return `"${escapeText(value as Bytes).replace(/"/g, '\\"')}"`;
  if (typeof value === 'string') return escapeText(marker + value);
  const items = value.map((item) => printReply(item, sorted));
  if (sorted) items.sort();
  return `${marker === '*' ? '' : marker}[${items.join(' ')}]`;
}

function escapeText(text: Bytes): string {
  return text.replace(/[^ -~]|\\/g, (char) =>
    char === '\\' ? '\\\\' : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** A multibulk request of the given words. */
export function request(...words: readonly Bytes[]): Bytes {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}
