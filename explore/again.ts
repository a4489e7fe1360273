/** Plays the findings of an earlier report again, and says what has become of them. */
import { playText } from './anchors/play-text.ts';
import { NO_LONGER_STRIKES } from './anchors/resolve.ts';
import { captured } from './capture.ts';
import { reasoned, sorted } from './findings.ts';
import { judge } from './judge.ts';
import { type ExploreOptions, type FullOptions, fullOptions } from './options.ts';
import { decodePlan, type ReplayText } from './plan.ts';
import type { PlayedWorld } from './played-world.ts';
import { isSame } from './promises/broken.ts';
import type { Finding } from './report-data.ts';
import type { Rules } from './run.ts';
import { survey } from './search/survey.ts';

/** What has become of a finding. It `no longer strikes` when a fault of its world has nothing to strike any more. */
export type FindingOutcome = 'fixed' | 'still broken' | 'no longer strikes';

/**
 * Plays each finding again that is of a single world, with the code as it is now. Rejects with TypeError for wrong options, and as
 * `explore` does when the world without faults is of no use.
 */
export async function playedAgain(
  options: ExploreOptions,
  findings: readonly Finding[],
): Promise<(readonly [finding: Finding, outcome: FindingOutcome])[]> {
  const full = fullOptions(options);
  const texts = findings.flatMap((finding) => {
    const text = decodePlan(finding.replay);
    return text === undefined ? [] : [{ finding, text }];
  });
  if (texts.length === 0) return [];
  return await captured(async () => {
    const { rules } = await survey(full);
    const outcomes: (readonly [Finding, FindingOutcome])[] = [];
    for (const { finding, text } of texts)
      outcomes.push([finding, await outcomeOf(full, rules, finding, text)]);
    return outcomes;
  });
}

async function outcomeOf(
  { promises, own, accept }: FullOptions,
  rules: Rules,
  finding: Finding,
  text: ReplayText,
): Promise<FindingOutcome> {
  let world: PlayedWorld;
  try {
    ({ world } = await playText(rules, text));
  } catch (error) {
    if ((error as { code?: unknown }).code !== NO_LONGER_STRIKES) throw error;
    return 'no longer strikes';
  }
  const { plan } = world;
  const { others } = sorted(world, judge(world, promises, own), accept);
  const isBroken = others.some(
    ({ breach }) =>
      isSame(breach, finding) || reasoned({ plan, world, breach }).fingerprint === finding.fingerprint,
  );
  if (isBroken) return 'still broken';
  return plan.faults.every((fault) => world.struck.includes(fault)) ? 'fixed' : 'no longer strikes';
}
