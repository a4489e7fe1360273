/** Finds a text in the events of a run and in its sentences. */
import { type RunView, type Selection, toldBy } from '../drawing/view.ts';
import type { StoryStep, TimelineMessage } from '../format.ts';
import { readable } from '../text.ts';

/** A place at which a text was found: an event, or a sentence. */
export interface Hit {
  readonly at: number;
  readonly selection?: Selection;
  /** The index of the sentence. */
  readonly sentence?: number;
}

/** The places in the order of time. An event that a sentence tells is found once. @param events those that are shown */
export function searchIn(
  scene: RunView,
  events: readonly Selection[],
  story: readonly StoryStep[],
  text: string,
): Hit[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const has = (where: string | undefined): boolean => where?.toLowerCase().includes(wanted) === true;
  const told = new Set<string>();
  const hits: Hit[] = [];
  for (const [sentence, step] of story.entries()) {
    if (!has(step.text)) continue;
    const { type, index } = toldBy(step) ?? {};
    told.add(`${type} ${index}`);
    hits.push({ at: step.at, sentence });
  }
  for (const selection of events) {
    const { type, index } = selection;
    if (told.has(`${type} ${index}`)) continue;
    const where =
      type === 'message'
        ? searched(scene.run.messages[index])
        : type === 'mark'
          ? scene.run.marks[index]?.text
          : undefined;
    if (has(where)) hits.push({ at: scene.timesOf(selection)[0], selection });
  }
  return hits.sort((a, b) => a.at - b.at);
}

/** Where a search looks. A shortened text lacks the rest of a long key. */
function searched(
  { text, bytes }: Pick<TimelineMessage, 'text' | 'bytes'> = { text: '', bytes: '' },
): string {
  return text.includes('...') ? `${text} ${readable(bytes)}` : text;
}
