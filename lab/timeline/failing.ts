/** Writes the timelines of tests that failed. */
import { join } from 'node:path';
import type { Timeline } from '../../page/format.ts';
import { toldStory } from './told.ts';
import { writeTimeline } from './write.ts';

/** The folder, below the working directory, unless the environment variable names another; empty for none. */
const FOLDER = 'lostlock-timelines';

/** Something that has a timeline, such as a pair. */
export interface Drawn {
  timelineData(notes: { readonly title: string }): Timeline;
}

/** Where the timeline of a failed test is written; undefined when the user wants none. @param part what is added to the name */
export function failurePath(test: string, part = ''): string | undefined {
  const folder = process.env.LOSTLOCK_TIMELINES ?? FOLDER;
  if (folder === '') return undefined;
  const name = test.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '');
  return join(folder, `${name.slice(0, 100) || 'test'}${part}.html`);
}

/**
 * Writes the timelines of a failed test to one page. Returns their stories as text, with the page's path.
 * @param test the test's name
 */
export async function tellFailure(test: string, all: readonly Drawn[]): Promise<string> {
  if (all.length === 0) return '';
  const runs = all.map((each, i) =>
    each.timelineData({ title: all.length === 1 ? test : `${test} (${i + 1})` }),
  );
  const stories = runs.map((run, i) => {
    const told = toldStory(run);
    const which = runs.length === 1 ? 'the pair' : `pair ${i + 1}`;
    return told === '' ? `Nothing happened in ${which}.` : `What happened in ${which}:\n${told}`;
  });
  const file = failurePath(test);
  if (file === undefined) return stories.join('\n');
  try {
    await writeTimeline(file, runs);
  } catch (error) {
    // The stories are worth more than the page. Deno has permissions, and a disk may be read-only.
    return `${stories.join('\n')}\ntimeline: not written: ${(error as Error).message}`;
  }
  process.stderr.write(`lostlock: the timeline of '${test}' is in ${file}\n`);
  return `${stories.join('\n')}\ntimeline: ${file}`;
}
