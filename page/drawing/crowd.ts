/** Draws messages that are too many for single arrows: those that fall into one column of pixels are drawn as one bar. */
import type { InView } from './places.ts';
import type { Sheet } from './sheet.ts';

/** A message that is wider than this is a line even in a crowd, in pixels. */
const NARROW = 3;

/** Draws the messages from `first` to `last` that the filter shows. */
export function drawCrowd({ pen, scene, theme, width, gutter }: Sheet, { first, last }: InView): void {
  const { sent, end, way, ways, lost } = scene.places;
  const shown = scene.shown;
  const [from, to] = scene.window;
  const columns = Math.max(1, Math.ceil(width - gutter));
  const scale = (width - gutter) / (to - from);
  const [bars, lines] = [new Uint8Array(ways.length * columns), new Uint8Array(ways.length * columns)];
  const slanted: number[][] = ways.map(() => []);
  const broken: number[] = [];
  for (let i = first; i < last; i++) {
    if (shown[i] === 0) continue;
    const x1 = ((sent[i] as number) - from) * scale;
    const x2 = ((end[i] as number) - from) * scale;
    if (x2 < 0 || x1 > columns) continue;
    const column = Math.max(0, Math.min(columns - 1, Math.floor(x1)));
    const at = (way[i] as number) * columns + column;
    const isNarrow = x2 - x1 <= NARROW;
    const taken = isNarrow ? bars : lines;
    if (lost[i] === 0 && taken[at] === 1) continue;
    const { from: y1, to: y2 } = ways[way[i] as number] as (typeof ways)[number];
    if (lost[i] === 1 && taken[at] !== 2) broken.push(gutter + x1, y1 + (y2 - y1) * 0.72);
    if (!isNarrow && taken[at] === 0)
      (slanted[way[i] as number] as number[]).push(gutter + x1, y1, gutter + x2, y2);
    taken[at] = lost[i] === 1 ? 2 : Math.max(1, taken[at] as number);
  }
  for (const [i, { kind, from: y1, to: y2 }] of ways.entries()) {
    const own = bars.subarray(i * columns, (i + 1) * columns);
    pen.bars(barsOf(own, Math.min(y1, y2), Math.abs(y2 - y1), gutter), theme[kind], 0.5);
    pen.lines(slanted[i] as number[], { colour: theme[kind], width: 1.2 });
  }
  pen.lines(crossesAt(broken), { colour: theme.ink, width: 3 });
}

/** Bars over neighbouring columns, which begin at the gutter: x, y, width, height, and so on. */
export function barsOf(columns: Uint8Array, y: number, height: number, gutter: number): number[] {
  const bars: number[] = [];
  for (let i = 0; i < columns.length; i++) {
    if (columns[i] === 0) continue;
    const begun = i;
    while (i < columns.length && columns[i] !== 0) i++;
    bars.push(gutter + begun, y, i - begun, height);
  }
  return bars;
}

function crossesAt(points: readonly number[]): number[] {
  const crosses: number[] = [];
  for (let i = 0; i + 1 < points.length; i += 2) {
    const [x, y] = [points[i] as number, points[i + 1] as number];
    crosses.push(x - 4, y - 4, x + 4, y + 4, x - 4, y + 4, x + 4, y - 4);
  }
  return crosses;
}
