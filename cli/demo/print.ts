/** Prints stories as aligned, coloured columns, and their verdicts as a table. */
import type { Mood, Played } from '../../lab/demo/recorder.ts';

const COLOURS: Record<Mood | 'dim' | 'bold', string> = {
  plain: '',
  good: '\x1b[32m',
  bad: '\x1b[31m',
  hand: '\x1b[36m',
  dim: '\x1b[2m',
  bold: '\x1b[1m',
};

/** Colours a text, or returns it unchanged when colours are off. */
export type Paint = (colour: keyof typeof COLOURS, text: string) => string;

/** A function that colours text with terminal codes, or leaves it as it is for files and pipes. */
export function painter(colours: boolean): Paint {
  return (colour, text) => (colours && COLOURS[colour] !== '' ? `${COLOURS[colour]}${text}\x1b[0m` : text);
}

const LANE_MIN = 10;
/** How wide a terminal is at least. */
const COLUMNS = 100;

/** The lines of a story: a head with the names of the lanes, then each event under its lane. */
export function storyLines(story: Played, paint: Paint): string[] {
  const widths = story.lanes.map((lane) => Math.max(LANE_MIN, lane.length + 2));
  const starts = widths.map((_, i) => widths.slice(0, i).reduce((sum, width) => sum + width, 0));
  const head = story.lanes.map((lane, i) => lane.padEnd(widths[i] ?? 0)).join('');
  const lines = ['', paint('bold', story.title), paint('dim', `${'ms'.padStart(9)}  ${head}`.trimEnd())];
  for (const { at, lane, text, mood } of story.events) {
    const indent = starts[story.lanes.indexOf(lane)] ?? 0;
    const rails = railsBefore(starts, indent);
    const time = at === undefined ? ''.padStart(9) : at.toFixed(1).padStart(9);
    lines.push(`${paint('dim', time)}  ${paint('dim', rails)}${paint(mood, text)}`);
  }
  const { holders, safe, why } = story.verdict;
  const held = holders.length === 0 ? 'nobody' : holders.join(' and ');
  const verdict = `${safe ? 'SAFE' : 'LOST'}: held by ${held}. ${why}`;
  for (const line of wrapped(verdict, COLUMNS - 11))
    lines.push(paint(safe ? 'good' : 'bad', `${''.padStart(11)}${line}`));
  return lines;
}

/** Breaks a text between words. @param width the longest line */
function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > width) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

function railsBefore(starts: readonly number[], indent: number): string {
  const rails = new Array<string>(indent).fill(' ');
  for (const start of starts) if (start < indent) rails[start] = '.';
  return rails.join('');
}

export function verdictTable(stories: readonly Played[], paint: Paint): string[] {
  const width = Math.max(...stories.map(({ title }) => title.length));
  const lines = ['', paint('bold', 'Verdicts')];
  for (const { title, verdict } of stories) {
    const word = paint(verdict.safe ? 'good' : 'bad', verdict.safe ? 'SAFE' : 'LOST');
    const held = verdict.holders.length === 0 ? 'nobody' : verdict.holders.join(' and ');
    lines.push(`  ${title.padEnd(width)}  ${word}  held by ${held}`);
  }
  return lines;
}
