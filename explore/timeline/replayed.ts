/** The timeline of a world that is played again: it goes on after the broken promise, to show what follows. */

import type { Timeline, TimelineVerdict } from '../../page/format.ts';
import { captured } from '../capture.ts';
import { judge } from '../judge.ts';
import type { FullOptions } from '../options.ts';
import type { WorldPlan } from '../plan.ts';
import { playWorld } from '../play.ts';
import { brokenText } from '../promises/broken.ts';
import { survey } from '../search/survey.ts';
import { playedTimeline } from './played.ts';

/** Plays the plan, and returns its timeline with a verdict. @param text what plays it again */
export async function replayedTimeline(full: FullOptions, plan: WorldPlan, text: string): Promise<Timeline> {
  const world = await captured(async () => {
    const { rules } = await survey(full);
    return await playWorld({ ...rules, playOn: true }, plan);
  });
  const [breach] = judge(world, full.promises, full.own);
  const inside = breach?.visits.flatMap((id) => world.visits[id]?.client ?? []) ?? [];
  const why = breach === undefined ? 'No promise is broken.' : brokenText(breach);
  const verdict: TimelineVerdict = { safe: breach === undefined, holders: [...new Set(inside)], why };
  return { ...playedTimeline(world, full.name, breach), replay: text, verdict };
}
