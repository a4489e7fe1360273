/**
 * Why a promise broke in a played world: the grants, the visits, what freed the lock, and what went wrong on the way. Findings
 * are told from it, reductions keep it, and two findings with the same shape have one reason.
 */
import { defined } from '../../base/defined.ts';
import type { SentCommand } from '../../lab/account/calls.ts';
import { type Tenure, takerOf } from '../../lab/account/tenures.ts';
import { clientsOf, twinOf } from '../deployments.ts';
import { historyOf } from '../history.ts';
import type { PlayedWorld } from '../played-world.ts';
import { type Breach, PROBE, type Visit } from '../visit.ts';
import { behindOf } from './behind.ts';
import { claimBetween, unmarkedEnd } from './claimed.ts';
import { endByOwnClock } from './clocks.ts';
import { emptyConfirmation } from './confirmed.ts';
import { endedBy, freedBetween } from './freed.ts';
import type { FreedBy } from './freeing.ts';
import { type GrantedVisit, grantedAt, grantedVisits } from './grants.ts';
import { isHindered } from './hindrance.ts';
import { leftIn, lostIn } from './left.ts';
import { neglectedIn } from './neglected.ts';
import { dueBetween, secondToken } from './queues.ts';
import type { Cause, CauseGrant, Reason, SilentClient } from './reason.ts';
import { accountOfWorld, micros, type WorldAccount } from './recorded.ts';
import { type CauseRequest, errorOf, requestOf } from './request.ts';
import { shapeOf } from './shape.ts';
import { errorsUntil, INTRODUCES, isRunAfterwards, lateOf, repeatedBy } from './trouble.ts';
import { lostUpdateIn } from './updates.ts';

/** Why the promise broke. */
export function causeOf(world: PlayedWorld, breach: Breach): Cause {
  const visits = breach.visits.flatMap((id) => world.visits[id] ?? []);
  const cause =
    ofTaken(world, breach, visits) ??
    (visits.length > 1 ? ofVisits(world, breach, visits) : ofWorld(world, breach, visits));
  return { ...cause, shape: shapeOf(cause, breach) };
}

/** Two clients or more that were inside together, or got the same fence. */
function ofVisits(world: PlayedWorld, breach: Breach, visits: readonly Visit[]): Reason {
  const { known, visits: granted } = grantedVisits(world, visits);
  // Real servers record no requests: what is not known must not be told as if it had not happened.
  const freed = world.world === undefined ? undefined : firstFreed(granted, known, world);
  const behind = freed === undefined ? undefined : behindOf(breach, freed, granted, known, world);
  const freedBy = behind === undefined ? undefined : (endByOwnClock(behind, world, known) ?? behind);
  const until = micros(breach.at);
  const freeing = freedBy?.request?.call;
  const calls = [...new Set([...granted.flatMap(callsOf), ...(freeing === undefined ? [] : [freeing])])];
  const refused = refusedRenewal(granted[0], freedBy, until, known);
  const retaken = retakenBy(granted, freedBy, until, known);
  const unmarked =
    breach.promise === 'once' && freedBy !== undefined ? unmarkedEnd(granted[0], freedBy, known) : undefined;
  const unconfirmed = freedBy === undefined ? undefined : emptyConfirmation(granted[0], freedBy, known);
  return {
    ...emptyReason,
    ...defined({ namesake: namesakeOf(calls, world), retaken, unmarked, unconfirmed }),
    ...defined({ misled: misledBy(granted, freedBy, known) }),
    ...(refused === undefined && isOverrun(world, breach, freedBy, granted[0]) && { overrun: true }),
    resource: visits[0]?.resource,
    clients: [
      ...new Set([
        ...granted.map(({ visit }) => visit.client),
        ...(freedBy?.by === undefined ? [] : [freedBy.by]),
      ]),
    ],
    grants: granted.flatMap((each) => grantOf(each)),
    entries: granted.map(({ visit: { id, client, from, to, fence } }) => ({
      ...{ visit: id, client, at: from, to },
      ...defined({ fence }),
    })),
    freedBy,
    refused,
    twice: calls.flatMap((call) => repeatedBy(call, known.account) ?? []),
    late: lateOf(refused === undefined ? calls : [...calls, refused.call], known),
    errors: errorsUntil(known, until),
  };
}

/**
 * True when a lease ended by itself during the work of its holder, or its entry of a stream was claimed, and no fault struck the holder
 * or a server. The window of a limiter may end during a short call.
 */
