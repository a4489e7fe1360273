/** The errors that locks throw. Each names the lock and the owner, and says what to do. */

/** The base class of all lock errors. */
export class LockError extends Error {
  /** The lock's name. */
  readonly lock: string;
  /** The owner that asked: `<client id>:<owner id>`. */
  readonly owner: string;

  constructor(message: string, lock: string, owner: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.lock = lock;
    this.owner = owner;
  }
}

/** The lock was not free within `waitMs` milliseconds. Nothing was left on the server. */
export class LockTimeout extends LockError {
  constructor(lock: string, owner: string, waitMs: number) {
    super(
      `lock '${lock}' was not free within ${waitMs} ms (owner ${owner}): wait longer or try again later`,
      lock,
      owner,
    );
  }
}

/** A held lock is no longer held, though it was not released. Stop the work that it protected. */
export class LockLost extends LockError {
  constructor(lock: string, owner: string, reason: string, cause?: unknown) {
    super(
      `lock '${lock}' was lost by ${owner}: ${reason}; stop the work that it protects, another client may hold it now`,
      lock,
      owner,
      cause,
    );
  }
}

/** A release or an extension of a lock that this owner does not hold, or does not hold any more. */
export class NotOwner extends LockError {
  constructor(lock: string, owner: string) {
    super(
      `lock '${lock}' is not locked by current owner ${owner}: it was released, its lease ended, or it was never taken`,
      lock,
      owner,
    );
  }
}

/** Fewer than a majority of the servers granted a Redlock. The servers that granted it were asked to release it. */
export class QuorumFailed extends LockError {
  /** How many servers granted it. */
  readonly granted: number;
  /** How many servers make a majority. */
  readonly needed: number;

  constructor(lock: string, owner: string, granted: number, needed: number, cause?: unknown) {
    super(
      `lock '${lock}' was granted by ${granted} of the ${needed} servers it needs (owner ${owner}): ` +
        'check the servers, or try again',
      lock,
      owner,
      cause,
    );
    this.granted = granted;
    this.needed = needed;
  }
}

/** A grant reached fewer replicas than required and was rolled back; or an extended lease did, and the old lease stays valid. */
export class NotReplicated extends LockError {
  /** How many replicas acknowledged it in time. */
  readonly copies: number;
  /** How many replicas were required. */
  readonly needed: number;

  constructor(
    lock: string,
    owner: string,
    copies: number,
    needed: number,
    { cause, extending = false }: { cause?: unknown; extending?: boolean } = {},
  ) {
    const what = extending ? `the new lease of lock '${lock}'` : `lock '${lock}'`;
    const result = extending ? 'the old lease stays valid' : 'was released';
    super(
      `${what} reached ${copies} of ${needed} replicas in time and ${result} (owner ${owner}): ` +
        'check the replication links, or require fewer replicas',
      lock,
      owner,
      cause,
    );
    this.copies = copies;
    this.needed = needed;
  }
}

/** No reply came: the command may have been executed or not. What it may have done is undone in the background. */
export class OutcomeUnknown extends LockError {
  constructor(lock: string, owner: string, cause: unknown) {
    super(
      `no reply about lock '${lock}' (owner ${owner}): treat it as not held; if the request took it after all, ` +
        'it is released in the background, or ends with its lease',
      lock,
      owner,
      cause,
    );
  }
}

/** The server replied with an error that a retry does not fix, such as a key of the wrong type or a missing permission. */
export class ServerRefused extends LockError {
  constructor(lock: string, owner: string, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    super(`the server refused lock '${lock}' (owner ${owner}): ${text}`, lock, owner, cause);
  }
}

/** The client cannot send commands: it was closed, or it is in subscriber mode. */
export class ClientUnusable extends LockError {
  constructor(lock: string, owner: string, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause);
    super(
      `the client cannot send the request for lock '${lock}' (owner ${owner}): ${text.replace(/\.$/, '')}. ` +
        'Held locks end with their leases; give createLocks a client that stays connected and is not in subscriber mode',
      lock,
      owner,
      cause,
    );
  }
}

/** The number of permits was never set, or was lost or deleted: no acquisition could succeed. */
export class NotSetUp extends LockError {
  constructor(lock: string, owner: string) {
    super(
      `nobody has set the permits of '${lock}' (owner ${owner}): call trySetPermits(number) first, or acquire with ` +
        'waitForSetup: true to wait until they are set',
      lock,
      owner,
    );
  }
}

/** The locks were closed while the acquisition waited, or before it began. */
export class LocksClosed extends LockError {
  constructor(lock: string, owner: string) {
    super(`lock '${lock}' was not acquired by ${owner}: the locks were closed (Locks.close)`, lock, owner);
  }
}

/** The configuration cannot be safe, such as a Redlock with an even number of servers or the same server twice. */
export class BadConfiguration extends LockError {
  constructor(lock: string, message: string) {
    super(message, lock, '-');
  }
}
