/** Finds the times in which two clients believed that they held the same lock. */
import type { TimelineHold, TimelineOverlap } from '../../page/format.ts';
import type { Pools } from './pools.ts';

/** When the client stops believing: without a release, when its lease ends. */
export function believedUntil({ to, lease }: TimelineHold, end: number): number {
  return to ?? lease ?? end;
}

/** The overlaps, in the order of their beginnings. Those who share a lock do not overlap. @param end when the run ended, in microseconds */
export function overlapsOf(holds: readonly TimelineHold[], end: number): TimelineOverlap[] {
  const found: TimelineOverlap[] = [];
  const open = new Map<string, TimelineHold[]>();
  for (const hold of holds) {
    const name = `${hold.kind} ${hold.key}`;
    const before = (open.get(name) ?? []).filter((each) => believedUntil(each, end) > hold.from);
    for (const each of before) {
      if (each.client === hold.client || (each.shared === true && hold.shared === true)) continue;
      found.push({
        key: hold.key,
        clients: [each.client, hold.client],
        from: hold.from,
        to: Math.min(believedUntil(each, end), believedUntil(hold, end)),
      });
    }
    open.set(name, [...before, hold]);
  }
  return found;
}

/** A moment from which more permits of a pool are held than there are. */
export interface Crowd {
  readonly lock: string;
  readonly at: number;
  /** The clients that have them, one for each permit. */
  readonly holders: readonly string[];
  readonly permits: number;
}

/** The moments from which pools are too full, in the order of time. @param end when the run ended, in microseconds */
export function crowdsOf(holds: readonly TimelineHold[], pools: Pick<Pools, 'sizeOf'>, end: number): Crowd[] {
  const found: Crowd[] = [];
  const open = new Map<string, TimelineHold[]>();
  for (const hold of holds) {
    const permits = hold.permit === true ? pools.sizeOf(hold.key) : undefined;
    if (permits === undefined) continue;
    const now = [...(open.get(hold.key) ?? []).filter((each) => believedUntil(each, end) > hold.from), hold];
    open.set(hold.key, now);
    if (now.length > permits)
      found.push({ lock: hold.key, at: hold.from, holders: now.map(({ client }) => client), permits });
  }
  return found;
}
