/** A run as Markdown, for an issue: the verdict, the story with its numbers, the cure, and what plays it again. */
import { timeText } from './drawing/axis.ts';
import type { Timeline } from './format.ts';
import { answerOf } from './plain.ts';

/** The text. Nothing in the run can act as markup. */
export function markdownOf(run: Timeline): string {
  const { title, story, verdict, replay, clock } = run;
  const { word, why } = answerOf(run);
  const lines = [`## ${plain(title)}`, ''];
  if (word !== '') lines.push(`**${plain(word)}** ${plain(why)}`, '');
  else if (why !== '') lines.push(plain(why), '');
  for (const [i, { at, text }] of story.entries()) lines.push(`${i + 1}. ${timeText(at)}: ${plain(text)}`);
  if (story.length > 0) lines.push('');
  if (verdict?.cure !== undefined) lines.push(`What would have prevented it: ${plain(verdict.cure)}`, '');
  if (replay !== undefined) {
    const isSeed = /^\d+$/.test(replay);
    lines.push(`${isSeed ? 'Seed' : 'Replay text'}: ${code(replay)} (${clock} clock)`, '');
  }
  return lines.join('\n');
}

/** Text that Markdown shows as it is. */
function plain(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[\\`*_{}[\]<>#|~&@]/g, '\\$&');
}

function code(text: string): string {
  return `\`${text.replaceAll('`', "'").replace(/[\r\n]+/g, ' ')}\``;
}
