/** Says whose fault a broken promise is, and what would have prevented it. */
import { BOTH_STAND } from '../cause/freed.ts';
import type { FreedBy } from '../cause/freeing.ts';
import { REFUSED } from '../cause/left.ts';
import type { Cause, LostUpdate } from '../cause/reason.ts';
import { DONE_BEFORE, isEntryLate } from '../cause/shape.ts';
import type { Breach } from '../visit.ts';

/** True when servers that do not know of each other granted one lock. */
export function isApart({ what }: FreedBy): boolean {
  return what.startsWith('different servers');
}

/** What heals whatever does work twice. */
const IDEMPOTENCY_KEY = 'an idempotency key, such as the id of the job, where its effect is';
const OWN_TOKEN = 'a token that no other acquisition has, such as a random one';
const COMPARED = 'a release that compares the token of its own grant, and deletes the key in the same script';
const LATER_END = 'a request that only sets a later end, such as PEXPIRE GT';
const OWN_LEASE = 'a request that compares the token of its own grant, and sets the lease in the same script';
const RENEWAL = 'a renewal that compares the token, and sets the lease in the same script';
const NEW_TOKEN = 'a new token for each acquisition, which the release compares';
const LATE_RELEASE = 'a release after the last act under the lock, and no act after it';
const OWN_WAIT =
  'WAIT on the connection that took the lock, and the lock taken anew when that connection breaks: a client must not send WAIT again';
const ENOUGH = 'to go in only when WAIT counts enough replicas, and to give the lock back when it does not';
const PUT_ONCE =
  'a script that looks whether the work is still to be done, or the token still missing, before it puts it into the queue';
const LATE_CLAIM = [
  'a claim only after a time that is longer than the work, or renewals of the claim (XCLAIM JUSTID)',
  IDEMPOTENCY_KEY,
];
const FENCE = 'a fencing token that the resource checks';
const COUNTED = 'to count the lease from when the request was sent, and not to go in when it is over';
const LONGER_LEASE = 'a longer lease, or a renewal while the work goes on';

/** What would have prevented it; empty when that is not known. */
export function preventionOf(cause: Cause, { promise }: Pick<Breach, 'promise'>): string {
  const cures = curesOf(cause);
  if (promise !== 'once') return cures.join('; ');
  // A fence does not help: the client that repeats the work has a newer one.
  const others = cures.filter((cure) => cure !== FENCE && cure !== IDEMPOTENCY_KEY);
  return [IDEMPOTENCY_KEY, ...others].join('; ');
}

/** Cures, each of which is enough, and what makes the harm rarer. */
function curesOf(cause: Cause): readonly string[] {
  const { freedBy, left, lost, namesake } = cause;
  if (namesake !== undefined)
    return [
      'a token that no other process has: a random one for each acquisition, and no name of a machine or client',
    ];
  if (left !== undefined) return [cureOfLeft(cause)];
  if (cause.silent !== undefined)
    return cause.silent.last?.answered === null && !cause.silent.subscribed
      ? ['a time limit for each request, after which the client connects and asks again']
      : ['a time limit for what the client waits for, after which it looks again'];
  if (lost !== undefined)
    return lost.by === 'failover'
      ? ['WAIT after the write, and an error when too few replicas have it']
      : ['appendfsync always, or a disk that keeps what was acknowledged'];
  if (cause.update !== undefined) return curesOfUpdate(cause.update);
  if (cause.neglected !== undefined) return ['to send a refused request again until it is done'];
  if (freedBy === undefined) return [];
  if (cause.shape.startsWith('fences: ')) return freedBy.how === 'lost' ? FENCE_COUNTER : [OWN_FENCE];
  if (freedBy.how === 'own clock')
    return [
      'a lease that is a length of time, which the server counts: PX, and no time of a client such as PXAT',
    ];
  if (cause.unconfirmed === undefined) return curesOfFreed(cause, freedBy);
  return [cause.unconfirmed.why === 'few' ? ENOUGH : OWN_WAIT];
}

function curesOfUpdate({ how, avoidable }: LostUpdate): readonly string[] {
  const script = 'a script that compares what was read, and sets the new value';
  switch (how) {
    case 'restart':
      return ['appendfsync always on a disk that is kept'];
    case 'failover':
      return ['WAIT after the write makes it rarer'];
    case 'unread':
      return ['to begin anew when EXEC is answered nil', script];
    default:
      if (avoidable === undefined) return [script];
      return [avoidable === 'late' ? COUNTED : LONGER_LEASE, script];
  }
}

