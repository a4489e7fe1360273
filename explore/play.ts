/** Plays one plan in a virtual world. */
import { withShortStacks } from '../lab/time/stacks.ts';
import type { WorldPlan } from './plan.ts';
import type { PlayedWorld } from './played-world.ts';
import { playOn, type Rules } from './run.ts';
import { startVirtualStage } from './stage/virtual/stage.ts';

/** Plays the plan. Rejects only when the world itself cannot be made: whatever goes wrong in it is its `failure`. */
export async function playWorld(rules: Rules, plan: WorldPlan): Promise<PlayedWorld> {
  return await withShortStacks(
    async () => await playOn(await startVirtualStage(rules.topology, plan.seed, plan.jitter), rules, plan),
  );
}
