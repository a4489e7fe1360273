/** Finds out when anchored faults strike: at which time the events happen that their anchors name. */
import type { PlannedFault } from '../faults/index.ts';
import { toMicros, type WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { type Anchor, isOfKind, isSameEvent, missingWords } from './anchor.ts';
import { type Landmark, landmarksOf } from './landmarks.ts';

/** A fault at once after an event strikes before anything else can happen: a microsecond, in milliseconds. */
export const AT_ONCE = 0.001;

/** When the event happened that a fault follows. @param at when the fault struck, in milliseconds */
export function eventBefore(at: number, { later }: Anchor): number {
  return toMicros(at - later - AT_ONCE);
}

/** The code of errors that say that a fault no longer strikes. */
export const NO_LONGER_STRIKES = 'LOSTLOCK_NO_LONGER_STRIKES';

/** An error that says why a fault no longer strikes what it struck when its world was found. */
export function noLongerStrikes({ kind, on }: PlannedFault, why: string): Error {
  const who = on === '' ? kind : `${kind} of ${on}`;
  const error = new Error(
    `${who} no longer strikes: ${why}. The code has changed since this world was found: explore it again`,
  );
  return Object.assign(error, { code: NO_LONGER_STRIKES });
}

/**
 * The plan with the times at which its anchored faults strike. Until a fault strikes, a world is the same as without it. So the
 * faults are found one after the other, the earliest first, in worlds that have those before it.
 * Rejects when an event does not happen.
 * @param play plays a world past its broken promises
 */
export async function timed(
  plan: WorldPlan,
  play: (plan: WorldPlan) => Promise<Pick<PlayedWorld, 'plan'> & { readonly landmarks: readonly Landmark[] }>,
): Promise<WorldPlan> {
  const times = new Map<PlannedFault, PlannedFault>();
  const known = (): PlannedFault[] =>
    plan.faults.flatMap((fault) => (fault.after === undefined ? [fault] : (times.get(fault) ?? [])));
  for (;;) {
    const open = plan.faults.filter((fault) => fault.after !== undefined && !times.has(fault));
    if (open.length === 0) return { ...plan, faults: known() };
    const { landmarks } = await play({ ...plan, faults: known() });
    let next: { readonly fault: PlannedFault; readonly at: number } | undefined;
    for (const fault of open) {
      const at = timeOf(fault.after as Anchor, landmarks);
      if (at !== undefined && (next === undefined || at < next.at)) next = { fault, at };
    }
    if (next === undefined) throw missing(open[0] as PlannedFault, landmarks);
    times.set(next.fault, { ...next.fault, at: next.at });
  }
}

/** When a fault strikes that has this anchor, in milliseconds; undefined when the event does not happen. */
function timeOf(anchor: Anchor, landmarks: readonly Landmark[]): number | undefined {
  const found = landmarks.find((each) => isSameEvent(each.anchor, anchor));
  return found && toMicros(found.at + AT_ONCE + anchor.later);
}

function missing(fault: PlannedFault, landmarks: readonly Landmark[]): Error {
  const anchor = fault.after as Anchor;
  const count = landmarks.filter(
    (each) => isOfKind(each.anchor, anchor) && each.anchor.side === anchor.side,
  ).length;
  return noLongerStrikes(fault, missingWords(anchor, count));
}

/** Plays worlds for `timed`, each only once: the plans of one reduction begin alike. */
export function landmarksByPlan(
  play: (plan: WorldPlan) => Promise<PlayedWorld>,
): (plan: WorldPlan) => Promise<{ readonly plan: WorldPlan; readonly landmarks: readonly Landmark[] }> {
  const known = new Map<string, { readonly plan: WorldPlan; readonly landmarks: readonly Landmark[] }>();
  return async (plan) => {
    const key = JSON.stringify(plan);
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = { plan, landmarks: landmarksOf(await play(plan)) }));
    return found;
  };
}
