/** Says in one sentence why a promise broke. */
import { namesClient } from '../cause/cause.ts';
import { BOTH_STAND } from '../cause/freed.ts';
import type { FreedBy } from '../cause/freeing.ts';
import type { Cause, LostUpdate, SilentClient, UnmarkedEnd } from '../cause/reason.ts';
import { isEntryLate } from '../cause/shape.ts';
import type { ServerErrors } from '../cause/trouble.ts';
import type { Breach } from '../visit.ts';
import { hasOneToken, isApart, isSameFence } from './blame.ts';
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
  if (cause.silent !== undefined)
    return `${sentence(breach.what).slice(0, -1)}: ${silenceText(cause.silent)}.`;
  if (lost !== undefined)
    return `The ${lost.by} lost an acknowledged write: ${lost.client ?? lost.node}'s ${lost.command.slice(0, 2).join(' ')}.`;
  if (cause.neglected !== undefined)
    return `${sentence(breach.what).slice(0, -1)}: ${unmarkedText(cause.neglected)}.`;
  if (cause.update !== undefined)
    return `${sentence(breach.what).slice(0, -1)}: ${updateText(cause.update)}.`;
  const always = alwaysRefused(cause, breach);
  if (always !== undefined) {
    const { client, kind, code, count } = always;
    return `${sentence(breach.what).slice(0, -1)}: ${client}'s ${kind} was answered ${code} ${count} times.`;
  }
  return sentence(breach.what);
}

/** The error that a client that waits in vain gets again and again, until the end of the world; undefined when there is none. */
function alwaysRefused({ errors }: Cause, { promise, what, at: end }: Breach): ServerErrors | undefined {
  if (promise !== 'everyone-served' && promise !== 'progress') return undefined;
  return errors.find(
    ({ client, count, at, last }) =>
      count > 2 && namesClient(what, client) && end - last <= (2 * (last - at)) / (count - 1),
  );
}

function updateText({ how, client, request, what, at = 0, avoidable }: LostUpdate): string {
  switch (how) {
    case 'expired': {
      const more = { short: `, although nothing hindered ${client}`, late: `, before ${client} read` };
      const ended = `${client}'s lease of ${what} ended at ${timeText(at)}`;
      return avoidable === undefined ? ended : `${ended}${more[avoidable]}`;
    }
    case 'restart':
    case 'failover':
      return `the ${how} ${how === 'restart' ? 'of' : 'to'} ${what} lost what ${client} had written`;
    case 'unread':
      return `${client}'s EXEC was answered nil, and ${client} went on`;
    case 'apart':
      return `${client}'s ${request?.kind} went over another connection than its WATCH`;
    default:
      return `${client}'s ${request?.kind} replaced what ${what} had written since ${client} had read`;
  }
}

function silenceText({ client, last, subscribed }: SilentClient): string {
  if (last === undefined) return `${client} has sent no request`;
  const { kind, text, sent, answered } = last;
  if (subscribed)
    return `${client} waits for a message since its ${text} of ${timeText(sent)}, and has sent nothing since`;
  return answered === null
    ? `its ${kind} of ${timeText(sent)} got no reply, and ${client} has sent nothing since`
    : `${client} has sent nothing since its ${kind} was answered at ${timeText(answered)}`;
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
    const { how, what: freeing } = cause.freedBy ?? {};
    if (cause.unmarked !== undefined)
      return `${sentence(what).slice(0, -1)}: ${unmarkedText(cause.unmarked)}.`;
    const isUsual = how === 'released' || freeing === BOTH_STAND;
    return isUsual ? sentence(what) : `${sentence(what).slice(0, -1)}: ${reason}.`;
  }
  const [older, newer] = [entries[0], entries.at(-1)];
  const first = older?.client ?? '';
  const second = newer?.client === first ? `another life of ${first}` : (newer?.client ?? '');
  const isLater = (older?.at ?? 0) > (newer?.at ?? 0);
  // What a client sent while it had the lock may arrive much later.
  const granted = cause.grants.at(-1)?.executed;
  const head = what.startsWith('a write of ')
    ? sentence(what).slice(0, -1)
    : isLater
      ? `${first} went in while ${second} was inside`
      : granted != null && granted < (older?.at ?? 0)
        ? `${first} and ${second} were inside together`
        : `${second} got the lock while ${first} was inside`;
  return `${head}: ${reason}.`;
}

function unmarkedText({ request: { client, text }, error }: UnmarkedEnd): string {
  return `${client}'s ${text} ${error === undefined ? 'never arrived' : `was answered ${error}`}`;
}

