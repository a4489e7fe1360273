/**
 * How requests to a Redis server can end, besides a plain reply: unknown outcome, impossible, temporarily refused, or
 * acknowledged by too few replicas.
 */

/** No reply came: the command may have been executed, or may still be, or never will. */
export class NoReply extends Error {
  override readonly name = 'NoReply';
}

/** The client cannot send this request, nor any other. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable';
}

/** The server replied with a temporary error: nothing was executed, and the same request may succeed soon. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain';
}

/** A reply, how many replicas acknowledged its effects, and how many were required. */
export interface ReplicatedReply {
  readonly reply: unknown;
  readonly copies: number;
  readonly needed: number;
  /** Why there is no count: NoReply when the connection was lost or the server was demoted, otherwise its error. */
  readonly cause?: Error;
}

/** Too few replicas acknowledged a new lease. */
export class TooFewCopies extends Error {
  override readonly name = 'TooFewCopies';
  readonly copies: number;
  readonly needed: number;

  constructor({ copies, needed, cause }: ReplicatedReply) {
    super(`${copies} of ${needed} replicas have it`, { cause });
    this.copies = copies;
    this.needed = needed;
  }
}