function faultOfUpdate({ how, client, avoidable }: LostUpdate): string {
  switch (how) {
    case 'restart':
      return RESTARTS;
    case 'failover':
      return COPIES;
    case 'expired':
      if (avoidable === 'late') return tooLate(client);
      return avoidable === 'short' ? tooShort(client) : STANDING_STILL;
    case 'unread':
      return `the code of ${client}, which does not look at the reply`;
    case 'apart':
      return `the code of ${client} or its Redis client, which sends a transaction again without its WATCH`;
    default:
      return `the code of ${client}, which reads and writes in two requests`;
  }
}

const STANDING_STILL = 'a limit of leases, which end while their holders stand still';

function tooLate(client: string): string {
  return `the code of ${client}, which does not look at the time`;
}

function tooShort(client: string): string {
  return `the code of ${client}, whose lease is shorter than its work`;
}

/** Why servers lose what they have acknowledged. */
const RESTARTS = 'the server, which restarts without its data';
const COPIES = 'the servers, which copy to replicas after they answer';

function curesOfFreed(cause: Cause, freedBy: FreedBy): readonly string[] {
  const { retaken, twice, shape } = cause;
  if (cause.unmarked !== undefined)
    return [
      'to note that the work is done, and to try again until that is noted, before another can take the work',
    ];
  if (shape.includes(DONE_BEFORE)) return [];
  if (retaken !== undefined)
    return ['a renewal that only renews: when the key is gone, the lock is lost, and its holder must stop'];
  if (cause.misled !== undefined) return [RENEWAL];
  if (wentOn(cause)) return ['to stop as soon as a renewal finds that the lock is gone'];
  const isRepeated = twice.some(({ again }) => again.call === freedBy.request?.call);
  switch (freedBy.how) {
    case 'deleted':
      return [hasOneToken(freedBy) ? OWN_TOKEN : COMPARED];
    case 'shortened':
      return [freedBy.tenure === undefined ? LATER_END : OWN_LEASE];
    case 'flushed':
      return ['a database of their own for locks, which nobody flushes'];
    case 'released':
      return [isRepeated ? NEW_TOKEN : LATE_RELEASE];
    case 'claimed':
      return LATE_CLAIM;
    case 'told to all':
      return ['a queue, or a group of a stream, which gives each piece of work to one client'];
    case 'put again':
      return isRepeated ? [] : [PUT_ONCE];
    case 'overwritten':
      return isAcquisition(cause, freedBy)
        ? ['SET NX, which the server refuses while another has the lock']
        : [RENEWAL];
    case 'changed':
      return isRepeated
        ? ['a request that does no harm when it is executed twice: a script that looks first what is there']
        : ['a release that looks whether the caller still has the lock'];
    case 'expired':
      return curesOfExpired(cause, freedBy);
    case 'clock':
      return [FENCE, "servers' clocks that are never set"];
    case 'evicted':
      return ['maxmemory-policy noeviction on the server of the locks'];
    case 'lost':
      return curesOfLost(cause, freedBy);
    case 'never taken':
      return ['to go in only after a reply that grants the lock, and never after an error'];
    case 'together':
      return [cureOfTogether(cause, freedBy)];
    default:
      return [];
  }
}

/** True for a release that compared a token, and found it in the lock of another client. */
export function hasOneToken({ how, request, tenure }: FreedBy): boolean {
  return (
    how === 'deleted' && tenure !== undefined && request?.call.words.slice(1).includes(tenure.holder) === true
  );
}

/** True for a holder that went on although a renewal had told it that its lock was gone. */
function wentOn({ refused, freedBy }: Cause): boolean {
  return (
    refused !== undefined &&
    refused.error === undefined &&
    /^(?:expired|clock|lost|evicted)$/.test(freedBy?.how ?? '') &&
    freedBy?.request === undefined
  );
}

function curesOfExpired({ refused, entries, overrun }: Cause, freedBy: FreedBy): readonly string[] {
  if (refused?.error !== undefined)
    return ['to try a refused renewal again, and to stop before the lease ends when none succeeds'];
  if (isSameFence(entries)) return [OWN_FENCE];
  if (overrun === true) return [LONGER_LEASE, FENCE];
  return isEntryLate(entries, freedBy) ? [COUNTED] : [FENCE, 'a longer lease or a renewal makes it rarer'];
}

