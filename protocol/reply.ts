/** What a command answers, before RESP2 or RESP3 is chosen: plain JavaScript values and a few small classes. */
import type { Bytes } from './bytes.ts';

/** A status line, `+OK`. */
export class SimpleString {
  readonly text: Bytes;
  constructor(text: Bytes) {
    this.text = text;
  }
}

/**
 * An error reply: `text` opens with its code ('WRONGTYPE …', 'ERR …'). Handlers throw it (a client's mistake,
 * found before anything changed) or return it.
 */
export class ReplyError extends Error {
  readonly text: Bytes;
  constructor(text: Bytes) {
    super(text);
    this.name = 'ReplyError';
    this.text = text;
  }
}

/** A floating point number: a bulk string in RESP2, `,` in RESP3. */
export class Double {
  readonly value: number;
  /** How it is printed, where that is not with 17 significant digits. */
  readonly text: Bytes | undefined;
  constructor(value: number, text?: Bytes) {
    this.value = value;
    this.text = text;
  }
}

/** Keys and values, alternating: a flat array in RESP2, `%` in RESP3. */
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

/** First and second, alternating: a flat array in RESP2, an array of two-element arrays in RESP3 (ZRANGE WITHSCORES). */
export class PairsReply {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** A message outside the request-reply order: an array in RESP2, `>` in RESP3. */
export class PushReply {
  readonly items: readonly Reply[];
  constructor(items: readonly Reply[]) {
    this.items = items;
  }
}

/** Text with a three-letter format: a bulk string in RESP2, `=` in RESP3. */
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

/** The absent array: `*-1` in RESP2, `_` in RESP3 (EXEC after a failed WATCH, a blocking command's time-out). */
export class NullArray {
  readonly items = null;
}

/**
 * A reply. string: bulk; number and bigint: integer; null: null bulk; boolean: `#t`/`#f` in RESP3, 1 or 0 in RESP2.
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

export const OK = new SimpleString('OK');
export const QUEUED = new SimpleString('QUEUED');
export const PONG = new SimpleString('PONG');
export const NULL_ARRAY = new NullArray();
