/** The shape of a cause: a text that is the same for all worlds that break for the same reason. */
import { keyOf, NO_ERROR } from '../promises/broken.ts';
import type { Breach } from '../visit.ts';
import type { FreedBy } from './freeing.ts';
import type { CauseGrant, Reason } from './reason.ts';

/** The shape. It has roles, kinds of requests and causes, but no times, no names, no tokens and no kinds of faults. */
export function shapeOf(reason: Reason, breach: Breach): string {
  const { freedBy, grants, entries } = reason;
  if (entries.length > 1) return ofVisits(reason, breach);
  if (freedBy !== undefined) return `holder by ${grants[0]?.kind ?? 'nothing'}; ${freedText(freedBy)}`;
  if (breach.promise === NO_ERROR) return keyOf(breach);
  if (reason.left !== undefined) return ofLeft(reason);
  if (reason.waiter !== undefined) {
    const { how, missed } = reason.waiter;
    const lost = missed.length > 0 ? ', and one for it was lost' : '';
    return `a client waits for a ${how === 'queue' ? 'place in a queue' : how === 'list' ? 'list element' : 'message'}${lost}`;
  }
  if (reason.silent !== undefined) {
    const { last, subscribed } = reason.silent;
    const end = last === undefined ? 'has sent nothing' : `asks no more after ${last.kind}`;
    return `a client waits and ${end}${last?.answered === null && !subscribed ? ', which got no reply' : ''}`;
  }
  if (reason.lost !== undefined)
    return `a ${reason.lost.by} lost an acknowledged ${(reason.lost.command[0] ?? '').toUpperCase()}`;
  if (reason.neglected !== undefined)
    return `closed since ${reason.neglected.request.kind}, which was refused and not repeated`;
  if (reason.update !== undefined) {
    const { how, request, avoidable } = reason.update;
    const kind = request === undefined ? '' : ` ${request.kind}`;
    const late = avoidable === 'late' ? '; read after its end' : '';
    return `update lost: ${how}${kind}${avoidable === 'short' ? `; ${UNHINDERED}` : late}`;
  }
  return ofOwn(reason, breach);
}

function ofVisits(reason: Reason, { promise }: Breach): string {
  const { grants, entries, freedBy, overrun, refused, retaken, misled, twice } = reason;
  const { namesake, unmarked, unconfirmed } = reason;
  const kinds = grants.map(kindOfGrant);
  const [first = 'nothing'] = kinds;
  const last = kinds.at(-1) ?? 'nothing';
  const parts = [`first holder by ${first}`, `second holder by ${last}`];
  if (namesake !== undefined) parts.push('one token for two deployments');
  if (freedBy !== undefined) parts.push(freedText(freedBy));
  // A request that strikes another's grant is wrong, however often it comes. One's own is only struck by a repetition.
  const struckOwn =
    freedBy?.role === 'first holder' || freedBy?.how === 'changed' || freedBy?.how === 'put again';
  if (
    struckOwn &&
    freedBy?.request !== undefined &&
    twice.some(({ again }) => again.call === freedBy.request?.call)
  )
    parts.push('executed twice');
  if (isEntryLate(entries, freedBy)) parts.push('entered after its end');
  if (overrun === true) parts.push(UNHINDERED);
  if (unmarked !== undefined) parts.push(`although ${unmarked.request.kind} of the first was not executed`);
  else if (promise === 'once' && wasDone(entries, freedBy)) parts.push(DONE_BEFORE);
  if (retaken !== undefined) parts.push(`taken again by ${retaken.kind} of the first holder`);
  if (misled !== undefined) parts.push(`${misled.kind} of the first holder renewed it for the second`);
  if (unconfirmed !== undefined)
    parts.push(
      `confirmed by WAIT ${unconfirmed.why === 'few' ? 'of too few replicas' : 'on another connection'}`,
    );
  if (refused !== undefined) parts.push(`although ${refused.kind} had told it`);
  return `${promise === 'fencing' ? 'fences: ' : ''}${parts.join('; ')}`;
}

