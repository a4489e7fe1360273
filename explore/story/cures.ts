/** Finds what heals several findings at once: a defect often shows in several ways, and each has a cure of its own beside that. */
import { namesText } from './text.ts';

/** What begins the line of a story that says what would have prevented it. */
export const PREVENTED_BY = 'prevented by: ';

/**
 * A sentence for each cure that several findings share: `findings 1, 2 and 4 have one cure: a fencing token that the resource checks`.
 * A cure that heals no more than another one does is left out.
 * @param stories the stories of the findings, in their order
 */
export function sharedCures(stories: readonly string[]): string[] {
  const healed = new Map<string, number[]>();
  for (const [at, story] of stories.entries())
    for (const cure of curesIn(story)) healed.set(cure, [...(healed.get(cure) ?? []), at + 1]);
  const shared = [...healed].filter(([, findings]) => findings.length > 1);
  const first = shared.filter(
    ([, findings], i) =>
      !shared.some(
        ([, others], k) =>
          i !== k &&
          findings.every((each) => others.includes(each)) &&
          (others.length > findings.length || k < i),
      ),
  );
  return first.map(([cure, findings]) => {
    const all = findings.length === stories.length ? ` (${findings.length === 2 ? 'both' : 'all'})` : '';
    return `findings ${namesText(findings.map(String))}${all} have one cure: ${cure}`;
  });
}

/** The cures that a story names, any of which is enough. What only makes the loss rarer is none. */
function curesIn(story: string): readonly string[] {
  const line = story.split('\n').find((each) => each.startsWith(PREVENTED_BY)) ?? PREVENTED_BY;
  return line
    .slice(PREVENTED_BY.length)
    .split(/; |, or /)
    .filter((cure) => cure !== '' && !cure.includes('makes it rarer'));
}
