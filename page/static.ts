/** The runs as plain HTML: for a reader without JavaScript, for `grep`, and for a preview that runs no scripts. */
import { timeText } from './drawing/axis.ts';
import type { Timeline, TimelineFile } from './format.ts';
import { answerOf } from './plain.ts';

/** The text of all runs. The page's script puts the drawing in its place. */
export function staticHtml({ runs, back }: TimelineFile): string {
  const link =
    back === undefined || !isSafeAddress(back.address)
      ? []
      : [`<p><a href="${escaped(back.address)}">${escaped(back.text)}</a></p>`];
  return [...link, ...runs.map(sectionOf)].join('\n');
}

/** True for an address that a page may link to: no scheme but HTTP can be in it. */
export function isSafeAddress(address: string): boolean {
  return /^https?:\/\//i.test(address) || /^(?![\w+.-]*:)[^\s\p{Cc}\\]+$/u.test(address);
}

function sectionOf(run: Timeline): string {
  const { title, story, verdict } = run;
  const { word, why } = answerOf(run);
  const parts = [`<h1>${escaped(title)}</h1>`];
  if (word !== '' || why !== '')
    parts.push(
      `<p class="verdict">${word === '' ? '' : `<strong>${escaped(word)}</strong> `}${escaped(why)}</p>`,
    );
  if (verdict?.cure !== undefined)
    parts.push(`<p>What would have prevented it: ${escaped(verdict.cure)}</p>`);
  const steps = story.map(({ at, text }) => `<li><time>${timeText(at)}</time> ${escaped(text)}</li>`);
  parts.push(`<ol>${steps.join('\n')}</ol>`);
  return `<section>${parts.join('\n')}</section>`;
}

/** Text without any character that is special to HTML. Letters of other alphabets stay, so that `grep` finds them. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']|[\p{Cc}\p{Cf}\p{Cs}]/gu, (letter) => `&#${letter.codePointAt(0)};`);
}
