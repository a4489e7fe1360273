/** The story of a timeline as lines of text, for terminals and for the messages of failed tests. */
import { checkString } from '../../base/options.ts';
import type { Timeline } from '../../page/format.ts';

/** The story, a line for each sentence with its time in milliseconds; empty when nothing worth telling has happened. */
export function toldStory({ story }: Pick<Timeline, 'story'>): string {
  return story.map(({ at, text }) => `${millisText(at).padStart(11)} ms  ${text}`).join('\n');
}

/** Microseconds as milliseconds for people: `1,015.0`. */
function millisText(micros: number): string {
  const [whole = '', fraction = '0'] = (micros / 1000).toFixed(1).split('.');
  return `${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}.${fraction}`;
}

/** What records the events of a run. */
interface NotedTrace {
  note(who: string, what: string, detail: string): void;
}

/** Records what a test says of a party. Throws TypeError for an empty name or text. */
export function noteIn(trace: NotedTrace, who: string, text: string): void {
  checkString('note.who', who);
  checkString('note', text);
  trace.note(who, 'note', text);
}
