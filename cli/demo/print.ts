/** Prints stories as aligned, coloured columns, and their verdicts as a table. */
import type { Mood, Played } from '../../lab/demo/recorder.ts';
import { verdictWord } from '../../page/plain.ts';

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
/** How wide the text is where nobody says how wide the terminal is. */
export const COLUMNS = 100;
/** The columns of the time, and those that the text of an event has at least. */
const TIME = 11;
const TEXT_MIN = 32;

/** Where the lanes of a story begin. */
interface LaneColumns {
  readonly starts: readonly number[];
  /** False when the lanes stand so close that their names stand before each event instead. */
  readonly named: boolean;
}

/** Places the lanes. In a terminal that is too narrow for their names they move together. */
function placeLanes(lanes: readonly string[], columns: number): LaneColumns {
  const widths = lanes.map((lane) => Math.max(LANE_MIN, lane.length + 2));
  const starts = widths.map((_, i) => widths.slice(0, i).reduce((sum, width) => sum + width, 0));
  const last = starts.at(-1) ?? 0;
  const room = Math.max(0, columns - TIME - TEXT_MIN);
  if (last <= room) return { starts, named: true };
  const gap = Math.max(1, Math.floor(room / Math.max(1, lanes.length - 1)));
  return { starts: lanes.map((_, i) => i * gap), named: false };
}

/**
 * The lines of a story: a head with the names of the lanes, then each event under its lane.
 * @param columns the width of the terminal
 */
export function storyLines(story: Played, paint: Paint, columns = COLUMNS): string[] {
  const { starts, named } = placeLanes(story.lanes, columns);
  const head = story.lanes.map((lane, i) => lane.padEnd((starts[i + 1] ?? 0) - (starts[i] ?? 0))).join('');
  const names = paint('dim', `${'ms'.padStart(9)}  ${named ? head : ''}`.trimEnd());
  const lines = ['', paint('bold', story.title), names];
  for (const { at, lane, text, mood } of story.events) {
    const indent = starts[story.lanes.indexOf(lane)] ?? 0;
    const rails = railsBefore(starts, indent);
    const told = named || lane === '' ? text : `${lane}: ${text}`;
    for (const [i, line] of wrapped(told, columns - TIME - indent).entries()) {
      const time = at === undefined || i > 0 ? ''.padStart(9) : at.toFixed(1).padStart(9);
      lines.push(`${paint('dim', time)}  ${paint('dim', rails)}${paint(mood, line)}`);
    }
  }
  const { safe, why } = story.verdict;
  const verdict = `${wordOf(story)} ${why}`;
  for (const line of wrapped(verdict, columns - TIME))
    lines.push(paint(safe ? 'good' : 'bad', `${''.padStart(TIME)}${line}`));
  return lines;
}

/** The verdict in a few words, as on the page. */
function wordOf({ verdict, timeline }: Played): string {
  return verdictWord(verdict, timeline ?? { holds: [], overlaps: [] });
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
  for (const story of stories) {
    const { title, verdict } = story;
    lines.push(`  ${title.padEnd(width)}  ${paint(verdict.safe ? 'good' : 'bad', wordOf(story))}`);
  }
  return lines;
}
