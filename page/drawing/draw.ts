/** Draws a scene: lanes, bars of those who believe to hold a lock, what nodes know, messages, marks and overlaps. */

import { beginning } from '../text.ts';
import { roundStep, timeText } from './axis.ts';
import { drawBars, fitted } from './bars.ts';
import { drawLegend } from './legend.ts';
import { drawMessages } from './messages.ts';
import { drawAbsences, drawAnswerNames, drawAnswers } from './rows.ts';
import type { Sheet } from './sheet.ts';
import { roleText } from './states.ts';
import { GUTTER, HEAD, type RunView } from './view.ts';

/** A place on the page that shows an event, for the pointer. */
export interface Spot {
  readonly type: 'mark' | 'overlap';
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** Draws everything. Returns where marks and overlaps are. */
export function drawScene(sheet: Sheet): Spot[] {
  const { pen, scene, theme, width } = sheet;
  const spots: Spot[] = [];
  pen.rect(0, 0, width, scene.height, theme.ground);
  drawAxis(sheet);
  const right = scene.playhead === undefined ? width : Math.min(width, sheet.x(scene.playhead));
  pen.clipped(GUTTER, 0, Math.max(0, right - GUTTER), scene.height, () => {
    drawAbsences(sheet);
    drawAnswers(sheet);
    drawOverlaps(sheet, spots);
    drawBars(sheet);
    drawMarks(sheet, spots);
    drawTold(sheet);
    drawMessages(sheet);
  });
  if (scene.playhead !== undefined && right >= GUTTER)
    pen.lines([right, HEAD - 8, right, scene.foot], { colour: theme.mark, width: 2 });
  drawNames(sheet);
  drawLegend(sheet);
  return spots;
}

function drawNames(sheet: Sheet): void {
  const { pen, scene, theme } = sheet;
  pen.rect(0, 0, GUTTER, scene.height, theme.ground);
  drawAnswerNames(sheet);
  for (const { name, kind } of scene.run.lanes) {
    const y = scene.laneY(name) as number;
    pen.text(10, y + 3, laneName(name), { colour: theme.ink, size: 15, bold: true });
    pen.text(10, y + 19, roleText(scene.roles.get(name)) ?? kind, { colour: theme.faint, size: 12 });
  }
}

/** A name that fits left of its lane. Its end stays, because names often differ only there. */
function laneName(name: string): string {
  return name.length > 13 ? `${name.slice(0, 5)}...${name.slice(-5)}` : name;
}

function drawAxis({ pen, scene, theme, width, x }: Sheet): void {
  const { axis, run } = scene;
  const [from, to] = scene.window;
  const lanes: number[] = [];
  for (const { name } of run.lanes) {
    const y = scene.laneY(name) as number;
    lanes.push(GUTTER, y, width, y);
  }
  pen.lines(lanes, { colour: theme.line });
  const step = roundStep((110 * (to - from)) / (width - GUTTER));
  let last = -Infinity;
  const ticks: number[] = [];
  const begin = Math.ceil(axis.time(from) / step) * step;
  for (
    let time = begin, count = 0;
    count < 200 && axis.place(time) <= to && time <= axis.time(to) + step;
    count++
  ) {
    const at = x(time);
    if (at >= GUTTER + 22 && at <= width - 22 && at - last > 70) {
      ticks.push(at, HEAD - 8, at, HEAD - 2);
      pen.text(at, HEAD - 13, timeText(time, step), { colour: theme.faint, size: 12, anchor: 'middle' });
      last = at;
    }
    const gap = axis.gaps.find((each) => time + step > each.from && time < each.to);
    time = gap === undefined ? time + step : Math.max(time + step, Math.ceil(gap.to / step) * step);
  }
  pen.lines(ticks, { colour: theme.faint });
  for (const gap of axis.gaps) {
    const [a, b] = [x(gap.from), x(gap.to)];
    if (b < GUTTER || a > width || b - a < 3) continue;
    pen.rect(a, HEAD - 4, b - a, scene.foot - HEAD, theme.line, 0.22);
    const gone = `${timeText(gap.to - gap.from)}${b - a > 110 ? ' shortened' : ''}`;
    const look = { colour: theme.faint, size: 11, anchor: 'middle' } as const;
    if (b - a > pen.widthOf(gone, look)) pen.text((a + b) / 2, scene.foot - 2, gone, look);
  }
  if (scene.parting !== undefined) {
    const at = x(scene.parting);
    pen.lines([at, HEAD - 6, at, scene.foot], { colour: theme.mark, width: 2, dash: [3, 3] });
    pen.text(at + 4, scene.foot - 4, 'here the runs part', { colour: theme.mark, size: 12, bold: true });
  }
}

function drawOverlaps({ pen, scene, theme, width, x }: Sheet, spots: Spot[]): void {
  for (const [index, { clients, key, from, to }] of scene.run.overlaps.entries()) {
    if (!scene.showsKey(key)) continue;
    const colour = scene.isHarmless ? theme.mark : theme.bad;
    const ys = clients.map((client) => scene.laneY(client)).filter((y) => y !== undefined);
    const [a, b] = [Math.max(GUTTER, x(from)), Math.min(width, x(to))];
    if (ys.length < 2 || b < GUTTER || a > width) continue;
    const [top, bottom] = [Math.min(...ys) - 24, Math.max(...ys) + 24];
    pen.rect(a, top, Math.max(2, b - a), bottom - top, colour, 0.16);
    pen.lines([a, top, a, bottom, a, top, b, top, a, bottom, b, bottom, b, top, b, bottom], {
      colour,
      width: selectedWidth(scene, 'overlap', index),
    });
    spots.push({ type: 'overlap', index, x: a + 4, y: top + 6 });
    const text = `both hold it: ${timeText(to - from)}`;
    if (b - a > 40) {
      const look = {
        colour: scene.isHarmless ? theme.mark : theme.badInk,
        size: 14,
        bold: true,
        behind: theme.ground,
      } as const;
      const left = Math.max(GUTTER + 4, Math.min(a + 8, width - pen.widthOf(text, look) - 6));
      pen.text(left, (top + bottom) / 2 + 5, text, look);
    }
  }
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

/** How much of a note is drawn, in characters. Its sentence has all of it. */
const NOTE = 30;

const SAID = { size: 12, bold: true } as const;

function drawMarks({ pen, scene, theme, width, x, taken: texts }: Sheet, spots: Spot[]): void {
  const taken = new Map<number, number>();
  const named = new Set<string>();
  for (const [index, { at, lane, kind, text }] of scene.run.marks.entries()) {
    const y = scene.laneY(lane);
    const word = kind === 'note' ? beginning(text, NOTE) : WORDS[kind];
    const place = x(at);
    if (y === undefined || word === undefined || place < GUTTER - 60 || place > width) continue;
    const colour = ['crash', 'kill', 'lost', 'refused'].includes(kind) ? theme.ink : theme.mark;
    pen.lines([place, y - 20, place, y + 20], { colour, width: selectedWidth(scene, 'mark', index) });
    spots.push({ type: 'mark', index, x: place, y });
    // A party that is cut off from several others is so once.
    const name = `${at} ${lane} ${kind}`;
    if (named.has(name)) continue;
    named.add(name);
    const look = { colour, size: 12, bold: true, behind: theme.ground };
    const end = place + pen.widthOf(word, look) + 8;
    const above = (taken.get(y) ?? -Infinity) < place;
    const below = (taken.get(-y) ?? -Infinity) < place;
    // What a crash loses at the same moment is told where it was lost.
    if (!above && (!below || kind === 'lost')) continue;
    taken.set(above ? y : -y, end);
    const base = above ? y - 21 : y + 31;
    texts.push([place, base - 13, end, base + 5]);
    pen.text(place + 4, base, word, look);
  }
}

/** Draws what the story says about a resource, such as the writes that it refuses: no message shows it. */
function drawTold({ pen, scene, theme, width, x, taken }: Sheet): void {
  const { lanes, story } = scene.run;
  const resources = new Set(lanes.filter(({ kind }) => kind === 'resource').map(({ name }) => name));
  let below = false;
  for (const { at, lane, text, mood } of story) {
    const [y, place] = [scene.laneY(lane), x(at)];
    if (y === undefined || !resources.has(lane) || at > (scene.playhead ?? Infinity)) continue;
    if (place < GUTTER || place > width) continue;
    const colour = mood === 'bad' ? theme.ink : mood === 'good' ? theme.reply : theme.mark;
    const [told, base] = [text.replace(`${lane} `, ''), below ? y + 31 : y - 21];
    pen.lines([place, y - 20, place, y + 20], { colour, width: 2 });
    const left = Math.max(
      GUTTER + 4,
      Math.min(place + 4, width - pen.widthOf(told, { ...SAID, colour }) - 8),
    );
    const end = fitted(pen, left, base, width - left - 4, told, colour, SAID.size);
    if (end !== undefined) taken.push([left, base - 13, end, base + 5]);
    below = !below;
  }
}
