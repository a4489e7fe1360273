/** Plays the world of a replay text, and makes sure that its faults strike what they struck when the world was found. */
import { NO_HASH, type ReplayText, type WorldPlan } from '../plan.ts';
import { playWorld } from '../play.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Rules } from '../run.ts';
import { landmarksByPlan, noLongerStrikes, timed } from './resolve.ts';
import { foundBy, foundWords } from './strikes.ts';

/** A world that was played from a text. */
export interface PlayedText {
  readonly world: PlayedWorld;
  /** False when its trace is another one than that of the text. True where a failure ended it: its trace says less than what failed. */
  readonly isSameTrace: boolean;
}

/** The plan of a text with the times at which its faults strike. Rejects when an event that a fault follows does not happen. */
export async function timedPlan(rules: Rules, plan: WorldPlan): Promise<WorldPlan> {
  const past = { ...rules, playOn: true };
  return await timed(
    plan,
    landmarksByPlan((each) => playWorld(past, each)),
  );
}

/** Plays the text. Rejects when a fault no longer strikes. */
export async function playText(rules: Rules, { plan, hash }: ReplayText): Promise<PlayedText> {
  const world = await playWorld(rules, await timedPlan(rules, plan));
  if (world.hash().startsWith(hash)) return { world, isSameTrace: true };
  checkStrikes(world);
  return { world, isSameTrace: hash === NO_HASH || world.failure !== undefined };
}

/** Throws when a fault that follows an event strikes nothing, or something else than it did. */
function checkStrikes(world: PlayedWorld): void {
  for (const fault of world.plan.faults) {
    if (fault.after === undefined || fault.found === undefined) continue;
    if (!world.struck.includes(fault)) {
      // What came before may have ended the world: then it is told as it is.
      if (world.stopped) continue;
      throw noLongerStrikes(fault, 'it finds nothing to strike');
    }
    const found = foundBy(world, fault);
    if (found !== fault.found)
      throw noLongerStrikes(fault, `then ${foundWords(fault.found)}; now ${foundWords(found)}`);
  }
}
