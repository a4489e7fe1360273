/** Finds what freed a lock while its holder was inside, so that another client got it. */
import type { LockAccount } from '../../lab/account/account.ts';
import type { SentCommand } from '../../lab/account/calls.ts';
import type { Tenure, TenureEnd } from '../../lab/account/tenures.ts';
import { surplusBefore } from './counts.ts';
import { type CauseRole, type FreedBy, jumpOf } from './freeing.ts';
import { endOfLease, goneBetween, isOfField } from './gone.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import { micros, type WorldAccount } from './recorded.ts';
import { errorOf, kindOf, requestOf } from './request.ts';
import { repeatedBy } from './trouble.ts';

/** What is said where nothing was freed: one server lets two clients in by one key, as for two permits. */
export const BOTH_STAND = 'both grants stand';

/**
 * What freed the lock between two grants.
 * @param older the first of the two that was granted
 * @param lostKeys the keys of acknowledged writes that failovers and restarts have lost
 */
export function freedBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
  lostKeys: ReadonlySet<string>,
): FreedBy {
  const found = foundBetween(older, newer, known, lostKeys);
  const { how, what } = found;
  const isApart = how === 'together' ? what !== BOTH_STAND : how === 'never taken' && !/answered/.test(what);
  return (isApart ? lookedBefore(older, newer, known) : undefined) ?? found;
}

/** The look of the second holder at a key that the first one took afterwards. The second one then took another key. */
function lookedBefore(
  older: GrantedVisit,
  newer: GrantedVisit,
  { account }: WorldAccount,
): FreedBy | undefined {
  const [taken, next] = [older.call, newer.call];
  if (taken === undefined || next === undefined) return undefined;
  const isAbout = ({ words }: SentCommand): boolean => words.some((word) => taken.wrote.has(word));
  const look = account.calls.all.findLast(
    (each) => each.client === next.client && each.sent < next.sent && isAbout(each),
  );
  if (look === undefined || look.wrote.size > 0 || isAbout(next) || kindOf(look) === kindOf(next))
    return undefined;
  if (look.executed === null || look.executed >= (taken.executed ?? 0) || /del|rem/.test(taken.name))
    return undefined;
  return {
    ...bothStand(newer),
    ...{
      by: next.client,
      what: `${kindOf(look)} of the second holder had looked before`,
      request: requestOf(look),
    },
  };
}

function foundBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
  lostKeys: ReadonlySet<string>,
): FreedBy {
  const ended = movedTo(endedFor(older, newer), newer, known.account);
  const tenure = ended ?? older.tenures.at(-1);
  const roleOf = (by: string | undefined): CauseRole => roleFor(by, older, newer, known.account);
  const common = { tenure, node: tenure?.node, by: undefined, request: undefined };
  const next = newer.tenures[0];
  if (ended?.end !== undefined && next !== undefined) {
    if (!isCount(ended, known)) return ofEnd(ended, ended.end, roleOf);
    // Counting takes no lock away. The request that let the count go so far is the cause.
    return changedBetween(older, newer, known, roleOf, lostKeys) ?? bothStand(newer);
  }
  if (tenure === undefined) {
    const own = older.call;
    const error = own === undefined ? undefined : errorOf(own, known.messages);
    if (next === undefined && error === undefined && isRefused(newer.call) && !isRefused(own))
      return {
        ...{ ...common, how: 'never taken', at: grantedAt(newer) / 1000, role: 'second holder' },
        what: whyNone(newer.call, known),
      };
    const between = changedBetween(older, newer, known, roleOf, lostKeys);
    if (between !== undefined && error === undefined) return between;
    if (error === undefined && bothWrote(own, newer.call)) return bothStand(newer);
    const what = whyNone(own, known);
    return { ...common, how: 'never taken', at: grantedAt(older) / 1000, role: 'first holder', what };
  }
  const lost = lossBefore(tenure, next, known);
  if (lost !== undefined) return { ...common, how: 'lost', role: 'server', ...lost };
  if (next === undefined) {
    const between =
      surplusBefore(older, newer, known, roleOf) ?? writeBetween(older, newer, known, roleOf, lostKeys);
    if (between !== undefined) return between;
    if (bothWrote(tenure.call ?? older.call, newer.call)) return bothStand(newer);
    return {
      ...{ ...common, how: 'never taken', at: grantedAt(newer) / 1000, role: 'second holder' },
      what: whyNone(newer.call, known),
    };
  }
  if (isOverFor(tenure, next)) return ofLease(tenure, next, known);
  const isApart = older.tenures.every(({ node }) => newer.tenures.every((each) => each.node !== node));
  const what =
    next.lock !== tenure.lock
      ? 'the two hold different locks'
      : isApart
        ? 'different servers granted it to the two'
        : BOTH_STAND;
  return { ...common, how: 'together', at: next.from / 1000, role: 'second holder', what };
}

