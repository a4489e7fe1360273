/** Finds leases and fences that are times of a clock, which somebody may set. */
import type { PlayedWorld } from '../played-world.ts';
import { timeNear } from '../times.ts';
import { type FreedBy, jumpOf } from './freeing.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import type { WorldAccount } from './recorded.ts';
import { kindOf } from './request.ts';

/** The end of a lease whose deadline came from the holder's own clock, which was wrong; undefined for other ends. */
export function endByOwnClock(
  freed: FreedBy,
  { lines }: PlayedWorld,
  { account }: WorldAccount,
): FreedBy | undefined {
  const { how, tenure, at } = freed;
  if (how !== 'expired' || tenure?.deadline === undefined) return undefined;
  const { client, deadline } = tenure;
  const isWrong = lines.some(
    (line) => line.kind === 'fault' && line.who === client && line.at <= at && CLOCK.test(line.what),
  );
  if (!isWrong) return undefined;
  const times = [String(deadline), String(deadline / 1000)];
  const call = account.calls.all.findLast(
    (each) => each.client === client && each.words.some((word) => times.includes(word)),
  );
  return call === undefined ? undefined : { ...freed, how: 'own clock', by: client, what: kindOf(call) };
}

/** How an exploration tells that a clock is wrong. */
const CLOCK = /^its clock (?:is set|runs)/;

/** For fences that are times and do not grow: what the clock did, in words. Undefined for other fences. */
export function clockOfFences(
  oldest: GrantedVisit,
  newest: GrantedVisit,
  { lines }: PlayedWorld,
  { run }: WorldAccount,
): string | undefined {
  const { deadline } = oldest.tenures.at(-1) ?? {};
  const [first, last] = [oldest.visit.fence, newest.visit.fence];
  if (deadline === undefined || first === undefined || last === undefined) return undefined;
  if ([first, last].some((fence) => timeNear(fence, deadline) === undefined)) return undefined;
  const node = newest.call?.node ?? '';
  const jump = jumpOf(node, grantedAt(oldest), grantedAt(newest), run);
  if (jump !== undefined) return `the clock of ${node} ${jump}`;
  const line = lines.findLast(
    ({ kind, who, what, at }) =>
      kind === 'fault' &&
      CLOCK.test(what) &&
      at <= newest.visit.from &&
      (who === newest.visit.client || who === oldest.visit.client || who === node),
  );
  return line === undefined
    ? 'the fences are times'
    : `the clock of ${line.who}${line.what.slice('its clock'.length)}`;
}
