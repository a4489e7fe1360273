/** Tells findings apart, and which of them a user has accepted: by the resource, the requests that acted, and why the promise broke. */
import { createHash } from 'node:crypto';
import type { FreedBy, FreeingAct } from './cause/freeing.ts';
import type { Cause } from './cause/reason.ts';
import { DONE_BEFORE, isEntryLate } from './cause/shape.ts';

/** What no lock with a lease can keep, as `accept` names it. */
export const LEASE_LIMITS = 'lease-limits';

/** How many digits of the hash a fingerprint has. */
const DIGITS = 10;

/** The ends of a tenure that no client can prevent, or know of in time. */
const UNAVOIDABLE: readonly FreeingAct[] = ['expired', 'clock', 'lost'];

/**
 * The fingerprint of a reason: ten hexadecimal digits. It has the resource, the kinds of the requests and the shape of the cause. It has
 * neither the promise nor the faults, so that one defect that breaks in several ways is one finding, and two defects are two.
 */
export function fingerprintOf({ resource = '', shape }: Pick<Cause, 'resource' | 'shape'>): string {
  return createHash('sha256').update(`${resource}\n${shape}`).digest('hex').slice(0, DIGITS);
}

/**
 * True for what a lease cannot keep: the first holder's tenure ended by expiry, by lost data or by a changed clock, the holder acted
 * on, and nothing else was wrong. It is none when a request of some client took the lock away, when the holder had been told that it
 * lost the lock, when its WAIT was about another connection or counted too few replicas, when it took the lock again after another had
 * had it, or renewed the other's, when it went in after its lease had ended, when the lease ended during its work although nothing
 * had hindered it, when fences did not grow, and when a job was done twice although its first run had ended before its lease, or had
 * not been noted.
 */
export function isLeaseLimit(cause: Cause): boolean {
  const { entries, freedBy, refused, retaken, unmarked, unconfirmed, misled, overrun, shape } = cause;
  if (cause.update !== undefined)
    return /^(?:expired|restart|failover)$/.test(cause.update.how) && cause.update.avoidable === undefined;
  if (
    entries.length < 2 ||
    freedBy === undefined ||
    unmarked !== undefined ||
    (refused !== undefined && refused.error === undefined) ||
    retaken !== undefined ||
    misled !== undefined ||
    unconfirmed !== undefined
  )
    return false;
  // It could have counted its lease, or taken a longer one.
  if (isEntryLate(entries, freedBy) || shape.includes(DONE_BEFORE) || overrun === true) return false;
  const isOver = UNAVOIDABLE.includes(freedBy.how) && freedBy.request === undefined;
  return (isOver || isClaimAfter(freedBy)) && !shape.startsWith('fences: ');
}

/** True for the claim of an entry of a stream that the first consumer had had for a time: it is a lease that the claimer counts. */
function isClaimAfter({ how, request }: FreedBy): boolean {
  const { name = '', words = [] } = request?.call ?? {};
  return how === 'claimed' && /^x(?:auto)?claim$/.test(name) && Number(words[4]) > 0;
}

/** Which entry of `accept` names the finding; undefined for none. */
export function acceptedBy(accept: readonly string[], cause: Cause): string | undefined {
  const fingerprint = fingerprintOf(cause);
  if (accept.includes(fingerprint)) return fingerprint;
  return accept.includes(LEASE_LIMITS) && isLeaseLimit(cause) ? LEASE_LIMITS : undefined;
}

/** Throws for an entry of `accept` that can name no finding. @param refuse makes the error */
export function checkAccept(accept: readonly unknown[], refuse: (entry: unknown) => Error): void {
  for (const each of accept)
    if (each !== LEASE_LIMITS && !(typeof each === 'string' && /^[0-9a-f]{10}$/.test(each)))
      throw refuse(each);
}
