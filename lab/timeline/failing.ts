/** Writes the timelines of tests that failed. */
import { join } from 'node:path';
import type { Timeline } from '../../page/format.ts';
import { writeTimeline } from './write.ts';

/** The folder, below the working directory, unless the environment variable names another; empty for none. */
const FOLDER = 'lostlock-timelines';

/** Something that has a timeline, such as a pair. */
export interface Drawn {
  timelineData(notes: { readonly title: string }): Timeline;
}

/** Writes the timelines of a failed test to one page, and prints its path. @param test the test's name */
export async function writeFailure(test: string, all: readonly Drawn[]): Promise<void> {
  const folder = process.env.LOSTLOCK_TIMELINES ?? FOLDER;
  if (folder === '' || all.length === 0) return;
  const name = test.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '');
  const file = join(folder, `${name.slice(0, 100) || 'test'}.html`);
  const runs = all.map((each, i) =>
    each.timelineData({ title: all.length === 1 ? test : `${test} (${i + 1})` }),
  );
  await writeTimeline(file, runs);
  process.stderr.write(`lostlock: the timeline of '${test}' is in ${file}\n`);
}
