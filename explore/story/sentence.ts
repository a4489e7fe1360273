/** Says in one sentence why a promise broke, and what would have prevented it. */
import type { Cause } from '../cause/reason.ts';
import { isEntryLate } from '../cause/shape.ts';
import type { Breach } from '../visit.ts';
import { namesText, timeText } from './text.ts';

/** What happened, in one sentence. */
export function sentenceOf(cause: Cause, breach: Breach): string {
  const { entries, left, lost } = cause;
  if (entries.length > 1) return ofVisits(cause, breach);
  if (cause.freedBy !== undefined) return `${sentence(breach.what).slice(0, -1)}: ${reasonOf(cause)}.`;
  if (left !== undefined) return ofLeft(cause);
  if (cause.waiter !== undefined) {
    const { client, how, where, missed } = cause.waiter;
    const gone = missed.length > 0 ? ', and the message that it waited for was lost' : '';
    return `${client} waits for ever: it waits for a ${how === 'queue' ? 'place in' : how === 'list' ? 'list element of' : 'message on'} ${where}${gone}.`;
  }
  if (lost !== undefined)
    return `The ${lost.by} lost an acknowledged write: ${lost.client ?? lost.node}'s ${lost.command.slice(0, 2).join(' ')}.`;
  return sentence(breach.what);
}

function sentence(text: string): string {
  const [first = ''] = text;
  return `${first.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

function ofVisits(cause: Cause, { promise, what }: Breach): string {
  const { entries } = cause;
  const reason = reasonOf(cause);
  if (promise === 'permits') {
    const inside = namesText([...new Set(entries.map(({ client }) => client))]);
    return `${inside} were inside together, which is more than there are permits: ${reason}.`;
  }
  if (promise !== 'mutual-exclusion') {
    // What the user looks for may have nothing to do with how the lock changed hands.
    const isUsual = promise !== 'fencing' && cause.freedBy?.how === 'released';
    return isUsual ? sentence(what) : `${sentence(what).slice(0, -1)}: ${reason}.`;
  }
  const [older, newer] = [entries[0], entries.at(-1)];
  const first = older?.client ?? '';
  const second = newer?.client === first ? `another life of ${first}` : (newer?.client ?? '');
  const isLater = (older?.at ?? 0) > (newer?.at ?? 0);
  // What a client sent while it had the lock may arrive much later.
  const head = what.startsWith('a write of ')
    ? sentence(what).slice(0, -1)
    : isLater
      ? `${first} went in while ${second} was inside`
      : `${second} got the lock while ${first} was inside`;
  return `${head}: ${reason}.`;
}

/** Why the lock was free. */
function reasonOf(cause: Cause): string {
  const { freedBy, twice, refused, late, grants, entries } = cause;
  const [older, newer] = [entries[0]?.client ?? '', entries.at(-1)?.client ?? ''];
  if (freedBy === undefined) return 'what freed the lock is not recorded on real servers';
  const { how, by, request, tenure, what, node, role, at } = freedBy;
  const isRepeated = twice.some(({ again }) => again.call === request?.call);
  const act = `${by ?? node}'s ${request?.kind ?? what}${isRepeated ? ' was sent again after a lost reply, and' : ''}`;
  const owner = tenure?.client ?? older;
  const own = by === owner ? 'its own' : `${owner}'s`;
  const told =
    refused === undefined
      ? ''
      : `, and ${older} went on although its ${refused.kind} was answered ${refused.reply}`;
  switch (how) {
    case 'released':
      return `${act} gave back its ${isRepeated ? 'new ' : ''}lock too early`;
    case 'deleted':
    case 'flushed':
      return `${act} deleted ${own} lock`;
    case 'overwritten':
      return `${act} overwrote ${own} lock`;
    case 'changed':
      return `${act} let another in`;
    case 'expired': {
      const reply = late.find(({ isReply, to }) => isReply && to === older && grants[0]?.client === to);
      const slow = reply === undefined ? '' : `; a reply had come ${timeText(reply.by)} late`;
      return isEntryLate(entries, freedBy)
        ? `${older}'s lease had ended at ${timeText(at)}, before it went in${slow}${told}`
        : `${older}'s lease ended at ${timeText(at)}${told}`;
    }
    case 'clock':
      return `${what}, which ended ${older}'s lease`;
    case 'evicted':
      return `${node} evicted ${older}'s lock`;
    case 'lost':
      return `${older}'s lock was lost by ${what}${told}`;
    case 'never taken':
      return `${role === 'second holder' ? newer : older} had no lock, because ${what}`;
    case 'together':
      return what;
    default:
      return 'it is not known what freed the lock';
  }
}

