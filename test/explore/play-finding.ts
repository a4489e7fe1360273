/** Plays the world of a finding once more, and gives what a story is told from. */
import { timedPlan } from '../../explore/anchors/play-text.ts';
import { captured } from '../../explore/capture.ts';
import { causeOf } from '../../explore/cause/cause.ts';
import type { Cause } from '../../explore/cause/reason.ts';
import { judge } from '../../explore/judge.ts';
import { type ExploreOptions, fullOptions } from '../../explore/options.ts';
import { decodePlan, type WorldPlan } from '../../explore/plan.ts';
import { playWorld } from '../../explore/play.ts';
import type { PlayedWorld } from '../../explore/played-world.ts';
import { survey } from '../../explore/search/survey.ts';
import type { Breach } from '../../explore/visit.ts';

/** A played world that breaks a promise. */
export interface BrokenWorld {
  readonly world: PlayedWorld;
  readonly breach: Breach;
  readonly cause: Cause;
}

/** Plays a plan, or the text of one. Throws when no promise is broken. */
export async function playBroken(options: ExploreOptions, what: string | WorldPlan): Promise<BrokenWorld> {
  const full = fullOptions(options);
  const plan = typeof what === 'string' ? decodePlan(what)?.plan : what;
  if (plan === undefined) throw new Error(`no plan: ${String(what)}`);
  return await captured(async () => {
    const { rules } = await survey(full);
    const world = await playWorld(rules, await timedPlan(rules, plan));
    const [breach] = judge(world, full.promises, full.own);
    if (breach === undefined) throw new Error(`nothing is broken: ${JSON.stringify(world.lines)}`);
    return { world, breach, cause: causeOf(world, breach) };
  });
}