function curesOfLost({ entries }: Cause, freedBy: FreedBy): readonly string[] {
  if (isSameFence(entries)) return FENCE_COUNTER;
  return isRestart(freedBy)
    ? ['appendfsync always on a disk that is kept, or a restart only after the longest lease', FENCE]
    : [FENCE, 'WAIT before going in makes it rarer'];
}

function cureOfTogether(cause: Cause, freedBy: FreedBy): string {
  if (freedBy.request !== undefined) return 'a script that looks whether the lock is free, and takes it';
  if (isApart(freedBy)) return 'a grant only by more than half of the servers, or one server for all';
  if (freedBy.what !== BOTH_STAND) return 'one key for all clients that need the same resource';
  return isPool(cause)
    ? 'a script that counts the permits that are taken, compares the count with the limit, and takes one'
    : 'a request that takes the lock only while nobody has it, such as SET NX';
}

const FENCE_COUNTER = [
  'a counter of fences that a failover or a restart cannot set back',
  'WAIT before the fence is used makes it rarer',
];

const OWN_FENCE = 'a fence that is drawn by the request that takes the lock, from a counter that only grows';

/** True when the resource has several permits. */
function isPool({ entries, grants }: Cause): boolean {
  return entries.length > 2 || grants.some(({ tenures }) => tenures.some(({ permit }) => permit));
}

/** True when the newer holder came with no greater fence than the older one. */
export function isSameFence(entries: Cause['entries']): boolean {
  const [older, newer] = [entries[0]?.fence, entries.at(-1)?.fence];
  return older !== undefined && newer !== undefined && newer <= older;
}

/** False when a former holder renewed a lock that it had lost, with a request of another kind than those that take the lock. */
function isAcquisition({ grants }: Cause, { role, request }: FreedBy): boolean {
  return role !== 'former holder' || grants.some(({ kind }) => kind === request?.kind);
}

/** Commands that take an element out, and keep it nowhere. */
const POPS = /^(?:b?[lr]pop|b?zpopm(?:in|ax)|spop)$/i;

function cureOfLeft({ left }: Cause): string {
  const { endless, bared, renewedByOthers, isRenewed, why, grant, cycle, isPlace } = left as NonNullable<
    typeof left
  >;
  if (cycle !== undefined)
    return 'one order in which all clients take these locks, or a client that gives up what it has when it does not get the next';
  if (renewedByOthers && (bared === undefined || bared.client === left?.client))
    return 'a lease set by the command that takes the lock, and a renewal that compares the token in a script';
  if (why === REFUSED) return 'a script that counts only while there is room';
  if (bared !== undefined) return 'a lease, set by each command that writes the lock: SET XX PX';
  if (isPlace)
    return 'to leave the line when a client stops waiting, and places that end by themselves, such as scores that are deadlines';
  if (endless && POPS.test(grant?.kind ?? ''))
    return 'BLMOVE, which keeps what was taken in a second list, and a client that puts back what has been there too long';
  if (endless) return 'a lease, set by the command that takes the lock: SET NX PX';
  if (isRenewed) return 'renewals that end with the work, also when an error ends it';
  return /answered/.test(why)
    ? 'to try the release again until it is done, or a shorter lease'
    : 'a shorter lease';
}

function isRestart({ what }: FreedBy): boolean {
  return what.startsWith('the restart');
}

/** Whose fault it is: code, servers, or a limit that every lease has; empty when that is not known. */
export function faultOf(cause: Cause): string {
  const { freedBy, left, lost, waiter, namesake } = cause;
  if (namesake !== undefined)
    return `the code of ${namesake.client}, whose token is made of names that another process has too`;
  if (left !== undefined) return faultOfLeft(cause);
  if (waiter !== undefined) return `the code of ${waiter.client}, which relies on being woken`;
  if (cause.silent !== undefined)
    return cause.silent.last?.answered === null && !cause.silent.subscribed
      ? `the code of ${cause.silent.client} or its Redis client, which does not ask again`
      : `the code of ${cause.silent.client}, which waits and does not look again`;
  if (cause.update !== undefined) return faultOfUpdate(cause.update);
  if (lost !== undefined) return lost.by === 'failover' ? COPIES : 'the disk of the server';
  if (cause.neglected !== undefined)
    return `the code of ${cause.neglected.request.client}, which does not send its ${cause.neglected.request.kind} again`;
  return freedBy === undefined ? '' : faultOfFreed(cause, freedBy);
}

