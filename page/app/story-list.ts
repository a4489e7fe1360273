/** The sentences of a story as a list: numbered as in the drawing, and what followed the broken promise folded up. */
import { timeText } from '../drawing/axis.ts';
import { isBroken } from '../drawing/numbers.ts';
import type { StoryStep, Timeline } from '../format.ts';
import { button, element } from './elements.ts';

/** So many sentences after the broken promise are shown at once. */
const AFTERMATH = 3;

export class StoryList {
  readonly root = element('ol', { class: 'story' });
  readonly #sentences: HTMLButtonElement[];
  readonly #items: HTMLElement[];
  /** Shows what is folded up. */
  readonly #more: HTMLElement | undefined;
  readonly #unfolded: () => void;
  /** How many sentences are shown. */
  shown: number;

  /** @param chosen called with the index of a sentence that was clicked on @param unfolded called when all are shown */
  constructor(
    { story, verdict }: Pick<Timeline, 'story' | 'verdict'>,
    chosen: (index: number) => void,
    unfolded: () => void,
  ) {
    this.#unfolded = unfolded;
    this.shown = story.length;
    this.#sentences = story.map((step, i) => sentenceOf(step, i, verdict?.safe === true, () => chosen(i)));
    this.#items = this.#sentences.map((each) => element('li', {}, each));
    this.root.append(...this.#items);
    const end = endOf(story);
    const rest = this.#items.slice(end);
    if (rest.length <= AFTERMATH) return;
    for (const item of rest) item.hidden = true;
    this.shown = end;
    const text = `What followed: ${rest.length} sentences`;
    this.#more = element(
      'li',
      {},
      button(text, () => this.#unfold(), { class: 'more', 'aria-expanded': 'false' }),
    );
    this.root.append(this.#more);
  }

  #unfold(): void {
    this.#more?.remove();
    for (const item of this.#items) item.hidden = false;
    this.shown = this.#items.length;
    this.#unfolded();
  }

  /** Marks the sentence that is shown. Returns its element; undefined for none. */
  mark(index: number): HTMLElement | undefined {
    for (const [i, sentence] of this.#sentences.entries()) {
      if (i === index) sentence.setAttribute('aria-current', 'true');
      else sentence.removeAttribute('aria-current');
    }
    if (this.#items[index]?.hidden === true) this.#unfold();
    return this.#sentences[index];
  }
}

/** Up to where the story is needed to understand what broke: all of it when nothing did. */
function endOf(story: readonly StoryStep[]): number {
  const broken = story.findIndex(isBroken);
  if (broken === -1) return story.length;
  const { at } = story[broken] as StoryStep;
  return story.findLastIndex((step) => isBroken(step) && step.at === at) + 1;
}

function sentenceOf(
  step: StoryStep,
  index: number,
  isHarmless: boolean,
  pressed: () => void,
): HTMLButtonElement {
  const made = button('', pressed);
  made.append(
    element(
      'span',
      { class: `number${isBroken(step) ? (isHarmless ? ' harmless' : ' broken') : ''}` },
      String(index + 1),
    ),
    element('time', {}, timeText(step.at)),
    element('span', { class: moodOf(step, isHarmless) }, step.text),
  );
  return made;
}

/** Red is for what is broken: two holders, and a promise. What only harms is bold. In a safe run nothing is red or bold. */
function moodOf(step: StoryStep, isHarmless: boolean): string {
  if (step.mood !== 'bad') return step.mood;
  if (isBroken(step)) return isHarmless ? 'hand' : 'bad';
  return isHarmless ? 'plain' : 'harm';
}

/**
 * Scrolls the list until a sentence is in view, above the details, which stick to its lower edge. The page itself does not scroll, because
 * the drawing must stay in view.
 */
export function showInside(sentence: HTMLElement, details: HTMLElement): void {
  const list = sentence.closest('aside');
  if (list === null) return;
  const [box, own] = [list.getBoundingClientRect(), sentence.getBoundingClientRect()];
  const bottom = Math.min(box.bottom, details.getBoundingClientRect().top);
  if (own.top < box.top) list.scrollTop -= box.top - own.top;
  else if (own.bottom > bottom) list.scrollTop += own.bottom - bottom;
}
