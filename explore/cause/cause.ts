/**
 * Why a promise broke in a played world: the grants, the visits, what freed the lock, and what went wrong on the way. Findings
 * are told from it, reductions keep it, and two findings with the same shape have one reason.
 */
import type { Tenure } from '../../lab/account/tenures.ts';
import { historyOf } from '../history.ts';
import type { PlayedWorld } from '../played-world.ts';
import { type Breach, PROBE, type Visit } from '../visit.ts';
import { type FreedBy, freedBetween } from './freed.ts';
import { type GrantedVisit, grantedAt, grantedVisits } from './grants.ts';
import { leftIn, lostIn } from './left.ts';
import type { Cause, CauseGrant, Reason } from './reason.ts';
import { accountOfWorld, micros, type WorldAccount } from './recorded.ts';
import { type CauseRequest, requestOf } from './request.ts';
import { shapeOf } from './shape.ts';
import { errorsUntil, lateOf, repeatedBy } from './trouble.ts';

/** Why the promise broke. */
export function causeOf(world: PlayedWorld, breach: Breach): Cause {
  const visits = breach.visits.flatMap((id) => world.visits[id] ?? []);
  const cause = visits.length > 1 ? ofVisits(world, breach, visits) : ofWorld(world, breach, visits);
  return { ...cause, shape: shapeOf(cause, breach) };
}

/** Two clients or more that were inside together, or got the same fence. */
function ofVisits(world: PlayedWorld, breach: Breach, visits: readonly Visit[]): Reason {
  const { known, visits: granted } = grantedVisits(world, visits);
  const freedBy = firstFreed(granted, known, world);
  const until = micros(breach.at);
  const freeing = freedBy?.request?.call;
  const calls = [...granted.flatMap(callsOf), ...(freeing === undefined ? [] : [freeing])];
  const refused = refusedRenewal(granted[0], freedBy, until, known);
  return {
    ...emptyReason,
    resource: visits[0]?.resource,
    clients: [
      ...new Set([
        ...granted.map(({ visit }) => visit.client),
        ...(freedBy?.by === undefined ? [] : [freedBy.by]),
      ]),
    ],
    grants: granted.flatMap((each) => grantOf(each, world, known)),
    entries: granted.map(({ visit }) => ({ visit: visit.id, client: visit.client, at: visit.from })),
    freedBy,
    refused,
    twice: calls.flatMap((call) => repeatedBy(call, known.account) ?? []),
    late: lateOf(refused === undefined ? calls : [...calls, refused.call], known),
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
  const all = older.map((each) => freedBetween(each, newest, known, lostKeys));
  return all.find(({ how }) => how !== 'together' && how !== 'unknown') ?? all[0];
}

const emptyReason: Pick<Reason, 'left' | 'lost'> = { left: undefined, lost: undefined };

function callsOf({ tenures, call }: GrantedVisit): NonNullable<GrantedVisit['call']>[] {
  const all = tenures.flatMap((each) => each.call ?? []);
  return all.length > 0 ? all : call === undefined ? [] : [call];
}

function grantOf(granted: GrantedVisit, world: PlayedWorld, known: WorldAccount): CauseGrant[] {
  const { visit, call, tenures } = granted;
  if (call === undefined) return [];
  const nodes = tenures.length === 0 ? [call.node] : [...new Set(tenures.map(({ node }) => node))];
  const last = tenures.at(-1);
  return [
    {
      ...{ ...requestOf(call, nodes), visit: visit.id, lock: last?.lock, tenures },
      until: last === undefined ? undefined : leaseEnd(last, world, known),
    },
  ];
}

/** When a lease ends, in milliseconds since the clients started: servers count by clocks of their own. */
export function leaseEnd(
  tenure: Tenure,
  { startedAt }: PlayedWorld,
  { run }: WorldAccount,
): number | undefined {
  const { deadline, node, from, renewals } = tenure;
  if (deadline === undefined) return undefined;
  const set = renewals.at(-1)?.at ?? from;
  const write = run.writes.findLast((each) => each.node === node && each.at <= set);
  const until = write === undefined ? deadline - startedAt : set / 1000 + deadline - write.write.at;
  return Math.round(until * 1000) / 1000;
}

/** A renewal of the first holder that found nothing to renew, and was answered while it went on. */
function refusedRenewal(
  first: GrantedVisit | undefined,
  freedBy: FreedBy | undefined,
  until: number,
  { account }: WorldAccount,
): CauseRequest | undefined {
  if (first === undefined || freedBy === undefined) return undefined;
  const words = new Set(first.tenures.map(({ key }) => key));
  const from = grantedAt(first);
  const found = account.calls.all.find(
    (call) =>
      call.client === first.visit.client &&
      call.sent >= from &&
      call !== first.call &&
      call.reply?.arrived != null &&
      call.reply.arrived <= until &&
      /^\[?(?:0|nil|-1)\]?$/.test(call.reply.text) &&
      call.wrote.size === 0 &&
      !READS.test(call.name) &&
      call.words.some((word) => words.has(word)) &&
      call.reply.sent >= freedBy.at * 1000,
  );
  return found === undefined ? undefined : requestOf(found);
}

/** Commands that only look, or ask for the lock once more. */
const READS = /^(?:get|hget|exists|p?ttl|set|setnx|hsetnx|watch)$/;

/** A breach that no pair of visits shows: a closed lock, a lost write, an error, or a promise of the user. */
function ofWorld(world: PlayedWorld, breach: Breach, visits: readonly Visit[]): Reason {
  const granted = grantedVisits(world, visits);
  const known = visits.length === 0 ? accountOfWorld(world) : granted.known;
  const until = micros(breach.at);
  const isClosed = /^(?:no-orphan|progress)$/.test(breach.promise);
  const left = isClosed ? leftIn(known, until) : undefined;
  const isLoss = breach.promise === 'durable-acks' || (isClosed && left === undefined);
  const lost = isLoss ? lostIn(world, known) : undefined;
  const calls = [
    ...granted.visits.flatMap(callsOf),
    ...(left?.grant === undefined ? [] : [left.grant.call]),
    ...(left?.release === undefined ? [] : [left.release.call]),
  ];
  const twice =
    calls.length > 0
      ? calls
      : known.account.calls.all.filter(({ wrote, sent }) => wrote.size > 0 && sent <= until);
  const named = [...world.plan.clients].filter((name) => namesClient(breach.what, name));
  const clients = [
    left?.client,
    lost?.client,
    ...visits.map(({ client }) => client),
    ...(breach.clients ?? []),
    ...named,
  ];
  return {
    resource: visits[0]?.resource ?? left?.lock ?? lost?.key,
    clients: [...new Set(clients.filter((each) => each !== undefined && each !== PROBE))] as string[],
    grants: granted.visits.flatMap((each) => grantOf(each, world, known)),
    entries: granted.visits.map(({ visit }) => ({ visit: visit.id, client: visit.client, at: visit.from })),
    ...{ freedBy: undefined, refused: undefined, left, lost },
    twice: twice.flatMap((call) => repeatedBy(call, known.account) ?? []),
    late: lateOf(calls, known),
    errors: errorsUntil(known, until),
  };
}

/** True when the text names the client, as a word. */
export function namesClient(text: string, name: string): boolean {
  const word = name.replace(/[^\w]/g, '\\$&');
  return new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);
}
