/** Draws the answers as rows above the lanes, and in the lanes when a party was dead, stood still, or had a wrong clock. */
import { readable } from '../text.ts';
import { type AnswerPart, type AnswerRow, briefText, partText, ROW } from './answers.ts';
import { timeText } from './axis.ts';
import { inkOf } from './bars.ts';
import { barsOf } from './crowd.ts';
import { writeInside, writeLabel } from './labels.ts';
import type { Sheet } from './sheet.ts';
import type { WrongClock } from './states.ts';
import { HEAD } from './view.ts';

/** Draws the rows. Parts that are narrower than a pixel are drawn together, column by column. */
export function drawAnswers(sheet: Sheet): void {
  const { pen, scene, theme, width, x, gutter } = sheet;
  const bad = scene.isHarmless ? theme.mark : theme.bad;
  for (const [i, { parts, key, kind }] of scene.answers.entries()) {
    if (!scene.showsKey(key)) continue;
    const top = HEAD + ROW * i + 3;
    const columns = Math.max(1, Math.ceil(width - gutter));
    const [held, broken] = [new Uint8Array(columns), new Uint8Array(columns)];
    for (const part of parts) {
      const [from, to] = [x(part.from), x(part.to)];
      if (to < gutter || from > width) continue;
      if (to - from >= 1) drawPart(sheet, part, kind, top, bad);
      else if (part.holders.length > 0 && kind !== 'votes') {
        const column = Math.min(columns - 1, Math.max(0, Math.floor(from - gutter)));
        (part.broken ? broken : held)[column] = 1;
      }
    }
    pen.bars(barsOf(held, top, ROW - 7, gutter), theme.line, 1);
    pen.bars(barsOf(broken, top, ROW - 7, gutter), bad, 1);
  }
}

function drawPart(sheet: Sheet, part: AnswerPart, kind: AnswerRow['kind'], top: number, bad: string): void {
  const { pen, scene, theme, width, x, gutter } = sheet;
  const [a, b] = [Math.max(gutter, x(part.from)), Math.min(width, x(part.to))];
  const [holder, other] = part.holders;
  const isFree = holder === undefined;
  const text = partText(part);
  if (kind === 'votes') {
    if (text === '') return;
    pen.lines([a, top, a, top + ROW - 10], { colour: theme.line, width: 1 });
    writeInside(sheet, [a + 4, top + 14], b - a - 6, text, { colour: theme.ink, size: 12 });
    return;
  }
  const colour = part.broken ? bad : other === undefined ? inkOf(scene, theme, holder) : theme.line;
  // A client that believes in a key which is gone: only what it believes is drawn, in pale.
  const isGone = part.text !== undefined;
  if (isFree || isGone) pen.lines([a, top + ROW - 8, b, top + ROW - 8], { colour: theme.line, dash: [2, 3] });
  if (!isFree) pen.rect(a, top, b - a, ROW - 7, colour, isGone ? 0.25 : 1);
  const isOnLine = isGone || (other !== undefined && !part.broken);
  const ink = isFree ? theme.faint : part.broken ? theme.onBad : isOnLine ? theme.ink : theme.holderInk;
  const look = { colour: ink, size: 13, bold: true };
  const shown = pen.widthOf(text, look) <= b - a - 8 ? text : briefText(part);
  writeInside(sheet, [a + 6, top + 15], b - a - 8, shown, look);
}

/** Draws what the rows are about, left of them. */
export function drawAnswerNames(sheet: Sheet): void {
  const { scene, theme, gutter } = sheet;
  for (const [i, { key, kind }] of scene.answers.entries()) {
    const name = readable(key);
    const label = kind === 'lock' ? name : kind === 'votes' ? 'granted by' : `inside ${name}`;
    const look = {
      colour: kind === 'votes' ? theme.faint : theme.ink,
      size: kind === 'votes' ? 12 : 13,
      bold: kind !== 'votes',
    };
    writeInside(sheet, [10, HEAD + ROW * i + 18], gutter - 14, label, look);
  }
}

/** Hatches the times in which a party is dead, and shades those in which it stands still. */
export function drawAbsences({ pen, scene, theme, width, x, gutter }: Sheet): void {
  for (const { lane, why, from, to } of scene.absences) {
    const y = scene.laneY(lane);
    const [a, b] = [Math.max(gutter, x(from)), Math.min(width, to === null ? width : x(to))];
    if (y === undefined || b <= a) continue;
    const [top, bottom] = [y - scene.lane / 2 + 6, y + scene.lane / 2 - 6];
    pen.rect(a, top, b - a, bottom - top, theme.line, 0.3);
    if (why !== 'dead') continue;
    const lines: number[] = [];
    const height = bottom - top;
    for (let left = a - height; left < b; left += 12) {
      const [start, end] = [Math.max(left, a), Math.min(left + height, b)];
      if (end > start) lines.push(start, bottom - (start - left), end, bottom - (end - left));
    }
    pen.lines(lines, { colour: theme.line, width: 1 });
  }
}

/** What a clock shows too much or too little: `clock +11 s`. */
export function clockText({ ahead = 0, rate = 1 }: Partial<Pick<WrongClock, 'ahead' | 'rate'>>): string {
  const sign = ahead < 0 ? '\u2212' : '+';
  const by = ahead === 0 ? '' : ` ${sign}${timeText(Math.abs(ahead))}`;
  return `clock${by}${rate === 1 ? '' : `${by === '' ? '' : ','} \u00d7${rate}`}`;
}

/** Underlines the times in which a clock is wrong. */
export function drawClocks(sheet: Sheet): void {
  const { pen, scene, theme, width, x, gutter } = sheet;
  for (const { lane, from, to } of scene.clocks) {
    const y = scene.laneY(lane);
    const [a, b] = [Math.max(gutter, x(from)), Math.min(width, to === null ? width : x(to))];
    if (y === undefined || b <= a) continue;
    const line = y + scene.lane / 2 - 7;
    pen.lines([a, line, b, line], { colour: theme.mark, width: 2, dash: [6, 2, 1, 2] });
  }
}

/** Draws requests that were repeated as one dotted line, with their number. */
export function drawRepeats(sheet: Sheet): void {
  const { pen, scene, theme, width, x, gutter } = sheet;
  if (scene.filter.repeats) return;
  for (const { client, from, to, count } of scene.repeats) {
    const y = scene.laneY(client);
    const [a, b] = [Math.max(gutter, x(from)), Math.min(width, x(to))];
    if (y === undefined || b <= a) continue;
    pen.lines([a, y, b, y], { colour: theme.request, width: 4, dash: [1, 3] });
    const look = { colour: theme.request, size: 12, behind: theme.ground };
    writeLabel(sheet, {
      texts: [`${count} more such requests`, `${count} more`, `+${count}`],
      places: (size) => [18, -10, 32, -24, 46].map((by) => [(a + b - size) / 2, y + by]),
      look,
      at: from,
    });
  }
}