function isOverrun(
  { plan }: PlayedWorld,
  { promise, at }: Breach,
  freedBy: FreedBy | undefined,
  first: GrantedVisit | undefined,
): boolean {
  const isTimed = freedBy?.how === 'expired' || freedBy?.how === 'claimed';
  if (!isTimed || isHindered(plan, first?.visit.client)) return false;
  const from = first?.visit.from ?? at;
  return (
    from <= freedBy.at && (promise !== 'permits' || 2 * (at - from) > (freedBy.tenure?.lease ?? Infinity))
  );
}

/** The two clients among those of the requests that use one token, because a second deployment has the names of a client. */
function namesakeOf(calls: readonly SentCommand[], { plan }: PlayedWorld): Cause['namesake'] {
  for (const client of plan.clients) {
    const twin = twinOf(client, plan.clients);
    if (!clientsOf(plan).includes(twin)) continue;
    const tokensOf = (name: string): string[] =>
      calls
        .filter((call) => call.client === name)
        .flatMap(({ words }) => words.filter((word) => namesClient(word, client)));
    const own = tokensOf(client);
    if (tokensOf(twin).some((token) => own.includes(token))) return { client, twin };
  }
  return undefined;
}

/** A lock that another client took from its holder. */
function ofTaken(world: PlayedWorld, breach: Breach, visits: readonly Visit[]): Reason | undefined {
  if (breach.promise !== 'released-by-holder') return undefined;
  const known = accountOfWorld(world);
  const until = micros(breach.at);
  const tenure = known.account.tenures.find(
    (each) => takerOf(each) !== undefined && Math.abs((each.end?.at ?? Infinity) - until) < 1,
  );
  if (tenure?.end === undefined) return undefined;
  const freedBy = endedBy(tenure, tenure.end, known);
  const calls = [tenure.call, freedBy.request?.call].filter((call) => call !== undefined);
  const own = visits.filter(({ client }) => client === tenure.client);
  const grants = own.length > 0 ? own : [undefined];
  return {
    ...emptyReason,
    resource: own[0]?.resource ?? tenure.lock,
    clients: [tenure.client, ...(freedBy.by === undefined ? [] : [freedBy.by])],
    grants: grants.flatMap((visit) =>
      tenure.call === undefined
        ? []
        : [
            {
              ...requestOf(tenure.call),
              ...{ visit: visit?.id ?? -1, lock: tenure.lock, tenures: [tenure], until: leaseEnd(tenure) },
            },
          ],
    ),
    entries: own.map(({ id, client, from, to }) => ({ visit: id, client, at: from, to })),
    ...{ freedBy, refused: undefined },
    twice: calls.flatMap((call) => repeatedBy(call, known.account) ?? []),
    late: lateOf(calls, known),
    errors: errorsUntil(known, until),
  };
}

/** What freed the lock for the last one that entered: of several holders, the first that lost it. */
function firstFreed(
  granted: readonly GrantedVisit[],
  known: WorldAccount,
  world: PlayedWorld,
): FreedBy | undefined {
  const newest = granted.at(-1);
  const older = granted.slice(0, -1);
  if (newest === undefined || older.length === 0) return undefined;
  const lostKeys = new Set(historyOf(world).lost.map(({ command }) => command[1] ?? ''));
  const all = older.map(
    (each) =>
      claimBetween(each, newest, known) ??
      dueBetween(each, newest, known) ??
      secondToken(each, newest, known) ??
      freedBetween(each, newest, known, lostKeys),
  );
  return all.find(({ how }) => how !== 'together' && how !== 'unknown') ?? all[0];
}

const emptyReason: Pick<Reason, 'left' | 'lost' | 'waiter'> = {
  left: undefined,
  lost: undefined,
  waiter: undefined,
};

function callsOf({ tenures, call }: GrantedVisit): NonNullable<GrantedVisit['call']>[] {
  const all = tenures.flatMap((each) => each.call ?? []);
  return all.length > 0 ? all : call === undefined ? [] : [call];
}

function grantOf(granted: GrantedVisit): CauseGrant[] {
  const { visit, call, tenures } = granted;
  if (call === undefined) return [];
  const nodes = tenures.length === 0 ? [call.node] : [...new Set(tenures.map(({ node }) => node))];
  const last = tenures.at(-1);
  return [
    {
      ...{ ...requestOf(call, nodes), visit: visit.id, lock: last?.lock, tenures },
      until: last === undefined ? undefined : leaseEnd(last),
    },
  ];
}

