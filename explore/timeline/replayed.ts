/** The timeline of a world that is played again: it goes on after the broken promise, to show what follows. */

import type { Timeline, TimelineVerdict } from '../../page/format.ts';
import { captured } from '../capture.ts';
import { causeOf } from '../cause/cause.ts';
import { judge } from '../judge.ts';
import type { FullOptions } from '../options.ts';
import type { WorldPlan } from '../plan.ts';
import { playWorld } from '../play.ts';
import type { PlayedWorld } from '../played-world.ts';
import { brokenText } from '../promises/broken.ts';
import { survey } from '../search/survey.ts';
import { preventionOf } from '../story/blame.ts';
import { sentenceOf } from '../story/sentence.ts';
import type { Breach } from '../visit.ts';
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
  const verdict: TimelineVerdict = {
    safe: breach === undefined,
    holders: [...new Set(inside)],
    why,
    ...(breach !== undefined && reasonFor(world, breach)),
  };
  return { ...playedTimeline(world, full.name, breach), replay: text, verdict };
}

/** The same sentence and the same advice as in the report. */
function reasonFor(world: PlayedWorld, breach: Breach): Pick<TimelineVerdict, 'sentence' | 'cure'> {
  const cause = causeOf(world, breach);
  const prevention = preventionOf(cause, breach);
  return { sentence: sentenceOf(cause, breach), ...(prevention !== '' && { cure: `${prevention}.` }) };
}