/** Why the lock was free. */
function reasonOf(cause: Cause): string {
  const { freedBy, twice, entries, namesake } = cause;
  const [older, newer] = [entries[0]?.client ?? '', entries.at(-1)?.client ?? ''];
  if (namesake !== undefined)
    return `${namesake.twin} belongs to a second deployment, and its token is that of ${namesake.client}`;
  if (freedBy === undefined) return 'what freed the lock is not recorded on real servers';
  const { how, by, request, tenure, what, node, role } = freedBy;
  const isRepeated = twice.some(({ again }) => again.call === request?.call);
  const act = `${by ?? node}'s ${request?.kind ?? what}${isRepeated ? ' was sent again after a lost reply, and' : ''}`;
  const owner = tenure?.client ?? older;
  const own = by === owner ? 'its own' : `${owner}'s`;
  const told = wentOnText(cause);
  switch (how) {
    case 'released':
      return `${act} gave back its ${isRepeated ? 'new ' : ''}lock too early`;
    case 'deleted':
    case 'flushed':
      return `${act} deleted ${own} lock${hasOneToken(freedBy) ? ', which has the same token' : ''}`;
    case 'shortened':
      return `${act} shortened ${own} lease, which ended at ${timeText(freedBy.at)}`;
    case 'overwritten':
      return `${act} overwrote ${own} lock`;
    case 'claimed':
      return `${act} gave ${by === older ? 'it' : by} the entry ${what}, which ${older} had`;
    case 'told to all':
      return `a message on ${what} goes to all that listen`;
    case 'put again':
      return `${act} put ${what} into the queue again`;
    case 'changed':
      return `${act} let another in`;
    case 'expired':
      return `${expiredText(cause, freedBy)}${told}`;
    case 'clock':
      return `${what}, which ended ${older}'s lease${told}`;
    case 'own clock':
      return `${older}'s lease ended at ${timeText(freedBy.at)}, a time that its ${what} had named by its own clock, which is wrong`;
    case 'clock of fences':
      return what;
    case 'evicted':
      return `${node} evicted ${older}'s lock`;
    case 'lost':
      if (request !== undefined)
        return `${by}'s ${request.kind}, which had been acknowledged, was lost by ${what}`;
      if (cause.shape.startsWith('fences: ')) return `the counter of fences was lost by ${what}`;
      return `${older}'s lock was lost by ${what}${unconfirmedText(cause)}${told}`;
    case 'never taken':
      return `${role === 'second holder' ? newer : older} had no lock, because ${what}`;
    case 'together':
      return togetherText(cause, freedBy);
    default:
      return 'it is not known what freed the lock';
  }
}

/** Why the first holder believed that replicas had its lock. */
function unconfirmedText({ unconfirmed }: Cause): string {
  if (unconfirmed === undefined) return '';
  const { request, why } = unconfirmed;
  if (why === 'few') return `, and ${request.client} went in although its WAIT was answered ${request.reply}`;
  return why === 'again'
    ? `; its WAIT was sent again on a new connection, which had written nothing, and was answered ${request.reply}`
    : `; its WAIT went over another connection than the lock, and was answered ${request.reply}`;
}

/** How the first holder could have known that it had lost the lock. */
function wentOnText({ retaken, misled, refused, entries }: Cause): string {
  const [older, newer] = [entries[0]?.client ?? '', entries.at(-1)?.client ?? ''];
  if (retaken !== undefined) return `, and its ${retaken.kind} took the lock again after ${newer} had had it`;
  if (misled !== undefined)
    return `, and ${older} went on, because its ${misled.kind} renewed ${newer}'s lock`;
  return refused === undefined
    ? ''
    : `, and ${older} went on although its ${refused.kind} was answered ${refused.error ?? refused.reply}`;
}

function expiredText({ late, grants, entries, overrun }: Cause, freedBy: FreedBy): string {
  const [older, newer] = [entries[0], entries.at(-1)];
  const client = older?.client ?? '';
  const reply = late.find(({ isReply, to }) => isReply && to === client && grants[0]?.client === to);
  const slow = reply === undefined ? '' : `; a reply had come ${timeText(reply.by)} late`;
  const fences = isSameFence(entries)
    ? `, and ${newer?.client}'s fence is ${older?.fence === newer?.fence ? 'the same' : 'smaller'}`
    : '';
  return isEntryLate(entries, freedBy)
    ? `${client}'s lease had ended at ${timeText(freedBy.at)}, before it went in${slow}${fences}`
    : `${client}'s lease ended at ${timeText(freedBy.at)}${overrun === true ? `, although nothing hindered ${client}` : fences}`;
}

/** What is said where nothing was freed. */
function togetherText({ grants, entries }: Cause, freedBy: FreedBy): string {
  const [one, other] = [grants[0]?.nodes ?? [], grants.at(-1)?.nodes ?? []];
  if (freedBy.request !== undefined)
    return `${freedBy.by}'s ${freedBy.request.kind} had looked before ${entries[0]?.client}'s ${grants[0]?.kind} took the lock`;
  if (isApart(freedBy))
    return `${namesText(one)} granted it to ${entries[0]?.client}, and ${namesText(other)} to ${entries.at(-1)?.client}`;
  return freedBy.what === BOTH_STAND && entries.length > 2 ? 'all grants stand' : freedBy.what;
}

function ofLeft({ left, twice }: Cause): string {
  const { client, why, grant, endless, bared, renewedByOthers, lock } = left as NonNullable<typeof left>;
  const lease =
    bared !== undefined
      ? `, ${bared.client}'s ${bared.kind} took its lease away`
      : endless
        ? ', which has no lease'
        : '';
  const others = renewedByOthers ? ', and other clients renew it' : '';
  const again = twice.length > 0 ? `; ${twice[0]?.again.kind} was executed twice` : '';
  return `Nobody gets ${lock}: ${client} took it with ${grant?.kind ?? 'a grant'}${lease}, and ${client} ${why}${others}${again}.`;
}
