/** Chooses anchors for the faults of a world: first exact ones, and then shorter ones to try. */
import type { PlannedFault } from '../faults/index.ts';
import { toMicros, type WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { type Anchor, GRANT, isSameEvent } from './anchor.ts';
import { type Landmark, landmarksOf } from './landmarks.ts';
import { AT_ONCE } from './resolve.ts';

/** What stands for a moment best, of what happens at the same time: what a reader and a real server can see. */
const ORDER = ['enters', 'leaves', 'writes', GRANT, 'executed', 'answered', 'sent'];

/** How many times as far the event that a fault follows may be as another one. */
const FAR = 4;

/**
 * The plan of a played world with an anchor for each fault, at the very times at which they struck.
 * @param actors the clients that the broken promise is about
 */
export function anchored({ plan, ...rest }: PlayedWorld, actors: ReadonlySet<string>): WorldPlan {
  if (plan.faults.every(({ after, at }) => after !== undefined || at === 0)) return plan;
  const landmarks = landmarksOf({ plan, ...rest });
  const faults = plan.faults.map((fault): PlannedFault => {
    if (fault.after !== undefined || fault.at === 0) return fault;
    const [nearest] = candidates(fault, landmarks, actors);
    return nearest === undefined ? fault : { ...fault, after: nearest };
  });
  return { ...plan, faults };
}

/**
 * The same fault at once after an event, which is shorter to say than some time after it.
 * @param landmarks those of its world
 * @param actors the clients that the broken promise is about
 */
export function* nearer(
  fault: PlannedFault,
  { lines }: PlayedWorld,
  landmarks: () => readonly Landmark[],
  actors: ReadonlySet<string>,
): Iterable<PlannedFault> {
  const { after, on, at } = fault;
  if (after === undefined || after.later === 0) return;
  // A fault that waits for a message strikes later than it begins.
  const struck = lines.find((line) => line.kind === 'fault' && line.who === on && line.at >= at)?.at ?? at;
  const found = candidates(fault, landmarks(), actors);
  const tried = [...candidates({ ...fault, at: struck }, landmarks(), actors), ...found];
  for (const [i, anchor] of tried.entries())
    if (tried.findIndex((each) => isSameEvent(each, anchor)) === i)
      yield { ...fault, after: { ...anchor, later: 0 } };
  // A short time after another event says more than a long time after this one.
  const nearest = found.find(({ later }) => later < after.later / FAR);
  if (nearest !== undefined) yield { ...fault, after: nearest };
  for (const unit of [100, 10, 1]) {
    const later = Math.floor(after.later / unit) * unit;
    if (later !== after.later && later > 0) yield { ...fault, after: { ...after, later } };
  }
}

/**
 * The last events before a fault: of the client that it strikes, of those that the promise is about, and of any. What clients
 * did at resources comes first, and then their grants: both are there with fewer clients as well, while requests are sent as often as
 * they are refused.
 */
function candidates(
  { on, at }: PlannedFault,
  landmarks: readonly Landmark[],
  actors: ReadonlySet<string>,
): Anchor[] {
  const before = landmarks.filter((each) => each.at < at);
  const own = before.filter(({ anchor }) => anchor.client === on);
  const acting = before.filter(({ anchor }) => actors.has(anchor.client));
  const found: Anchor[] = [];
  for (const events of [own, acting, before]) {
    for (const among of [events.filter(isAct), events.filter(isGrant), events]) {
      const last = lastOf(among);
      if (last === undefined || found.some((each) => isSameEvent(each, last.anchor))) continue;
      found.push({ ...last.anchor, later: Math.max(0, toMicros(at - last.at - AT_ONCE)) });
    }
  }
  return found;
}

const isAct = ({ anchor: { side } }: Landmark): boolean => side === '';
const isGrant = ({ anchor: { what } }: Landmark): boolean => what === GRANT;

/** The last one; of those that happen at the same time, the one that stands for the moment best. */
function lastOf(landmarks: readonly Landmark[]): Landmark | undefined {
  const end = landmarks.at(-1)?.at;
  const rank = ({ anchor: { side, what } }: Landmark): number =>
    ORDER.indexOf(side === '' || what === GRANT ? what : side);
  return landmarks.filter(({ at }) => at === end).sort((a, b) => rank(a) - rank(b))[0];
}
