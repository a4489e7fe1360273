/** What the top of the page says about a run: how it ended, why, and what would have prevented it, with and without that. */
import type { Timeline } from '../format.ts';
import { answerOf, verdictWord } from '../plain.ts';
import { button, element } from './elements.ts';

/** A run that loses, and the one in which the loss is prevented, by their indices. */
export interface CurePair {
  readonly without: number;
  readonly with: number;
}

/** The pair that a run belongs to. @param before the pair that was shown last: a run may be the cure of several others */
export function pairOf(runs: readonly Timeline[], run: number, before?: CurePair): CurePair | undefined {
  if (before?.with === run || before?.without === run) return before;
  const cured = runs[run]?.verdict?.cured;
  if (cured !== undefined && runs[cured] !== undefined && cured !== run) return { without: run, with: cured };
  const without = runs.findIndex(({ verdict }, i) => verdict?.cured === run && i !== run);
  return without === -1 ? undefined : { without, with: run };
}

/** The section. @param show shows another run */
export function answerFor(
  runs: readonly Timeline[],
  shown: number,
  pair: CurePair | undefined,
  show: (run: number) => void,
): HTMLElement {
  const run = runs[shown] as Timeline;
  const { verdict } = run;
  const { word, why } = answerOf(run);
  const section = element('section', { class: 'answer', 'aria-label': 'Verdict' });
  if (word !== '' || why !== '') {
    const look = verdict?.safe === true ? 'verdict safe' : 'verdict';
    section.append(
      element('p', { class: look }, ...(word === '' ? [] : [element('strong', {}, word), ' ']), why),
    );
  }
  const cure = runs[pair?.without ?? shown]?.verdict?.cure;
  if (cure !== undefined) {
    const prevents =
      verdict?.safe === true && pair !== undefined
        ? 'What prevents it here: '
        : 'What would have prevented it: ';
    section.append(element('p', { class: 'cure' }, `${prevents}${cure}`));
  }
  if (pair !== undefined) {
    const choices = [
      ['Without the cure', pair.without],
      ['With the cure', pair.with],
    ] as const;
    const buttons = choices.map(([label, index]) => {
      const own = runs[index];
      const ended = own?.verdict === undefined ? '' : `: ${verdictWord(own.verdict, own)}`;
      const pressed = String(index === shown);
      return button(`${label}${ended}`, () => show(index), { 'aria-pressed': pressed });
    });
    section.append(element('div', { class: 'toggle', role: 'group', 'aria-label': 'The cure' }, ...buttons));
  }
  if (verdict !== undefined && why !== verdict.why)
    section.append(element('details', {}, element('summary', {}, 'Details'), element('p', {}, verdict.why)));
  return section;
}
