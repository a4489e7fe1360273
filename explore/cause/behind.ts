/** Finds what lies behind the end of a lock: for some promises it matters less that the lock was free than what was lost or given again. */
import type { SentCommand } from '../../lab/account/calls.ts';
import { keptBy } from '../../lab/timeline/record.ts';
import { historyOf } from '../history.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Breach } from '../visit.ts';
import { toldToAll } from './claimed.ts';
import { clockOfFences } from './clocks.ts';
import { bothStand } from './freed.ts';
import type { FreedBy } from './freeing.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import { putAgain } from './queues.ts';
import { micros, type WorldAccount } from './recorded.ts';
import { type CauseRequest, requestOf } from './request.ts';

/** What gave work to a second client, or what freed the lock. */
export function behindOf(
  breach: Breach,
  freed: FreedBy,
  granted: readonly GrantedVisit[],
  known: WorldAccount,
  world: PlayedWorld,
): FreedBy {
  const [oldest, newest] = [granted[0], granted.at(-1)];
  if (oldest === undefined || newest === undefined) return freed;
  // To take one of several permits overwrites no other.
  const isPermit = breach.promise === 'permits' && freed.how === 'overwritten';
  if (isPermit && freed.request?.call === newest.call) return bothStand(newest);
  const again =
    /^(?:once|mutual-exclusion)$/.test(breach.promise) && NO_END.includes(freed.how)
      ? (putAgain(oldest, newest, known) ?? toldToAll(oldest, newest, known))
      : undefined;
  return again ?? lossBehind(breach, freed, granted, known, world);
}

/** What is said of work that no lock protects. */
const NO_END: readonly FreedBy['how'][] = ['overwritten', 'changed', 'never taken', 'together', 'unknown'];

/**
 * What counts for these promises is not that the lock was given back: work is done again when its end was acknowledged and then
 * lost, and a fence comes twice when the counter was. Otherwise what freed the lock.
 */
function lossBehind(
  { promise }: Breach,
  freed: FreedBy,
  granted: readonly GrantedVisit[],
  known: WorldAccount,
  world: PlayedWorld,
): FreedBy {
  const { run, account } = known;
  const [oldest, newest] = [granted[0], granted.at(-1)];
  if (oldest === undefined || newest === undefined) return freed;
  const { how, at, by, request } = freed;
  const isEnd = promise === 'once' && how === 'released' && request !== undefined;
  const isFence = promise === 'fencing' && how !== 'lost';
  if (!isEnd && !isFence) return freed;
  const [client, from] = isEnd ? [by, micros(at)] : [oldest.visit.client, drawnAt(oldest, known)];
  // A fence may be drawn by a later request than the grant.
  const until = isFence ? micros(newest.visit.from) : grantedAt(newest);
  // A counter of fences may be changed by another request than the one that takes the lock.
  const isLost = historyOf(world).lost.some(
    (write) =>
      write.client === client && (isFence || request?.call.wrote.has(write.command[1] ?? '') === true),
  );
  const loss = run.events.find(
    ({ what, who, at: then }) =>
      then >= from &&
      then <= until &&
      ((what === 'promote' && isLost) || (what === 'restart' && keptBy(run, who, then)?.size === 0)),
  );
  const clock = isFence ? clockOfFences(oldest, newest, world, known) : undefined;
  if (clock !== undefined && loss === undefined)
    return {
      ...freed,
      how: 'clock of fences',
      role: 'server',
      by: undefined,
      request: undefined,
      what: clock,
    };
  if (loss === undefined) return freed;
  const what = `the ${loss.what === 'promote' ? 'failover to' : 'restart of'} ${loss.who}`;
  const lost: FreedBy = { ...freed, how: 'lost', at: loss.at / 1000, role: 'server', node: loss.who, what };
  if (!isEnd) return { ...lost, by: undefined, request: undefined };
  const mark = markBefore(request, oldest, account);
  return mark === undefined ? lost : { ...lost, request: requestOf(mark) };
}

/** When the holder's fence was drawn, which may be before it had the lock. */
function drawnAt(holder: GrantedVisit, { account }: WorldAccount): number {
  const { client, fence, from } = holder.visit;
  const draw = account.calls.all.find(
    ({ sent, reply, wrote, ...each }) =>
      each.client === client && sent <= micros(from) && wrote.size > 0 && reply?.text === String(fence),
  );
  return Math.min(draw?.executed ?? Infinity, grantedAt(holder));
}

/** The last write of a client under the lock before it gave the lock back, to another key: the mark of finished work. */
function markBefore(
  { call: release }: CauseRequest,
  { visit, tenures }: GrantedVisit,
  { calls }: WorldAccount['account'],
): SentCommand | undefined {
  const keys = new Set(tenures.map(({ key }) => key));
  return calls.all.findLast(
    ({ client, sent, wrote, words }) =>
      client === release.client &&
      sent >= micros(visit.from) &&
      sent < release.sent &&
      wrote.size > 0 &&
      !words.some((word) => keys.has(word)),
  );
}
