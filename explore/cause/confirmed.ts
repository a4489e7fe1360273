/** Finds a WAIT that confirmed nothing: it counted too few replicas, or was answered on another connection than that of the write. */
import type { FreedBy } from './freeing.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import type { EmptyConfirmation } from './reason.ts';
import { micros, type WorldAccount } from './recorded.ts';
import { requestOf } from './request.ts';

/** The WAIT that the holder of a lost lock believed, although it did not say that replicas had it; undefined when there is none. */
export function emptyConfirmation(
  holder: GrantedVisit | undefined,
  { how, what, request, tenure }: FreedBy,
  { account }: WorldAccount,
): EmptyConfirmation | undefined {
  const grant = tenure?.call;
  if (holder === undefined || grant === undefined || how !== 'lost' || request !== undefined)
    return undefined;
  const { client, from } = holder.visit;
  const waits = account.confirmations.filter(
    (each) => each.client === client && each.call.sent >= grantedAt(holder) && each.call.sent <= micros(from),
  );
  const last = waits.findLast(({ told }) => told !== null && told <= micros(from));
  if (last === undefined || last.wanted < 1) return undefined;
  // A restart loses what replicas have as well.
  if ((last.copies ?? 0) < last.wanted)
    return what.startsWith('the failover') ? { request: requestOf(last.call), why: 'few' } : undefined;
  if (last.call.connection === grant.connection && last.call.node === grant.node) return undefined;
  const isAgain = waits.some(({ told, call }) => told === null && call.sent < last.call.sent);
  return { request: requestOf(last.call), why: isAgain ? 'again' : 'apart' };
}
