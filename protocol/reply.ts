/** Replies before they are encoded as RESP2 or RESP3: plain JavaScript values and a few small classes. */
import type { Bytes } from './bytes.ts';

/** A status line, `+OK`. */
export class SimpleString {
  readonly text: Bytes;
  constructor(text: Bytes) {
    this.text = text;
  }
}

/**
 * An error reply. `text` begins with the error's code ('WRONGTYPE …', 'ERR …'). Handlers throw it before they change
 * anything, or return it. It has no stack: to note that takes ten times as long as the whole reply, and no client sees it.
 */
export class ReplyError extends Error {
  readonly text: Bytes;
  /** The error has already been counted: a script passes on the error of a command that it called. */
  readonly counted: boolean;
  constructor(text: Bytes, counted = false) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(text);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ReplyError';
    this.text = text;
    this.counted = counted;
  }
}

/** The same error with the stack of where it is thrown at a caller in this process. */
export function traced(error: ReplyError): ReplyError {
  Error.captureStackTrace?.(error, traced);
  return error;
}

/** A floating point number: a bulk string in RESP2, `,` in RESP3. */
export class Double {
  readonly value: number;
  /** How the number is printed, if not with 17 significant digits. */
  readonly text: Bytes | undefined;
  constructor(value: number, text?: Bytes) {
    this.value = value;
    this.text = text;
  }
}

/** Alternating keys and values: a flat array in RESP2, `%` in RESP3. */
export class MapReply {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** Unordered items: an array in RESP2, `~` in RESP3. */
export class SetReply {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/**
 * Alternating first and second elements: a flat array in RESP2, an array of two-element arrays in RESP3 (ZRANGE
 * WITHSCORES).
 */
export class PairsReply {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** A message that is not a reply to a request: an array in RESP2, `>` in RESP3. */
export class PushReply {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** A text with a three-letter format: a bulk string in RESP2, `=` in RESP3. */
export class Verbatim {
  readonly format: 'txt' | 'mkd';
  readonly text: Bytes;
  constructor(format: 'txt' | 'mkd', text: Bytes) {
    this.format = format;
    this.text = text;
  }
}

/** An integer of any size: a bulk string in RESP2, `(` in RESP3. */
export class BigNumber {
  readonly digits: Bytes;
  constructor(digits: Bytes) {
    this.digits = digits;
  }
}

/** The null array: `*-1` in RESP2, `_` in RESP3 (EXEC after a failed WATCH, or a blocking command's timeout). */
export class NullArray {
  readonly items = null;
}

/**
 * A reply. A string is a bulk string, a number or bigint an integer, null a null bulk string; a boolean is `#t` or `#f`
 * in RESP3 and 1 or 0 in RESP2.
 */
export type Reply =
  | Bytes
  | number
  | bigint
  | null
  | boolean
  | readonly Reply[]
  | SimpleString
  | ReplyError
  | Double
  | MapReply
  | SetReply
  | PairsReply
  | PushReply
  | Verbatim
  | BigNumber
  | NullArray;

/** `+OK`. */
export const OK = new SimpleString('OK');
/** The reply to a request that MULTI queues. */
export const QUEUED = new SimpleString('QUEUED');
/** The reply to PING. */
export const PONG = new SimpleString('PONG');
export const NULL_ARRAY = new NullArray();
