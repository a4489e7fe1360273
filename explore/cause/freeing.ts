/** What freed a lock, as causes and stories tell it. */
import type { Tenure, TenureEnd } from '../../lab/account/tenures.ts';
import type { WorldAccount } from './recorded.ts';
import type { CauseRequest } from './request.ts';

/** Who did it: the holder that the lock was taken from, the one that got it, a client that had it before, another one, or a server. */
export type CauseRole = 'first holder' | 'second holder' | 'former holder' | 'third party' | 'server';

/**
 * How a lock became free.
 * - `released`, `deleted`, `overwritten`, `flushed`: by a request of the holder itself, or of another client
 * - `expired`, `clock`: the lease ended, by time, or because the server's clock was changed
 * - `own clock`: the lease ended at a time that its holder had named by its own clock, which was wrong
 * - `clock of fences`: nothing was freed in vain, but fences that are times of a clock did not grow
 * - `shortened`: the lease ended early, because a request of another client had set its end to an earlier time
 * - `evicted`: the server had no memory left
 * - `lost`: a failover or a restart did not have the grant; with `request`: it did not have this end of the work
 * - `claimed`: the second holder was given the entry of a stream that the first one had
 * - `told to all`: a message told all that listen to do the work
 * - `put again`: the work of the first holder was put into a queue once more, and the second holder took it
 * - `changed`: some other request changed the key
 * - `never taken`: the first holder had no grant on the servers
 * - `together`: both grants stand; with `request`: the second holder had looked before the first one had its lock, and then took
 *   another key; nothing was freed
 * - `unknown`: nothing is known
 */
export type FreeingAct =
  | TenureEnd['how']
  | 'clock'
  | 'own clock'
  | 'clock of fences'
  | 'shortened'
  | 'claimed'
  | 'told to all'
  | 'put again'
  | 'changed'
  | 'never taken'
  | 'together'
  | 'unknown';

/** What freed the lock. */
export interface FreedBy {
  readonly how: FreeingAct;
  /** When, in milliseconds since the clients started. */
  readonly at: number;
  readonly role: CauseRole;
  /** The client that did it. */
  readonly by: string | undefined;
  readonly node: string | undefined;
  /** In words: the command, or the failover or restart that did not have it. */
  readonly what: string;
  /** The request that did it. */
  readonly request: CauseRequest | undefined;
  /** The tenure that it ended. */
  readonly tenure: Tenure | undefined;
}

/** How the clock of a node was set between two moments; undefined when it was not. */
export function jumpOf(
  node: string,
  from: number,
  to: number,
  { events }: WorldAccount['run'],
): string | undefined {
  return events.find(
    ({ who, what, detail, at }) =>
      who === node && what === 'clock' && detail.startsWith('jumps') && at >= from && at <= to,
  )?.detail;
}
