/** Draws the answers as rows above the lanes, and in the lanes when a party was dead or stood still. */
import { readable } from '../text.ts';
import { type AnswerPart, partText, ROW } from './answers.ts';
import { fitted, inkOf } from './bars.ts';
import { barsOf } from './crowd.ts';
import type { Sheet } from './sheet.ts';
import { GUTTER, HEAD, LANE } from './view.ts';

/** Draws the rows. Parts that are narrower than a pixel are drawn together, column by column. */
export function drawAnswers(sheet: Sheet): void {
  const { pen, scene, theme, width, x } = sheet;
  const bad = scene.isHarmless ? theme.mark : theme.bad;
  for (const [i, { parts, key }] of scene.answers.entries()) {
    if (!scene.showsKey(key)) continue;
    const top = HEAD + ROW * i + 3;
    const columns = Math.max(1, Math.ceil(width - GUTTER));
    const [held, broken] = [new Uint8Array(columns), new Uint8Array(columns)];
    for (const part of parts) {
      const [from, to] = [x(part.from), x(part.to)];
      if (to < GUTTER || from > width) continue;
      if (to - from >= 1) drawPart(sheet, part, top, bad);
      else if (part.holders.length > 0) {
        const column = Math.min(columns - 1, Math.max(0, Math.floor(from - GUTTER)));
        (part.broken ? broken : held)[column] = 1;
      }
    }
    pen.bars(barsOf(held, top, ROW - 7), theme.line, 1);
    pen.bars(barsOf(broken, top, ROW - 7), bad, 1);
  }
}

function drawPart(sheet: Sheet, part: AnswerPart, top: number, bad: string): void {
  const { pen, scene, theme, width, x } = sheet;
  const [a, b] = [Math.max(GUTTER, x(part.from)), Math.min(width, x(part.to))];
  const [holder, other] = part.holders;
  const isFree = holder === undefined;
  const colour = part.broken ? bad : other === undefined ? inkOf(scene, theme, holder) : theme.line;
  if (isFree) pen.lines([a, top + ROW - 8, b, top + ROW - 8], { colour: theme.line, dash: [2, 3] });
  else pen.rect(a, top, b - a, ROW - 7, colour);
  const ink = isFree ? theme.faint : part.broken ? theme.onBad : theme.holderInk;
  fitted(pen, a + 6, top + 15, b - a - 8, partText(part), ink, 13);
}

/** Draws what the rows are about, left of them. */
export function drawAnswerNames({ pen, scene, theme }: Sheet): void {
  for (const [i, { key, kind }] of scene.answers.entries()) {
    const look = { colour: theme.ink, size: 13, bold: true };
    const name = readable(key);
    const label = kind === 'lock' ? name : `in ${name}`;
    fitted(pen, 10, HEAD + ROW * i + 18, GUTTER - 14, label, look.colour, look.size);
  }
}

/** Hatches the times in which a party is dead, and shades those in which it stands still. */
export function drawAbsences({ pen, scene, theme, width, x }: Sheet): void {
  for (const { lane, why, from, to } of scene.absences) {
    const y = scene.laneY(lane);
    const [a, b] = [Math.max(GUTTER, x(from)), Math.min(width, to === null ? width : x(to))];
    if (y === undefined || b <= a) continue;
    const [top, bottom] = [y - LANE / 2 + 6, y + LANE / 2 - 6];
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
