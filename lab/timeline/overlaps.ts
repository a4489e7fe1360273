/** Finds the times in which two clients believed that they held the same lock. */
import type { TimelineHold, TimelineOverlap } from '../../page/format.ts';

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
