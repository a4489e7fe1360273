/** Back and Next, and between them which sentence is shown. On a phone, the sentence itself stands there, under the drawing. */
import { isBroken } from '../drawing/numbers.ts';
import type { Timeline } from '../format.ts';
import { answerOf } from '../plain.ts';
import { button, element } from './elements.ts';

export class StepBar {
  readonly #back: HTMLButtonElement;
  readonly #next: HTMLButtonElement;
  readonly #count = element('span', { class: 'count' });
  readonly #text = element('p', { class: 'sentence', 'aria-live': 'polite' });
  readonly root: HTMLElement;

  /** @param step called with 1 for Next, and -1 for Back */
  constructor(step: (by: 1 | -1) => void) {
    this.#back = button('\u25c0 Back', () => step(-1));
    this.#next = button('Next \u25b6', () => step(1), { class: 'main' });
    this.root = element(
      'section',
      { class: 'steps', 'aria-label': 'Steps' },
      this.#text,
      this.#back,
      this.#count,
      this.#next,
    );
  }

  /** Shows a sentence. @param step from 0; -1 for the verdict */
  show(run: Timeline, step: number): void {
    const { length } = run.story;
    const said = run.story[step];
    this.#count.textContent =
      length === 0 ? '' : said === undefined ? `${length} steps` : `${step + 1} of ${length}`;
    if (said !== undefined) {
      this.#text.className = isBroken(said) && run.verdict?.safe !== true ? 'sentence bad' : 'sentence';
      this.#text.replaceChildren(said.text);
      return;
    }
    const { word, why } = answerOf(run);
    this.#text.replaceChildren(...(word === '' ? [] : [element('strong', {}, word), ' ']), why);
    this.#text.className = run.verdict?.safe === true ? 'sentence verdict safe' : 'sentence verdict';
  }
}
