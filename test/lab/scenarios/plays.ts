/** Keeps runs of scenarios as data of timelines. The site draws the pages of its catalogue from them (docs/site/catalogue.ts). */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Timeline } from '../../../page/format.ts';

/** The folder for the runs; without it nothing is kept. */
const FOLDER = process.env.LOSTLOCK_PLAYS;

/** A run that is kept. */
export interface KeptPlay {
  /** Its number in the catalogue, such as `S30`, or several: `S94, S105`. */
  readonly number: string;
  readonly form: 'unsafe' | 'safe';
  readonly timeline: Timeline;
}

/** Called at the end of a run whose fault struck, as long as its world is open. */
export type Keep = (run: { timelineData(notes: { readonly title: string }): Timeline }) => void;

/** Keeps the first run of this title and form. @param title begins with the number */
export function keeper(number: string, title: string, form: KeptPlay['form']): Keep {
  return (run) => {
    if (FOLDER === undefined) return;
    const file = join(
      FOLDER,
      `${number} ${form} ${title}`
        .replace(/[^\w-]+/g, '-')
        .slice(0, 120)
        .concat('.json'),
    );
    if (existsSync(file)) return;
    mkdirSync(FOLDER, { recursive: true });
    const label = form === 'unsafe' ? 'Unsafe' : 'Safe';
    const play: KeptPlay = { number, form, timeline: run.timelineData({ title: `${label}: ${title}` }) };
    writeFileSync(file, JSON.stringify(play));
  };
}
