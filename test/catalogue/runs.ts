/** The runs of one number of the catalogue as the site shows them: each with its verdict, and what would have prevented the loss. */
import type { StoryStep, Timeline, TimelineVerdict } from '../../page/format.ts';
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
    return { ...timeline, verdict, ...(timeline.story.length === 0 && { story: [NOTHING] }) };
  });
}

/** The story of a run in which a lock refuses its options. */
const NOTHING: StoryStep = {
  at: 0,
  lane: '',
  text: 'No client sends a request in this run.',
  mood: 'plain',
};

/** What no page of the catalogue may have: one sentence for the run that loses and for the one that does not. */
export function sameTitles(plays: readonly KeptPlay[]): string[] {
  const lost = new Set(plays.flatMap((play) => (play.form === 'unsafe' ? [shortTitle(play)] : [])));
  return plays.flatMap((play) =>
    play.form === 'safe' && lost.has(shortTitle(play)) ? [shortTitle(play)] : [],
  );
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
