/** The ids of stream entries: milliseconds and a sequence number, 64 bits each. */
import { type Bytes, cString, type Millis, narrow } from '../../protocol/bytes.ts';

/** An id as one number of 128 bits, milliseconds above: ids compare as numbers do. */
export type StreamId = bigint;

const HALF = 64n;
const HALF_MAX = 0xffffffffffffffffn;

export const MIN_ID: StreamId = 0n;
export const MAX_ID: StreamId = (HALF_MAX << HALF) | HALF_MAX;

export function makeId(ms: number | bigint, seq: number | bigint): StreamId {
  return (BigInt(ms) << HALF) | BigInt(seq);
}

/** The milliseconds of an id. */
export function idMillis(id: StreamId): bigint {
  return id >> HALF;
}

/** The sequence number of an id. */
export function idSequence(id: StreamId): bigint {
  return id & HALF_MAX;
}

/** An id as Redis prints it, `1526919030474-55`. */
export function formatId(id: StreamId): Bytes {
  return `${id >> HALF}-${id & HALF_MAX}`;
}

/** What C's strtoull reads: blanks and a plus sign may come first. */
const NUMBER = '[\\t-\\r ]*\\+?(\\d+)';
const ID = new RegExp(`^${NUMBER}(?:-(?:${NUMBER}|(\\*)))?$`);
/** Longer texts are no ids, whatever they say. */
const TEXT_MAX = 127;

/** An id as a client wrote it; XADD's `ms-*` leaves the sequence to the stream. */
export interface IdParts {
  readonly ms: bigint;
  readonly sequence: bigint | undefined;
}

/**
 * Reads `ms-seq`, `ms-*`, or `ms` alone, which stands for `ms-<missing>`; undefined for anything else ('-', '+', '*'
 * and '$' are the caller's).
 */
export function parseIdParts(text: Bytes, missing: bigint): IdParts | undefined {
  const parts = text.length > TEXT_MAX ? null : ID.exec(cString(text));
  if (parts === null) return undefined;
  const [, first, second, star] = parts;
  const ms = BigInt(first!);
  const sequence = second === undefined ? missing : BigInt(second);
  if (ms > HALF_MAX || sequence > HALF_MAX) return undefined;
  return { ms, sequence: star === undefined ? sequence : undefined };
}

/** Reads an id that is complete but for a missing sequence. */
export function parseId(text: Bytes, missing = 0n): StreamId | undefined {
  const parts = parseIdParts(text, missing);
  return parts?.sequence === undefined ? undefined : makeId(parts.ms, parts.sequence);
}

/** The id after this one; undefined after the last. */
export function nextId(id: StreamId): StreamId | undefined {
  return id === MAX_ID ? undefined : id + 1n;
}

/** The id before this one; undefined before the first. */
export function previousId(id: StreamId): StreamId | undefined {
  return id === MIN_ID ? undefined : id - 1n;
}

/** The id that `*` gives an entry: of the present millisecond, and after the last; undefined when ids are used up. */
export function autoId(last: StreamId, now: Millis): StreamId | undefined {
  return BigInt(now) > idMillis(last) ? makeId(now, 0) : nextId(last);
}

/** An id as Redis stores it: 16 bytes, most significant first. */
export function idBytes(id: StreamId): Bytes {
  let bytes = '';
  for (let shift = 120n; shift >= 0n; shift -= 8n) {
    bytes += String.fromCharCode(narrow((id >> shift) & 0xffn) as number);
  }
  return bytes;
}