/** True for a number that was counted up or down. */
function isCount({ end, key, node }: Tenure, { run }: WorldAccount): boolean {
  return (
    end?.how === 'overwritten' &&
    run.writes.some(
      ({ at, write, ...each }) =>
        at === end.at &&
        each.node === node &&
        write.key === key &&
        /^(?:in|de)cr/i.test(write.command[0] ?? ''),
    )
  );
}

/** True when the requests by which two clients went in both changed one key: each of them is a grant. */
function bothWrote(one: SentCommand | undefined, other: SentCommand | undefined): boolean {
  return one !== undefined && other !== undefined && [...one.wrote].some((key) => other.wrote.has(key));
}

/** Nothing was freed: the server let in another client beside the one that was inside. */
export function bothStand(newer: GrantedVisit): FreedBy {
  return {
    ...{ how: 'together', at: grantedAt(newer) / 1000, role: 'second holder', what: BOTH_STAND },
    ...{ tenure: undefined, node: newer.call?.node, by: undefined, request: undefined },
  };
}

function whyNone(call: SentCommand | undefined, { messages }: WorldAccount): string {
  const error = call === undefined ? undefined : errorOf(call, messages);
  if (error !== undefined) return `it was answered ${error}`;
  return call !== undefined && isRefused(call)
    ? `its ${kindOf(call)} was answered ${call.reply?.text}`
    : 'no request of it took the lock';
}

/** True for a reply that says that the request found nothing, and changed nothing. */
function isRefused(call: SentCommand | undefined): boolean {
  return call !== undefined && call.wrote.size === 0 && /^(?:0|nil|-1|\[\])$/.test(call.reply?.text ?? '');
}

/** The tenure of the older grant that had ended when the newer one began, on the node where that mattered. */
function endedFor(older: GrantedVisit, newer: GrantedVisit): Tenure | undefined {
  const ended = older.tenures.filter(({ end, node }) => {
    const next = newer.tenures.find((each) => each.node === node) ?? newer.tenures[0];
    return end !== undefined && end.at <= (next?.from ?? grantedAt(newer));
  });
  return ended.find(({ node }) => newer.tenures.some((each) => each.node === node)) ?? ended[0];
}

/**
 * The tenure that a client has instead of one that it gave back, because the same request moved the lock to another key; the tenure
 * itself where no request did. The later tenure counts only if it had ended before the newer grant.
 */
function movedTo(
  ended: Tenure | undefined,
  newer: GrantedVisit,
  { tenures }: LockAccount,
): Tenure | undefined {
  const { how, call } = ended?.end ?? {};
  if (how !== 'released' || call === undefined) return ended;
  const next = tenures.find((each) => each.call === call && each.client === ended?.client);
  return next?.end === undefined || next.end.at > grantedAt(newer) ? ended : next;
}

function ofEnd(tenure: Tenure, end: TenureEnd, roleOf: (by: string | undefined) => CauseRole): FreedBy {
  const { how, at, by, what, call } = end;
  const isClock = how === 'expired' && what.startsWith('the clock of ');
  const { shortened } = tenure;
  if (how === 'expired' && !isClock && shortened !== undefined)
    return {
      ...{ how: 'shortened', at: at / 1000, role: roleOf(shortened.by), by: shortened.by, tenure },
      ...{ node: shortened.call.node, what: kindOf(shortened.call), request: requestOf(shortened.call) },
    };
  return {
    ...{ how: isClock ? 'clock' : how, at: at / 1000, role: roleOf(by), by, node: call?.node ?? tenure.node },
    ...{ what, request: call === undefined ? undefined : requestOf(call), tenure },
  };
}

/** What ended a tenure, for a breach that is about nothing else. @param tenure one that has ended */
export function endedBy(tenure: Tenure, end: TenureEnd, { account }: WorldAccount): FreedBy {
  return ofEnd(tenure, end, (by) => {
    if (by === undefined) return 'server';
    const had = account.tenures.some(
      ({ client, lock, from }) => client === by && lock === tenure.lock && from < tenure.from,
    );
    return by === tenure.client ? 'first holder' : had ? 'former holder' : 'third party';
  });
}

/** The role of a client in what happened. */
function roleFor(
  by: string | undefined,
  older: GrantedVisit,
  newer: GrantedVisit,
  { tenures }: LockAccount,
): CauseRole {
  if (by === undefined) return 'server';
  if (by === older.visit.client) return 'first holder';
  const lock = older.tenures.at(-1)?.lock;
  const from = grantedAt(older);
  const had = tenures.some((each) => each.client === by && each.lock === lock && each.from < from);
  if (had) return 'former holder';
  return by === newer.visit.client ? 'second holder' : 'third party';
}