function ofLeft({ left, twice }: Cause): string {
  const { client, why, grant, endless, renewedByOthers, lock } = left as NonNullable<typeof left>;
  const lease = endless ? ', which has no lease' : '';
  const others = renewedByOthers ? ', and other clients renew it' : '';
  const again = twice.length > 0 ? `; ${twice[0]?.again.kind} was executed twice` : '';
  return `Nobody gets ${lock}: ${client} took it with ${grant?.kind ?? 'a grant'}${lease}, and ${client} ${why}${others}${again}.`;
}

/** What would have prevented it; empty when that is not known. */
export function preventionOf(cause: Cause): string {
  const { freedBy, left, lost, refused, twice, entries } = cause;
  if (left !== undefined) return preventionOfLeft(cause);
  if (lost !== undefined)
    return lost.by === 'failover'
      ? 'WAIT after the write, and an error when too few replicas have it'
      : 'appendfsync always, or a disk that keeps what was acknowledged';
  if (freedBy === undefined) return '';
  if (cause.shape.startsWith('fences: '))
    return freedBy.how === 'lost'
      ? 'a counter of fences that a failover cannot set back; WAIT before the fence is used makes it rarer'
      : 'a fence that is drawn by the request that takes the lock, from a counter that only grows';
  const isRepeated = twice.some(({ again }) => again.call === freedBy.request?.call);
  switch (freedBy.how) {
    case 'deleted':
      return 'a release that compares the token of its own grant, and deletes the key in the same script';
    case 'flushed':
      return 'a database of their own for locks, which nobody flushes';
    case 'released':
      return isRepeated
        ? 'a new token for each acquisition, which the release compares'
        : 'a release after the last act under the lock, and no act after it';
    case 'overwritten':
      return 'SET NX, which the server refuses while another has the lock';
    case 'changed':
      return isRepeated
        ? 'a release that may be executed twice: a script that looks whether the caller still has the lock'
        : 'a release that looks whether the caller still has the lock';
    case 'expired':
      if (refused !== undefined) return 'to stop as soon as a renewal finds that the lock is gone';
      return isEntryLate(entries, freedBy)
        ? 'to count the lease from when the request was sent, and not to go in when it is over'
        : 'a fencing token that the resource checks; a longer lease or a renewal makes it rarer';
    case 'clock':
      return "a fencing token that the resource checks; servers' clocks that are never set";
    case 'evicted':
      return 'maxmemory-policy noeviction on the server of the locks';
    case 'lost':
      return 'a fencing token that the resource checks; WAIT before going in makes it rarer';
    case 'never taken':
      return 'to go in only after a reply that grants the lock; an error is a refusal';
    case 'together':
      return freedBy.what.startsWith('different servers')
        ? 'a grant only by more than half of the servers'
        : 'one key for all who need the same resource';
    default:
      return '';
  }
}

function preventionOfLeft({ left }: Cause): string {
  const { endless, renewedByOthers, why } = left as NonNullable<typeof left>;
  if (renewedByOthers) return 'a lease that only its holder renews: SET NX PX in one command';
  if (endless) return 'a lease, set by the command that takes the lock: SET NX PX';
  return /answered/.test(why)
    ? 'to try the release again until it is done, or a shorter lease'
    : 'a shorter lease';
}