/** When a lease ends that is not renewed, in milliseconds since the clients started; undefined without an end. */
export function leaseEnd({ from, lease }: Pick<Tenure, 'from' | 'lease'>): number | undefined {
  return lease === undefined ? undefined : Math.round(from + lease * 1000) / 1000;
}

/** A renewal of the first holder that found nothing to renew or was refused by the server, and was answered while it went on. */
function refusedRenewal(
  first: GrantedVisit | undefined,
  freedBy: FreedBy | undefined,
  until: number,
  { account, messages }: WorldAccount,
): Cause['refused'] {
  if (first === undefined || freedBy === undefined) return undefined;
  const words = new Set(first.tenures.map(({ key }) => key));
  const from = grantedAt(first);
  // What is answered after it left, such as its release, could not stop it any more.
  const left = Math.min(until, micros(first.visit.to));
  // An error refuses a renewal at once, and so the lease ends later. One that is answered when the lease is over has ended nothing.
  const renewed = Math.max(from, ...first.tenures.flatMap(({ renewals }) => renewals.map(({ at }) => at)));
  const error = (call: SentCommand): string | undefined => {
    if (freedBy.how !== 'expired' || call.sent < renewed) return undefined;
    if (call.reply === undefined || call.reply.sent >= micros(freedBy.at)) return undefined;
    const code = errorOf(call, messages);
    return code === 'NOSCRIPT' && isRunAfterwards(call, account) ? undefined : code;
  };
  const found = account.calls.all.find(
    (call) =>
      call.client === first.visit.client &&
      call.sent >= from &&
      call !== first.call &&
      call.reply?.arrived != null &&
      call.reply.arrived <= left &&
      call.wrote.size === 0 &&
      !READS.test(call.name) &&
      call.words.some((word) => words.has(word)) &&
      (error(call) !== undefined ||
        (/^\[?(?:0|nil|-1)\]?$/.test(call.reply.text) && call.reply.sent >= freedBy.at * 1000)),
  );
  return found === undefined ? undefined : { ...requestOf(found), ...defined({ error: error(found) }) };
}

/** A renewal of the first holder that found no lock, because the second holder had come and gone, and took it again without a word. */
function retakenBy(
  granted: readonly GrantedVisit[],
  freedBy: FreedBy | undefined,
  until: number,
  { account }: WorldAccount,
): CauseRequest | undefined {
  const [first, newest] = [granted[0], granted.at(-1)];
  if (first === undefined || newest === undefined || freedBy === undefined) return undefined;
  if (freedBy.request !== undefined || freedBy.how === 'together') return undefined;
  const left = Math.min(until, micros(first.visit.to));
  const tokens = new Set(first.tenures.map(({ key, holder }) => `${key} ${holder}`));
  const again = account.tenures.find(
    ({ client, key, holder, node, from, call, restored }) =>
      client === first.visit.client &&
      tokens.has(`${key} ${holder}`) &&
      newest.tenures.some((tenure) => tenure.node === node && tenure.from < from) &&
      from <= left &&
      call !== undefined &&
      !restored,
  );
  return again?.call === undefined ? undefined : requestOf(again.call);
}

/** A renewal of the first holder that renewed the lock of the second one, because it compares no token, and so let the first go on. */
function misledBy(
  granted: readonly GrantedVisit[],
  freedBy: FreedBy | undefined,
  { account }: WorldAccount,
): CauseRequest | undefined {
  const [first, newest] = [granted[0], granted.at(-1)];
  if (first === undefined || newest === undefined || freedBy === undefined || freedBy.request !== undefined)
    return undefined;
  const { client, to } = first.visit;
  for (const { key, shared, permit, renewals } of newest.tenures) {
    const at = renewals.find((each) => each.by === client && each.at <= micros(to))?.at;
    const call = account.calls.all.find(
      (each) => each.client === client && each.executed === at && each.wrote.has(key),
    );
    if (call !== undefined && !shared && !permit && client !== newest.visit.client) return requestOf(call);
  }
  return undefined;
}

/** Commands that only look, or ask for the lock once more. */
const READS = /^(?:get|hget|exists|p?ttl|set|setnx|hsetnx|watch)$/;

/** When the lock was closed: as the newcomer asked for it, if it got it in the end, and else at the end. In microseconds. */
function closedAt({ visits }: PlayedWorld, { account }: WorldAccount, until: number): number {
  if (!visits.some(({ client, from }) => client === PROBE && micros(from) <= until)) return until;
  const asked = account.calls.all.find(({ client, name }) => client === PROBE && !INTRODUCES.has(name));
  return asked?.sent ?? until;
}