/** A failover or restart by which the node of the second grant did not have the first one. */
function lossBefore(
  tenure: Tenure,
  next: Tenure | undefined,
  { run }: WorldAccount,
): Pick<FreedBy, 'at' | 'what' | 'node'> | undefined {
  if (next === undefined || next.node === tenure.node || run.primaries > 1) return undefined;
  const event = run.events.findLast(
    ({ who, what, at }) => who === next.node && what === 'promote' && at <= next.from,
  );
  const at = (event?.at ?? next.from) / 1000;
  return { at, node: next.node, what: `the failover to ${next.node}, which never received it` };
}

/** What changed a key that the requests name so that both got in. */
function changedBetween(...asked: Parameters<typeof writeBetween>): FreedBy | undefined {
  const [older, newer, known, roleOf] = asked;
  return (
    surplusBefore(older, newer, known, roleOf) ??
    writeBetween(...asked) ??
    repeatedBetween(older, newer, known.account, roleOf)
  );
}

/** What changed a key that the requests name, between the two: a loss, or the last request of another kind. */
function writeBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
  roleOf: (by: string | undefined) => CauseRole,
  lostKeys: ReadonlySet<string>,
): FreedBy | undefined {
  const { run, account } = known;
  const [from, to] = [grantedAt(older), grantedAt(newer)];
  const calls = [older.call, newer.call].filter((call) => call !== undefined);
  const words = new Set(calls.flatMap((call) => call.words));
  const base = { tenure: undefined, by: undefined, request: undefined };
  const loss = run.events.findLast(
    ({ what, at }) => (what === 'promote' || what === 'restart') && at >= from && at <= to,
  );
  if (loss !== undefined && [...words].some((word) => lostKeys.has(word))) {
    const how = loss.what === 'promote' ? `the failover to ${loss.who}` : `the restart of ${loss.who}`;
    return {
      ...{ ...base, how: 'lost', at: loss.at / 1000, role: 'server', node: loss.who },
      what: `${how}, which did not have it`,
    };
  }
  const gone = goneBetween(older, newer, known, roleOf);
  if (gone !== undefined) return gone;
  const kinds = new Set(calls.map(kindOf));
  // A lock that the client found absent was free before anybody set it.
  const isAbsent = isRefused(newer.call) && /^h?(?:get|exists)$/.test(newer.call?.name ?? '');
  const found = run.writes.findLast((each) => {
    const { write, at } = each;
    if (at < from || at > to || !words.has(write.key)) return false;
    if (isAbsent && write.type !== 'none' && !/^hdel$/i.test(write.command[0] ?? '')) return false;
    const call = account.calls.causeOf(each);
    return call === undefined || !kinds.has(kindOf(call));
  });
  if (found === undefined) return undefined;
  const call = account.calls.causeOf(found);
  const by = found.write.client;
  if (by === undefined && (found.write.type === 'none' || isOfField(found.write)))
    return endOfLease(found, from, older.call?.client, known, roleOf);
  return {
    ...{ ...base, how: 'changed', at: found.at / 1000, role: roleOf(by), by, node: found.node },
    what: call === undefined ? (found.write.command[0] ?? '').toUpperCase() : kindOf(call),
    request: call === undefined ? undefined : requestOf(call),
  };
}

/** A request about the same keys that was executed twice between the two: a counter that counts twice lets in too early. */
function repeatedBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  account: LockAccount,
  roleOf: (by: string | undefined) => CauseRole,
): FreedBy | undefined {
  const [from, to] = [grantedAt(older), Math.max(grantedAt(newer), micros(newer.visit.from))];
  const keys = new Set(
    [older.call, newer.call].flatMap((call) => (call === undefined ? [] : [...call.words])),
  );
  const call = account.calls.all.find(
    (each) =>
      each.executed !== null &&
      each.executed > from &&
      each.executed <= to &&
      [...each.wrote].some((key) => keys.has(key)) &&
      repeatedBy(each, account) !== undefined,
  );
  if (call === undefined) return undefined;
  const by = call.client;
  return {
    ...{ how: 'changed', at: (call.executed ?? 0) / 1000, role: roleOf(by), by, node: call.node },
    ...{ what: kindOf(call), request: requestOf(call), tenure: undefined },
  };
}

/**
 * True when the first lease had ended by the node's clock as the second began, although its entry was still there: as in a sorted set,
 * whose scores are deadlines.
 */
function isOverFor({ node, deadline }: Tenure, next: Tenure): boolean {
  if (deadline === undefined || next.deadline === undefined || next.lease === undefined) return false;
  return node === next.node && next.deadline - next.lease >= deadline;
}

function ofLease(tenure: Tenure, next: Tenure, { run }: WorldAccount): FreedBy {
  const jump = jumpOf(tenure.node, tenure.from, next.from, run);
  const end = tenure.from + (tenure.lease ?? 0) * 1000;
  return {
    ...{ tenure, node: tenure.node, by: undefined, request: undefined, role: 'server' },
    ...{ how: jump === undefined ? 'expired' : 'clock', at: (jump === undefined ? end : next.from) / 1000 },
    what: jump === undefined ? 'its lease was over' : `the clock of ${tenure.node} ${jump}`,
  };
}
