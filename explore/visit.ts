/** The visits of clients to the resources that their locks protect, and what breaks a promise about them. */

/** The name of the client that looks whether the lock can be had, when everything is over. */
export const PROBE = 'probe';

/** How a client enters a resource. */
export interface EnterOptions {
  /** The fencing token of the grant. The resource refuses tokens that are smaller than one that it has seen. */
  readonly fence?: number;
  /** True for a reader: readers may be inside together. Refused for a resource with several permits. */
  readonly shared?: boolean;
  /** How many permits the client uses; default 1. Only a resource with several permits takes more. */
  readonly permits?: number;
  /**
   * Who enters, when a client does several things at once. Two owners of one client exclude each other like two clients; one
   * owner may enter again while it is inside. Default: the async task that enters, and what it starts while it is inside.
   */
  readonly owner?: string;
  /**
   * An idempotency key, as a payment provider takes one: what the resource has done under this key, it does not do again. Later writes with
   * it are answered as the first one was, and change nothing, so the promise `once` is kept. Default: none.
   */
  readonly key?: string | undefined;
}

/** A write that reached a resource. Times are in milliseconds since the clients started. */
export interface VisitWrite {
  /** When it reached the resource. */
  readonly at: number;
  /** Whether the resource took it: false when it refused the fence, or had done it already under the key. */
  readonly taken: boolean;
  /** When the client sent it; absent for a local write, which takes no time. */
  readonly sent?: number;
}

/** One visit of a client. Times are in milliseconds since the clients started, on a clock that no fault touches. */
export interface Visit {
  /** The number of the visit, in order of entry through the whole world. */
  readonly id: number;
  /** The client's name. */
  readonly client: string;
  /** The number of the client's life: it grows when the client is killed and started again. */
  readonly life: number;
  /** The resource's name. */
  readonly resource: string;
  /** When it entered. */
  readonly from: number;
  /** When it left, or died; Infinity while it is inside. */
  to: number;
  /** The fence that it entered with. */
  readonly fence: number | undefined;
  /** True for a reader. */
  readonly shared: boolean;
  /** How many permits it uses. */
  readonly permits: number;
  /** The owner that the client named. */
  readonly owner?: string;
  /** The idempotency key that it entered with. */
  readonly key?: string;
  /** The writes that reached the resource. */
  readonly writes: VisitWrite[];
  /** How the visit ended; undefined while it lasts. */
  ended: 'left' | 'died' | undefined;
  /** True when the resource refused the client's fence at the entry. */
  readonly refused: boolean;
  /** When the client had last asked for anything that it could have got this entry by: its start, or its last exit. */
  readonly askedAfter: number;
}

/** A promise that a world has broken. */
export interface Breach {
  /** The promise, or the name of the user's function. */
  readonly promise: string;
  /** When, in milliseconds since the clients started; for a promise of the user, when the world ended. */
  readonly at: number;
  /** What was observed. */
  readonly what: string;
  /** The numbers of the visits that show it. */
  readonly visits: readonly number[];
  /** The clients whose acts show it, where a promise of the user names them. */
  readonly clients?: readonly string[];
  /** The resource that it is about, where a promise of the user names it. */
  readonly resource?: string;
  /** Events that belong to its story, where a promise of the user names them. */
  readonly events?: readonly FindingEvent[];
}

/** One event of a story. */
export interface FindingEvent {
  /** Milliseconds since the clients started. */
  readonly at: number;
  /** The client or node. */
  readonly who: string;
  /** What happened. */
  readonly text: string;
}

/** What a client does at a resource, or its message: `arrives` is a write that was sent with `send()`. */
export type VisitAct = 'enters' | 'writes' | 'arrives' | 'leaves';

/** A client has just acted at a resource. */
export interface ActAtResource {
  /** The visit of the client that acts. */
  readonly visit: Visit;
  readonly act: VisitAct;
  /** How many permits the resource has; 1 for a lock. */
  readonly permits: number;
  /** True when what it protects must be done once. */
  readonly once: boolean;
  /** All visits to the resource so far, in order of entry. */
  readonly visits: readonly Visit[];
  /** True when the client is inside and knows what it does: its process runs, and did not continue at this very moment. */
  isActive(visit: Visit): boolean;
  /** True when both visits are of one owner, which may be inside twice. */
  areOneOwner(one: Visit, other: Visit): boolean;
  /** True when the visit has done what it came for: it has written, or has left where nobody writes. */
  isDone(visit: Visit): boolean;
}
