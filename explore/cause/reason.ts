/** What is known of why a promise broke. */
import type { Tenure } from '../../lab/account/tenures.ts';
import type { LockWaiter } from '../../lab/account/waiting.ts';
import type { FreedBy } from './freeing.ts';
import type { LeftLock, LostWrite } from './left.ts';
import type { CauseRequest } from './request.ts';
import type { LateMessage, SentTwice, ServerErrors } from './trouble.ts';

/** A request that let a client enter. Times are in milliseconds since the clients started. */
export interface CauseGrant extends CauseRequest {
  /** The number of the visit; -1 for a client that did not enter. */
  readonly visit: number;
  /** The name of the lock; undefined when the client had none. */
  readonly lock: string | undefined;
  /** When the lease ends if nobody renews it; undefined without a lease. */
  readonly until: number | undefined;
  /** The tenures that it began, one for each node; empty when the request took no lock. */
  readonly tenures: readonly Tenure[];
}

/** A visit that is part of the breach. */
export interface CauseEntry {
  /** The number of the visit. */
  readonly visit: number;
  readonly client: string;
  readonly at: number;
  /** When the client left, or Infinity. */
  readonly to: number;
  /** The fence that it entered with. */
  readonly fence?: number;
}

/** A client that waits, and has not asked again. */
export interface SilentClient {
  readonly client: string;
  /** Its last request; undefined when it has sent none. */
  readonly last: CauseRequest | undefined;
  /** True when that was a subscription. */
  readonly subscribed: boolean;
}

/** An update that was lost. */
export interface LostUpdate {
  /**
   * - `expired`, `restart`, `failover`: the lock or the value was gone, because its lease had ended or a node had lost it
   * - `unread`: a client did not read that its EXEC was refused
   * - `apart`: an EXEC went over another connection than its WATCH
   * - `between`: a write replaced what had been written since its client had read
   */
  readonly how: 'expired' | 'restart' | 'failover' | 'unread' | 'apart' | 'between';
  /** The client whose lock or value was gone, or whose request replaced the update of the other. */
  readonly client: string;
  readonly request: CauseRequest | undefined;
  /** The key whose lease ended, the node that lost it, or the request whose write was replaced. */
  readonly what: string;
  /** When the lock or the value was gone, in milliseconds since the clients started. */
  readonly at?: number;
  /**
   * Why the lease of the lock is no excuse: it was shorter than the work, although nothing hindered its client, or it had ended before
   * the client read. Undefined where it is one.
   */
  readonly avoidable?: 'short' | 'late';
}

/** Work that was done, but not noted as done. */
export interface UnmarkedEnd {
  readonly request: CauseRequest;
  /** The code of the error that answered it, such as OOM; undefined when it never arrived. */
  readonly error: string | undefined;
}

/** A WAIT that did not say that replicas have the lock: it counts those that have what its own connection has written. */
export interface EmptyConfirmation {
  readonly request: CauseRequest;
  /** It counted too few, it was sent again because its first connection had broken, or it went over another connection. */
  readonly why: 'few' | 'again' | 'apart';
}

/** Why a promise broke, as far as it can be known. Times are in milliseconds since the clients started. */
export interface Cause {
  /** The resource, or the lock where no visit is part of the breach; undefined when it is neither. */
  readonly resource: string | undefined;
  /** The clients whose acts make the breach, in the order of the grants; then the one that freed the lock. */
  readonly clients: readonly string[];
  /** The requests that let clients enter, in the order in which they were executed. */
  readonly grants: readonly CauseGrant[];
  /** The visits, in the order of the grants. */
  readonly entries: readonly CauseEntry[];
  /** What freed the lock; undefined when no lock was taken from anybody. */
  readonly freedBy: FreedBy | undefined;
  /**
   * The first holder's renewal that did not renew, although it went on; undefined when there is none. `error` is the code of the error that
   * answered it.
   */
  readonly refused: (CauseRequest & { readonly error?: string }) | undefined;
  /** The first holder's request that took the lock again after the second holder had had it, while the first was still inside. */
  readonly retaken?: CauseRequest;
  /** The first holder's renewal that renewed the second holder's lock, and told the first one that all was well. */
  readonly misled?: CauseRequest;
  /** Set when the first holder's lease ended during its work although no fault struck the holder or a server, and no message was late. */
  readonly overrun?: true;
  /** The request by which a client noted that its work was done, and which had no effect; undefined when there is none. */
  readonly unmarked?: UnmarkedEnd;
  /** A WAIT that the first holder believed, and that said nothing about its lock; undefined when there is none. */
  readonly unconfirmed?: EmptyConfirmation;
  /** A second deployment that used a token of the client whose names it has; undefined when there is none. */
  readonly namesake?: { readonly client: string; readonly twin: string };
  /** A lock that was left closed. */
  readonly left: LeftLock | undefined;
  /** What a client waits for in vain. */
  readonly waiter: LockWaiter | undefined;
  /** A client that waits in vain, because it does not ask; undefined when there is none. */
  readonly silent?: SilentClient;
  /** A write that a server refused and its client did not repeat, where nothing else explains what is closed; undefined without one. */
  readonly neglected?: UnmarkedEnd;
  /** How an update was lost; undefined for other promises. */
  readonly update?: LostUpdate;
  /** An acknowledged write that was lost. */
  readonly lost: LostWrite | undefined;
  /** Requests that were executed twice. */
  readonly twice: readonly SentTwice[];
  /** The messages that were late. */
  readonly late: readonly LateMessage[];
  /** Errors that servers answered before the breach. */
  readonly errors: readonly ServerErrors[];
  /** The reason without times, names, tokens and kinds of faults: worlds that break for one reason have the same text. */
  readonly shape: string;
}

/** A cause without its shape. */
export type Reason = Omit<Cause, 'shape'>;