/** A breach that no pair of visits shows: a closed lock, a lost write, an error, or a promise of the user. */
function ofWorld(world: PlayedWorld, breach: Breach, visits: readonly Visit[]): Reason {
  const granted = grantedVisits(world, visits);
  const known = visits.length === 0 ? accountOfWorld(world) : granted.known;
  const until = micros(breach.at);
  const isClosed = /^(?:no-orphan|progress|everyone-served)$/.test(breach.promise);
  const left = isClosed ? leftIn(known, closedAt(world, known, until)) : undefined;
  const isLoss = breach.promise === 'durable-acks' || (isClosed && left === undefined);
  const calls = [
    ...granted.visits.flatMap(callsOf),
    ...(left?.grant === undefined ? [] : [left.grant.call]),
    ...(left?.release === undefined ? [] : [left.release.call]),
  ];
  const waiter = known.account.waiters.findLast(
    ({ client, to }) => to === null && isClosed && namesClient(breach.what, client),
  );
  const found =
    isClosed && left === undefined && waiter === undefined
      ? silentIn(breach, world, known, until)
      : undefined;
  const lost = isLoss && !waitsForMessage(found) ? lostIn(world, known) : undefined;
  const silent = lost === undefined ? found : undefined;
  if (silent?.last !== undefined) calls.push(silent.last.call);
  const isTold = [left, lost, waiter, silent].some((each) => each !== undefined);
  const neglected = isClosed && !isTold ? neglectedIn(known, until) : undefined;
  const update = breach.promise === 'no-lost-update' ? lostUpdateIn(world) : undefined;
  const twice =
    calls.length > 0
      ? calls
      : known.account.calls.all.filter(({ wrote, sent }) => wrote.size > 0 && sent <= until);
  const named = clientsOf(world.plan).filter((name) => namesClient(breach.what, name));
  const own = visits.map(({ client }) => client);
  const clients = [left?.client, lost?.client, ...own, ...(breach.clients ?? []), ...named];
  return {
    // Whether its client had gone in before does not matter.
    resource: isClosed ? left?.lock : (breach.resource ?? visits[0]?.resource ?? lost?.key),
    clients: [...new Set(clients.filter((each) => each !== undefined && each !== PROBE))] as string[],
    // The lock that was left says more than the last visit.
    grants: left === undefined ? granted.visits.flatMap((each) => grantOf(each)) : [],
    entries: (left === undefined ? granted.visits : []).map(({ visit: { id, client, from, to } }) => ({
      ...{ visit: id, client, at: from, to },
    })),
    ...{
      freedBy: undefined,
      refused: undefined,
      left,
      lost,
      waiter,
      ...defined({ silent, neglected, update }),
    },
    twice: twice.flatMap((call) => repeatedBy(call, known.account) ?? []),
    late: lateOf(calls, known),
    errors: errorsUntil(known, until),
  };
}

/** The client that the breach is about, if it has neither sent nor received anything for a while. */
function silentIn(
  { what }: Breach,
  { plan }: PlayedWorld,
  { account }: WorldAccount,
  until: number,
): SilentClient | undefined {
  const client = clientsOf(plan).find((name) => what.startsWith(`${name} `));
  if (client === undefined) return undefined;
  const last = account.calls.all.findLast(
    (call) =>
      call.client === client &&
      call.sent <= until &&
      (!INTRODUCES.has(call.name) || call.reply?.arrived == null),
  );
  if (last !== undefined && until - Math.max(last.sent, last.reply?.arrived ?? 0) < SILENCE) return undefined;
  return {
    ...{ client, last: last === undefined ? undefined : requestOf(last) },
    // What answers it are messages.
    subscribed: last !== undefined && /^[ps]?subscribe$/.test(last.name),
  };
}

/** True for a client that does not wait for a reply. */
function waitsForMessage(silent: SilentClient | undefined): boolean {
  return silent !== undefined && (silent.subscribed || silent.last?.answered !== null);
}

/** How long a client must have sent nothing so that it does not poll, in microseconds. */
const SILENCE = 5_000_000;

/** True when the text names the client, as a word. */
export function namesClient(text: string, name: string): boolean {
  const word = name.replace(/[^\w]/g, '\\$&');
  return new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);
}