/** True when the first holder entered only after its lease had ended. */
export function isEntryLate([first]: Reason['entries'], freedBy: FreedBy | undefined): boolean {
  return first !== undefined && freedBy?.how === 'expired' && first.at > freedBy.at;
}

/** Part of the shape when a lease ended during the work of its holder, although nothing had hindered the holder. */
export const UNHINDERED = 'nothing had hindered it';

/** Part of the shape when a job was done a second time, and its first holder had left before the lease ended. */
export const DONE_BEFORE = 'the first was done before';

/** True when the first holder had left before its lease ended, before its end was lost, and before it gave the lock back. */
function wasDone([first]: Reason['entries'], freedBy: FreedBy | undefined): boolean {
  if (first === undefined || freedBy === undefined) return false;
  const { how, role, at } = freedBy;
  if (how === 'released' || how === 'claimed') return role !== 'third party' && first.to <= at;
  return (how === 'expired' || how === 'lost') && first.to < at;
}

function kindOfGrant({ tenures, kind }: CauseGrant): string {
  return tenures.at(-1)?.restored === true ? 'a failover' : kind;
}

function freedText({ how, role, what, request }: FreedBy): string {
  const by = `${request?.kind ?? what} of the ${role}`;
  switch (how) {
    case 'released':
    case 'deleted':
    case 'flushed':
    case 'overwritten':
    case 'changed':
      return `freed by ${by}`;
    case 'shortened':
      return `the lease of the first holder was shortened by ${by}`;
    case 'expired':
      return 'the lease of the first holder ended';
    case 'clock':
      return "the lease of the first holder ended by the server's clock";
    case 'own clock':
      return `the lease of the first holder ended at a time of its own clock, which ${request?.kind ?? what} named`;
    case 'clock of fences':
      return 'fences are times of a clock';
    case 'claimed':
      return `given again by ${by}`;
    case 'told to all':
      return 'a message told all to do it';
    case 'put again':
      return `given again by ${by}`;
    case 'evicted':
      return 'evicted';
    case 'lost':
      return `${request === undefined ? 'the grant' : `${request.kind} of the first holder`} was lost by a ${/restart/.test(what) ? 'restart' : 'failover'}`;
    case 'never taken':
      // Which of the two it was, and which error, depends on the moment.
      return /answered [A-Z]/.test(what)
        ? 'one of them took no lock, and was answered an error'
        : 'one of them took no lock';
    case 'together':
      return what;
    default:
      return 'freed by nothing that is known';
  }
}

function ofLeft({ left, twice }: Reason): string {
  const { grant, endless, bared, why, release, renewedByOthers, cycle } = left as NonNullable<typeof left>;
  if (cycle !== undefined) return 'clients wait for the locks of each other';
  const how = `${grant?.kind ?? 'a grant'} ${endless && bared === undefined ? 'without' : 'with'} a lease${bared === undefined ? '' : `, which ${bared.kind} took away`}`;
  const again =
    twice.length > 0
      ? `; ${[...new Set(twice.map(({ again: each }) => each.kind))].join(', ')} executed twice`
      : '';
  const by = release !== undefined && /release/.test(why) ? ` (${release.kind})` : '';
  const others = renewedByOthers ? '; renewed by other clients' : '';
  return `left by ${how}: its client ${why}${by}${others}${again}`;
}

/** A promise of the user: all that went wrong, since nobody knows what of it matters. */
function ofOwn({ twice, errors, grants }: Reason, { promise }: Breach): string {
  const parts = [
    ...grants.map(({ kind }) => `entered by ${kind}`),
    ...twice.map(({ again }) => `${again.kind} executed twice`),
    ...errors.map(({ code }) => `answered ${code}`),
  ];
  return [promise, ...[...new Set(parts)].sort()].join('; ');
}
