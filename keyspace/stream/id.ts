/** The ids of stream entries: a 64-bit time in milliseconds and a 64-bit sequence number. */
import { type Bytes, cString, type Millis, narrow } from '../../protocol/bytes.ts';

/** An id as one 128-bit number with the milliseconds in the upper half, so that ids compare like numbers. */
export type StreamId = bigint;

const HALF = 64n;
const HALF_MAX = 0xffffffffffffffffn;

/** The smallest id, 0-0. */
export const MIN_ID: StreamId = 0n;
/** The largest id. */
export const MAX_ID: StreamId = (HALF_MAX << HALF) | HALF_MAX;

/** An id from its milliseconds and sequence number. */
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

// The id that was made last, and its halves. To cut and to print a bigint takes longer than the rest of XADD.
let latest: StreamId = MIN_ID;
let latestMillis = 0;
let latestSequence = 0;

/** The milliseconds of an id as a number; NaN if that is not exact. */
export function millisOf(id: StreamId): number {
  return id === latest ? latestMillis : exactly(idMillis(id));
}

/** The sequence number of an id as a number; NaN if that is not exact. */
export function sequenceOf(id: StreamId): number {
  return id === latest ? latestSequence : exactly(idSequence(id));
}

function exactly(value: bigint): number {
  const number = narrow(value);
  return typeof number === 'number' ? number : NaN;
}

/** An id as Redis prints it: `1526919030474-55`. */
export function formatId(id: StreamId): Bytes {
  if (id === latest) return `${latestMillis}-${latestSequence}`;
  return `${id >> HALF}-${id & HALF_MAX}`;
}

/** The numbers that C's strtoull reads, with optional leading blanks and plus sign. */
const NUMBER = '[\\t-\\r ]*\\+?(\\d+)';
const ID = new RegExp(`^${NUMBER}(?:-(?:${NUMBER}|(\\*)))?$`);
/** A longer text is never an id. */
const TEXT_MAX = 127;

/** An id as a client wrote it. With XADD's `ms-*`, the stream chooses the sequence number. */
export interface IdParts {
  readonly ms: bigint;
  readonly sequence: bigint | undefined;
}

/**
 * Parses `ms-seq`, `ms-*`, or `ms`, which means `ms-<missing>`; undefined for anything else. The caller handles '-',
 * '+', '*' and '$'.
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

/** Parses a complete id, or one without a sequence number. */
export function parseId(text: Bytes, missing = 0n): StreamId | undefined {
  const parts = parseIdParts(text, missing);
  return parts?.sequence === undefined ? undefined : makeId(parts.ms, parts.sequence);
}

/** The next id; undefined after the last one. */
export function nextId(id: StreamId): StreamId | undefined {
  return id === MAX_ID ? undefined : id + 1n;
}

/** The previous id; undefined before the first one. */
export function previousId(id: StreamId): StreamId | undefined {
  return id === MIN_ID ? undefined : id - 1n;
}

/**
 * The id that `*` gives to an entry: the current millisecond, or the id after the last one; undefined when no id is
 * left.
 */
export function autoId(last: StreamId, now: Millis): StreamId | undefined {
  const millis = millisOf(last);
  if (now > millis) return noted(makeId(now, 0), now, 0);
  const next = nextId(last);
  const sequence = sequenceOf(last) + 1;
  const isExact = next !== undefined && !Number.isNaN(millis) && Number.isSafeInteger(sequence);
  return isExact ? noted(next, millis, sequence) : next;
}

function noted(id: StreamId, millis: number, sequence: number): StreamId {
  latest = id;
  latestMillis = millis;
  latestSequence = sequence;
  return id;
}

/** An id as Redis stores it: 16 bytes, most significant first. */
export function idBytes(id: StreamId): Bytes {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeBigUInt64BE(idMillis(id), 0);
  bytes.writeBigUInt64BE(idSequence(id), 8);
  return bytes.latin1Slice();
}
