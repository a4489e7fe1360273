/** Draws a scene: lanes, bars of those who believe to hold a lock, what nodes know, messages, marks and overlaps. */
import { isInside } from '../plain.ts';
import { beginning } from '../text.ts';
import { roundStep, timeText } from './axis.ts';
import { drawBars } from './bars.ts';
import { type TextPlace, writeLabel } from './labels.ts';
import { drawLegend, sceneHeight } from './legend.ts';
import { drawMessages } from './messages.ts';
import { drawNumbers } from './numbers.ts';
import { clockText, drawAbsences, drawAnswerNames, drawAnswers, drawClocks, drawRepeats } from './rows.ts';
import type { Sheet } from './sheet.ts';
import { roleText } from './states.ts';
import { HEAD, type RunView } from './view.ts';

/** A place on the page that shows an event, for the pointer. */
export interface Spot {
  readonly type: 'mark' | 'overlap';
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** How much is seen of what the playhead has not reached. */
const AHEAD = 0.25;

/** Draws everything. Returns where marks and overlaps are. */
export function drawScene(sheet: Sheet): Spot[] {
  const { pen, scene, theme, width, gutter } = sheet;
  const spots: Spot[] = [];
  const height = sceneHeight(scene, width);
  pen.rect(0, 0, width, height, theme.ground);
  drawAxis(sheet);
  const right = scene.playhead === undefined ? width : Math.min(width, sheet.x(scene.playhead));
  pen.clipped(gutter, 0, Math.max(0, right - gutter), height, () => {
    drawAbsences(sheet);
    drawAnswers(sheet);
    const overlaps = drawOverlaps(sheet, spots);
    drawBars(sheet);
    drawNumbers(sheet);
    for (const write of overlaps) write();
    drawMarks(sheet, spots);
    drawClocks(sheet);
    drawTold(sheet);
    drawRepeats(sheet);
    drawMessages(sheet);
    fade(sheet);
    for (const write of sheet.late) write();
  });
  if (scene.playhead !== undefined && right >= gutter)
    pen.lines([right, HEAD - 8, right, scene.foot], { colour: theme.mark, width: 2 });
  drawGaps(sheet);
  drawNames(sheet);
  drawLegend(sheet);
  return spots;
}

/** Covers what is yet to come, and draws the playhead. */
function fade({ pen, scene, theme, width, x, gutter }: Sheet): void {
  if (scene.now === undefined) return;
  const at = Math.min(width, Math.max(gutter, x(scene.now)));
  // What happens at the very moment is not covered, such as the cross of a message that is lost.
  const left = Math.min(width, at + 8);
  pen.rect(left, HEAD, width - left, scene.foot - HEAD, theme.ground, 1 - AHEAD);
  if (x(scene.now) >= gutter - 1 && x(scene.now) <= width)
    pen.lines([at, HEAD - 8, at, scene.foot], { colour: theme.mark, width: 2 });
}

function drawNames(sheet: Sheet): void {
  const { pen, scene, theme, gutter } = sheet;
  pen.rect(0, 0, gutter, scene.foot + 4, theme.ground);
  drawAnswerNames(sheet);
  const room = gutter - 12;
  let shard: number | undefined;
  for (const { name, kind, slots, shard: own } of scene.lanes) {
    const y = scene.laneY(name) as number;
    const look = { colour: theme.ink, size: 15, bold: true };
    pen.text(
      10,
      y + 3,
      shortened(name, (text) => pen.widthOf(text, look) <= room),
      look,
    );
    const roles = scene.roles.get(name);
    const faint = { colour: theme.faint, size: 12 };
    // Of a role that has changed, the last one matters most.
    const said = [roleText(roles), roles === undefined ? kind : `\u2192 ${roles.at(-1)}`];
    const role = said.find((text) => text !== undefined && pen.widthOf(text, faint) <= room) ?? kind;
    pen.text(10, y + 18, role, faint);
    if (slots !== undefined && own !== shard && scene.lane >= 60) {
      const full = `slots ${slots}`;
      pen.text(10, y + 32, pen.widthOf(full, faint) <= room ? full : slots, faint);
    }
    shard = own;
  }
}

/** A name that fits left of its lane. Its end stays, because names often differ only there. */
function shortened(name: string, fits: (text: string) => boolean): string {
  if (fits(name)) return name;
  for (let letters = Math.min(5, name.length >> 1); letters > 0; letters--) {
    const text = `${name.slice(0, letters)}..${name.slice(-letters)}`;
    if (fits(text)) return text;
  }
  return name.slice(-4);
}

function drawAxis({ pen, scene, theme, width, x, gutter }: Sheet): void {
  const { axis } = scene;
  const [from, to] = scene.window;
  const lanes: number[] = [];
  for (const { name } of scene.lanes) {
    const y = scene.laneY(name) as number;
    lanes.push(gutter, y, width, y);
  }
  pen.lines(lanes, { colour: theme.line });
  const step = roundStep((110 * (to - from)) / (width - gutter));
  let last = -Infinity;
  const ticks: number[] = [];
  const begin = Math.ceil(axis.time(from) / step) * step;
  for (
    let time = begin, count = 0;
    count < 200 && axis.place(time) <= to && time <= axis.time(to) + step;
    count++
  ) {
    const at = x(time);
    if (at >= gutter + 24 && at <= width - 28 && at - last > 74) {
      ticks.push(at, HEAD - 8, at, HEAD - 2);
      pen.text(at, HEAD - 13, timeText(time, step), { colour: theme.faint, size: 12, anchor: 'middle' });
      last = at;
    }
    const gap = axis.gaps.find((each) => time + step > each.from && time < each.to);
    time = gap === undefined ? time + step : Math.max(time + step, Math.ceil(gap.to / step) * step);
  }
  pen.lines(ticks, { colour: theme.faint });
  // The line of the axis is broken where time is left out.
  let begun = gutter;
  const parts: number[] = [];
  for (const gap of axis.gaps) {
    const [a, b] = [x(gap.from), x(gap.to)];
    if (b < gutter || a > width) continue;
    if (a > begun) parts.push(begun, HEAD - 2, a, HEAD - 2);
    begun = Math.max(gutter, b);
    if (b - a < 3) continue;
    const left = Math.max(gutter, a);
    pen.rect(left, HEAD - 4, b - left, scene.foot - HEAD + 4, theme.line, 0.22);
    for (const edge of [a, b]) if (edge > gutter) parts.push(edge - 3, HEAD + 3, edge + 3, HEAD - 7);
  }
  if (begun < width) parts.push(begun, HEAD - 2, width, HEAD - 2);
  pen.lines(parts, { colour: theme.faint });
}

/** Says below the lanes how long the times are that are left out, and where two runs part. */
function drawGaps({ pen, scene, theme, width, x, gutter }: Sheet): void {
  let taken = gutter;
  const y = scene.foot + 14;
  if (scene.parting !== undefined) {
    const at = x(scene.parting);
    pen.lines([at, HEAD - 6, at, scene.foot], { colour: theme.mark, width: 2, dash: [3, 3] });
    const look = { colour: theme.mark, size: 12, bold: true };
    const size = pen.widthOf('here the runs part', look);
    const left = Math.min(Math.max(gutter + 2, at + 4), width - size - 4);
    pen.text(left, y, 'here the runs part', look);
    taken = left + size + 6;
  }
  for (const gap of scene.axis.gaps) {
    const [a, b] = [Math.max(gutter, x(gap.from)), Math.min(width, x(gap.to))];
    if (b - a < 3) continue;
    const look = { colour: theme.faint, size: 11 };
    const length = timeText(gap.to - gap.from);
    // The length of what is left out may be wider than its place on the axis.
    const long = `${length} left out`;
    const text = pen.widthOf(long, look) <= b - a + 8 ? long : length;
    const size = pen.widthOf(text, look);
    const middle = Math.min(Math.max(gutter + 2, (a + b - size) / 2), width - size - 2);
    // Beside the number of its neighbour, as long as it begins below its own place.
    const left = Math.max(middle, taken);
    if (left > b || left + size > width - 2) continue;
    pen.text(left, y, text, look);
    taken = left + size + 6;
  }
}

/** Draws the frames of those who hold a lock together. Returns what writes their texts. */
function drawOverlaps(sheet: Sheet, spots: Spot[]): (() => void)[] {
  const { pen, scene, theme, width, x, gutter, unit } = sheet;
  const texts: (() => void)[] = [];
  for (const [index, overlap] of scene.run.overlaps.entries()) {
    const { clients, key, from, to } = overlap;
    if (!scene.showsKey(key)) continue;
    const colour = scene.isHarmless ? theme.mark : theme.bad;
    const ys = clients.map((client) => scene.laneY(client)).filter((y) => y !== undefined);
    const [a, b] = [Math.max(gutter, x(from)), Math.min(width, x(to))];
    if (ys.length < 2 || b < gutter || a > width) continue;
    const [top, bottom] = [Math.min(...ys) - 24 * unit, Math.max(...ys) + 24 * unit];
    pen.rect(a, top, Math.max(2, b - a), bottom - top, colour, 0.16);
    pen.lines([a, top, a, bottom, a, top, b, top, a, bottom, b, bottom, b, top, b, bottom], {
      colour,
      width: selectedWidth(scene, 'overlap', index),
    });
    spots.push({ type: 'overlap', index, x: a + 4, y: top + 6 });
    const length = timeText(to - from);
    const ink = scene.isHarmless ? theme.mark : theme.badInk;
    const look = { colour: ink, size: unit < 1 ? 12 : 14, bold: true, behind: theme.ground };
    const middle = (top + bottom) / 2 + 5;
    texts.push(() => {
      const at = (left: number): TextPlace[] => [0, 18, -18].map((by) => [left, middle + by]);
      const what = isInside(scene.run, overlap) ? 'both are inside' : 'both hold it';
      const is = [`${what}: ${length}`, `both: ${length}`, what, 'both'];
      writeLabel(sheet, { texts: is, places: (size) => [...at(a + 8), ...at(a - size / 2)], look, at: from });
    });
  }
  return texts;
}

function selectedWidth(scene: RunView, type: 'mark' | 'overlap', index: number): number {
  return scene.selection?.type === type && scene.selection.index === index ? 4 : 2;
}

/** What marks look like: a letter would not be read from afar, so each has a word. */
const WORDS: Record<string, string> = {
  crash: 'crash',
  restart: 'restart',
  kill: 'killed',
  pause: 'pause',
  resume: 'resume',
  clock: 'clock',
  promote: 'promoted',
  lost: 'write lost',
  hold: 'link held',
  release: 'released',
  partition: 'cut off',
  heal: 'healed',
  delay: 'delayed',
  drop: 'drops',
  fault: 'fault',
  refused: 'refused',
  reset: 'reset',
};

/** How much of a note is drawn where there is no room for all of it, in characters. */
const NOTE = 30;

function drawMarks(sheet: Sheet, spots: Spot[]): void {
  const { pen, scene, theme, width, x, gutter, unit } = sheet;
  const named = new Set<string>();
  const half = 20 * unit;
  for (const [index, mark] of scene.run.marks.entries()) {
    const { at, lane, kind } = mark;
    const y = scene.laneY(lane);
    const word = kind === 'clock' ? clockText(mark) : kind === 'note' ? mark.text : WORDS[kind];
    const place = x(at);
    if (y === undefined || word === undefined || place < gutter - 1 || place > width + 1) continue;
    if (!scene.showsMark(index)) continue;
    const colour = ['crash', 'kill', 'lost', 'refused'].includes(kind) ? theme.ink : theme.mark;
    pen.lines([place, y - half, place, y + half], { colour, width: selectedWidth(scene, 'mark', index) });
    spots.push({ type: 'mark', index, x: place, y });
    // A party that is cut off from several others is so once.
    const name = `${at} ${lane} ${kind}`;
    if (named.has(name)) continue;
    named.add(name);
    const look = { colour, size: 12, bold: true, behind: theme.ground };
    const texts = word.length <= NOTE ? [word] : [word, `${beginning(word, NOTE)}..`];
    writeLabel(sheet, { texts, places: besideMark(place, y, half), look, at });
  }
}

/** Right of a mark, at its upper end or its lower one, or left of it; then a little further away, past a number. */
function besideMark(x: number, y: number, half: number): (size: number) => readonly TextPlace[] {
  return (size) =>
    [4, 14, 38].flatMap((far): TextPlace[] => [
      [x + far, y - half - 1],
      [x + far, y + half + 11],
      [x - far - size, y - half - 1],
      [x - far - size, y + half + 11],
    ]);
}

/** Draws what the story says about a resource, such as the writes that it refuses: no message shows it. */
function drawTold(sheet: Sheet): void {
  const { pen, scene, theme, width, x, gutter, unit } = sheet;
  const { lanes, story } = scene.run;
  const resources = new Set(lanes.filter(({ kind }) => kind === 'resource').map(({ name }) => name));
  const half = 20 * unit;
  for (const { at, lane, text, mood } of story) {
    const [y, place] = [scene.laneY(lane), x(at)];
    if (y === undefined || !resources.has(lane) || at > (scene.playhead ?? Infinity)) continue;
    if (place < gutter || place > width) continue;
    const colour = mood === 'bad' ? theme.ink : mood === 'good' ? theme.reply : theme.mark;
    pen.lines([place, y - half, place, y + half], { colour, width: 2 });
    const told = text.replace(`${lane} `, '');
    const words = told.split(' ');
    const look = { colour, size: 12, bold: true, behind: theme.ground };
    const texts = [told, `${words.slice(0, 3).join(' ')}..`, `${words[0]}..`];
    writeLabel(sheet, { texts, places: besideMark(place, y, half), look, at });
  }
}
