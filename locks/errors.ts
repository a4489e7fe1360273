/** What can go wrong with a lock, as types: each error names the key and the owner, and says what to do. */

/** The base of every error of this folder. */
export class LockError extends Error {
  /** The lock's name. */
  readonly lock: string;
  /** Who asked: `<client id>:<owner id>`, or the token. */
  readonly owner: string;

  constructor(message: string, lock: string, owner: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.lock = lock;
    this.owner = owner;
  }
}

/** The lock was not to be had within `waitMs`. Nothing was left behind: wait longer, or come back later. */
export class LockTimeout extends LockError {
  constructor(lock: string, owner: string, waitMs: number) {
    super(
      `lock '${lock}' was not free within ${waitMs} ms (owner ${owner}): wait longer or try again later`,
      lock,
      owner,
    );
  }
}

/** A lock that was held is held no longer, though nobody released it. Stop the work it protected. */
export class LockLost extends LockError {
  constructor(lock: string, owner: string, reason: string, cause?: unknown) {
    super(
      `lock '${lock}' was lost by ${owner}: ${reason}; stop what it protected, others may be at it`,
      lock,
      owner,
      cause,
    );
  }
}

/** Somebody tried to release or extend what is not his (any more). */
export class NotOwner extends LockError {
  constructor(lock: string, owner: string) {
    super(
      `lock '${lock}' is not locked by current owner ${owner}: it was released, its lease ended, or it was never taken`,
      lock,
      owner,
    );
  }
}

/** Fewer than a majority of the independent servers granted a Redlock. What was taken has been given back. */
export class QuorumFailed extends LockError {
  readonly granted: number;
  readonly needed: number;

  constructor(lock: string, owner: string, granted: number, needed: number, cause?: unknown) {
    super(
      `lock '${lock}' got ${granted} of the ${needed} servers it needs (owner ${owner}): check the servers, or try again`,
      lock,
      owner,
      cause,
    );
    this.granted = granted;
    this.needed = needed;
  }
}

/** A grant reached fewer replicas than asked for, and was rolled back; or a new lease did, and the old one stands. */
export class NotReplicated extends LockError {
  readonly copies: number;
  readonly needed: number;

  constructor(
    lock: string,
    owner: string,
    copies: number,
    needed: number,
    { cause, extending = false }: { cause?: unknown; extending?: boolean } = {},
  ) {
    const what = extending ? `the new lease of lock '${lock}'` : `lock '${lock}'`;
    const result = extending ? 'the old lease stands' : 'was given back';
    super(
      `${what} reached ${copies} of ${needed} replicas in time and ${result} (owner ${owner}): ` +
        'look at the replication links, or ask for fewer replicas',
      lock,
      owner,
      cause,
    );
    this.copies = copies;
    this.needed = needed;
  }
}

/** No answer came: the command may have been executed or not. What it may have done is being undone by token. */
export class OutcomeUnknown extends LockError {
  constructor(lock: string, owner: string, cause: unknown) {
    super(
      `no answer about lock '${lock}' (owner ${owner}): it counts as not held; what the request may have left ` +
        'is released by token, or ends with its lease',
      lock,
      owner,
      cause,
    );
  }
}

/** The server answered with an error that trying again does not cure (wrong type of key, no permission, …). */
export class ServerRefused extends LockError {
  constructor(lock: string, owner: string, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    super(`the server refused lock '${lock}' (owner ${owner}): ${text}`, lock, owner, cause);
  }
}

/** The client cannot be asked: it was closed, or it listens to channels and can do nothing else. */
export class ClientUnusable extends LockError {
  constructor(lock: string, owner: string, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    super(
      `the client cannot be asked about lock '${lock}' (owner ${owner}): ${text} What is held ends with its lease; ` +
        'give createLocks a client that is connected, stays so, and subscribes to nothing',
      lock,
      owner,
      cause,
    );
  }
}

/** Nobody has set the number of permits (or it was lost, or deleted): nobody would ever get one. */
export class NotSetUp extends LockError {
  constructor(lock: string, owner: string) {
    super(
      `nobody has set the permits of '${lock}' (owner ${owner}): call trySetPermits(number) first, or acquire with ` +
        'waitForSetup: true to wait until somebody does',
      lock,
      owner,
    );
  }
}

/** The set of locks was closed while somebody waited, or before he asked. */
export class LocksClosed extends LockError {
  constructor(lock: string, owner: string) {
    super(`lock '${lock}' was not acquired by ${owner}: its set of locks is closed`, lock, owner);
  }
}

/** The locks were set up in a way that cannot be safe (an even number of Redlock servers, a server twice, …). */
export class BadConfiguration extends LockError {
  constructor(lock: string, message: string) {
    super(message, lock, '-');
  }
}
