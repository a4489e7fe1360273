/** The runs of one number of the catalogue as the site shows them: each with its verdict, and what would have prevented the loss. */
import type { Timeline, TimelineVerdict } from '../../page/format.ts';
import type { KeptPlay } from '../lab/scenarios/plays.ts';
import { PREVENTS } from './titles.ts';

/** What a run shows, without its form and its number: for a safe run, what prevents the loss. */
export function shortTitle({ timeline }: KeptPlay): string {
  const [title = ''] = timeline.title.replace(/^(Unsafe|Safe): (S\d+\w? )?/, '').split(PREVENTS);
  return title;
}

/** The runs, the unsafe ones first. */
export function judgedRuns(plays: readonly KeptPlay[]): Timeline[] {
  const all = [...plays].sort((a, b) => (a.form > b.form ? -1 : a.form < b.form ? 1 : 0));
  const cured = all.findIndex(({ form }) => form === 'safe');
  return all.map((play) => {
    const { form, timeline } = play;
    const safe = form === 'safe';
    const verdict: TimelineVerdict = {
      safe,
      holders: timeline.overlaps[0]?.clients ?? [],
      why: `${capital(shortTitle(play))}.`,
      ...(!safe && cured !== -1 && { cure: `${shortTitle(all[cured] as KeptPlay)}.`, cured }),
    };
    return { ...timeline, verdict };
  });
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
