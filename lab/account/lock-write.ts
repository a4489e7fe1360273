/** What a write says about a lock, whatever layout the lock has. */

import type { RecordedWrite } from '../timeline/record.ts';
import type { SentCommand } from './calls.ts';

/** A write about a lock. */
export interface LockWrite {
  readonly at: number;
  readonly node: string;
  readonly client: string;
  /** The key, and the name of the lock as its users know it. */
  readonly key: string;
  readonly lock: string;
  /** What tells this hold from others of the same client: the key, and the id of a permit. */
  readonly claim: string;
  /** True when others may hold the lock at the same time, for reading or with permits of their own. */
  readonly shared: boolean;
  /** True when it is a permit of a pool. */
  readonly permit?: boolean;
  /** True when the client visits a queue, and the reply says whether it is first. */
  readonly visits?: boolean;
  /** True when the permits have no names, so that no reply can be about this one. */
  readonly counted?: boolean;
  /** What stands in the key for its holder; undefined when the key names none, or is gone. In a sorted set it is named. */
  readonly holder: string | undefined;
  /** How long the lease is, in milliseconds; Infinity for a lock without an end, undefined when the write says neither. */
  readonly lease: number | undefined;
  /** True when it only changes the end of the lease. */
  readonly renews: boolean;
  /** True when it gives the lock back. */
  readonly gone: boolean;
  /** True when a client removes members that are too old: their leases are over. */
  readonly expired?: boolean;
  /** The command that wrote it; undefined when it is not known. */
  readonly call: SentCommand | undefined;
  /** What the node recorded. */
  readonly write: RecordedWrite;
}
