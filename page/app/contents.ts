/** The list of the runs of a file, each with its verdict. */
import type { Timeline, TimelineBack } from '../format.ts';
import { answerOf } from '../plain.ts';
import { isSafeAddress } from '../static.ts';
import { addressOf } from './address.ts';
import { element } from './elements.ts';

/** The link to the page that the runs belong to, if they belong to one. */
export function backLink(back: TimelineBack | undefined): HTMLElement[] {
  if (back === undefined || !isSafeAddress(back.address)) return [];
  const link = element('a', { href: back.address }, back.text);
  return [element('nav', { class: 'back', 'aria-label': 'Site' }, '\u2190 ', link)];
}

/** The list. @param names of the runs, for links @param open shows a run */
export function contentsOf(
  runs: readonly Timeline[],
  names: readonly string[],
  open: (run: number) => void,
  back?: TimelineBack,
): HTMLElement[] {
  const broken = runs.filter(({ verdict }) => verdict?.safe === false).length;
  const judged = runs.filter(({ verdict }) => verdict !== undefined).length;
  const sum = judged === 0 ? '' : `${broken} of ${judged} broken.`;
  const items = runs.map((run, i) => {
    const { word, why } = answerOf(run);
    const link = element('a', { href: addressOf(names[i] as string) }, run.title);
    link.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(i);
    });
    const look = run.verdict === undefined ? '' : run.verdict.safe ? 'verdict safe' : 'verdict';
    const said = element('p', look === '' ? {} : { class: look }, element('strong', {}, word), ` ${why}`);
    return element('li', {}, element('h2', {}, link), said);
  });
  return [
    element('header', {}, ...backLink(back), element('h1', {}, `${runs.length} runs`), element('p', {}, sum)),
    element('main', { class: 'contents' }, element('ol', { class: 'runs' }, ...items)),
  ];
}