function faultOfFreed(cause: Cause, freedBy: FreedBy): string {
  const { entries } = cause;
  const retaken = cause.retaken ?? cause.misled;
  const [older, newer] = [entries[0]?.client ?? '', entries.at(-1)?.client ?? ''];
  if (retaken !== undefined) return `the code of ${older}: its ${retaken.kind}`;
  const { how, by, request, role, node } = freedBy;
  if (cause.unmarked !== undefined)
    return `the code of ${older}, which goes on although nobody has noted that its work is done`;
  if (cause.shape.includes(DONE_BEFORE))
    return `the code, for which the work must be done once: ${older} had done it, and a ${how === 'claimed' ? 'stream gives an entry again until it is acknowledged' : 'lock does not remember work that is done'}`;
  if (cause.shape.startsWith('fences: ') && how === 'lost')
    return 'the counter of fences, which is kept where a failover or a restart can set it back';
  if (cause.shape.startsWith('fences: '))
    return how === 'clock of fences'
      ? 'the code, whose fences are times of a clock'
      : 'the code, whose fences do not tell the two holders apart';
  if (how === 'own clock') return `the code of ${by}, which names the end of its lease by its own clock`;
  if (cause.unconfirmed !== undefined)
    return `the code of ${older}, ${cause.unconfirmed.why === 'few' ? 'which does not look at the reply' : 'whose WAIT says nothing about its lock'}`;
  if (wentOn(cause)) return `the code of ${older}, which does not look at the reply`;
  switch (how) {
    case 'deleted':
    case 'shortened':
    case 'overwritten':
    case 'flushed':
    case 'released':
    case 'put again':
    case 'changed':
      return by === undefined ? '' : `the code of ${by}: its ${request?.kind ?? freedBy.what}`;
    case 'told to all':
      return 'the code, which does once what a message tells all';
    case 'claimed':
      return `the code of ${by ?? newer}, whose ${request?.kind ?? 'request'} takes an entry from a consumer that is still at work`;
    case 'expired':
      return faultOfExpired(cause, freedBy);
    case 'clock':
      return `the clock of ${node ?? 'the server'}`;
    case 'evicted':
      return `the memory policy of ${node ?? 'the server'}`;
    case 'lost':
      return isRestart(freedBy) ? RESTARTS : COPIES;
    case 'never taken':
      return `the code of ${role === 'second holder' ? newer : older}, which goes in without a grant`;
    case 'together':
      return faultOfTogether(cause, freedBy);
    default:
      return '';
  }
}

function faultOfExpired({ refused, entries, overrun }: Cause, freedBy: FreedBy): string {
  const older = entries[0]?.client ?? '';
  if (refused !== undefined) return `the code of ${older}, which does not look at the reply`;
  if (isSameFence(entries)) return 'the code, whose fences do not tell the two holders apart';
  if (overrun === true) return tooShort(older);
  return isEntryLate(entries, freedBy)
    ? tooLate(older)
    : `${STANDING_STILL}; or a lease that is shorter than the work`;
}

function faultOfTogether(cause: Cause, freedBy: FreedBy): string {
  if (freedBy.request !== undefined)
    return `the code of ${freedBy.by}, which looks and takes in two requests`;
  if (isApart(freedBy)) return 'the code, for which the grant of one server is enough';
  if (freedBy.what !== BOTH_STAND) return 'the code, which uses two locks for one resource';
  const kind = cause.grants.at(-1)?.kind ?? 'request';
  return `the code, whose ${kind} grants ${isPool(cause) ? 'more permits than there are' : 'the lock while another client has it'}`;
}

function faultOfLeft({ left }: Cause): string {
  const { client, endless, bared, renewedByOthers, isRenewed, why, cycle, isPlace } = left as NonNullable<
    typeof left
  >;
  if (cycle !== undefined) return 'the code, which takes locks in different orders';
  if (renewedByOthers && (bared === undefined || bared.client === client))
    return 'the code of the clients that renew a lock which they do not have';
  if (why === REFUSED) return `the code of ${client}, which ${REFUSED}`;
  if (bared !== undefined) return `the code of ${bared.client}, whose ${bared.kind} takes the lease away`;
  if (isPlace) return `the code of ${client}, whose place in the line stays`;
  if (endless) return `the code of ${client}, which takes the lock without a lease`;
  if (isRenewed && !/died/.test(why)) return `the code of ${client}, which renews a lock that it has left`;
  return /answered/.test(why)
    ? `the code of ${client}, which does not try its release again`
    : 'nobody: a lock that is not given back stays until its lease ends';
}
