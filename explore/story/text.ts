/** The parts of a story as text: times, the events, and the lines around them. */
import type { FindingEvent } from '../visit.ts';

/** What a story says besides its events. */
export interface StoryWords {
  /** What was played, and what is broken. */
  readonly title: string;
  /** What happened, in one sentence. */
  readonly sentence: string;
  /** What its scripts do; empty without scripts. */
  readonly scripts: string;
  /** Whose fault it is; empty when that is not known. */
  readonly fault: string;
  /** What would have prevented it; empty when that is not known. */
  readonly prevention: string;
}

/** A time for people: `1,015 ms`. @param ms in milliseconds */
export function timeText(ms: number): string {
  return `${numberText(Math.round(ms * 10) / 10)} ms`;
}

/** A number with commas between its thousands. */
export function numberText(value: number): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** The story: its title, what happened in one sentence, the events, whose fault it is, and what would have prevented it. */
export function storyText(
  { title, sentence, scripts, fault, prevention }: StoryWords,
  events: readonly FindingEvent[],
): string {
  const width = Math.max(...events.map(({ who }) => who.length), 4);
  const lines = events.map(({ at, who, text }) => {
    const [whole = '', fraction = '0'] = at.toFixed(1).split('.');
    const time = `${numberText(Number(whole))}.${fraction}`;
    return `${time.padStart(10)} ms  ${who.padEnd(width)}  ${text}`;
  });
  const last = Object.entries({ scripts, 'at fault': fault, 'prevented by': prevention });
  return [title, sentence, ...lines, ...last.map(([head, text]) => (text === '' ? '' : `${head}: ${text}`))]
    .filter((line) => line !== '')
    .join('\n');
}

/** Names in a list: `A`, `A and B`, `A, B and C`. */
export function namesText(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/**
 * The lines that play a world again, to copy. Empty when there is no single world to play.
 * @param replay what plays it again
 * @param file the file that exports the exploration; without it, the line is code
 */
export function seeText(replay: string, file?: string): string {
  if (replay === '') return '';
  const line =
    file === undefined
      ? `import { replay } from 'lostlock/explore', and await (await replay(options, '${replay}')).timeline('world.html'), with the options of explore()`
      : `npx lostlock explore ${file} --replay '${replay}' --timeline world.html`;
  return `replay: ${replay}\nsee it: ${line}`;
}
