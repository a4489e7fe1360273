/** The text that plays a world again, with what each anchored fault found when it struck. */
import type { PlannedFault } from '../faults/index.ts';
import { encodePlan, NO_HASH } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { foundBy } from './strikes.ts';

/** The text that plays a world again. */
export function replayText(world: PlayedWorld): string {
  const { plan, failure } = world;
  const faults = plan.faults.map(
    (fault): PlannedFault => (fault.after === undefined ? fault : { ...fault, found: foundBy(world, fault) }),
  );
  return encodePlan({ ...plan, faults }, failure === undefined ? world.hash() : NO_HASH);
}
