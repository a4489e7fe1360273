/** How requests to a Redis server can end, besides a plain reply: unknown, impossible, refused for now, on too few replicas. */

/** No reply: the command may have been executed, may be executed later, or never. */
export class NoReply extends Error {
  override readonly name = 'NoReply';
}

/** The client will never send it: the request is lost, and so is every other one. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable';
}

/** The server answered an error that passes: nothing was executed, and the same request may succeed soon. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain';
}

/** What a request was answered, to how many replicas its effects are known to have come, and how many were asked for. */
export interface ReplicatedReply {
  readonly reply: unknown;
  readonly copies: number;
  readonly needed: number;
  /** Why there is no count: the connection was lost meanwhile, or the server is no primary any more (NoReply), or its error. */
  readonly cause?: Error;
}

/** A new lease is on too few replicas. */
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
