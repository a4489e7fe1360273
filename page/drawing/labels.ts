/** Places texts so that none covers another: each has places at its mark, and takes the first one that is free. */
import type { Lettering } from './pen.ts';
import type { Box, Sheet } from './sheet.ts';

/** Where a text begins: its left end, and its base line. */
export type TextPlace = readonly [left: number, y: number];

/** A text beside something that is drawn. */
interface Label {
  /** The text, and shorter ones for less room. */
  readonly texts: readonly string[];
  /** Where it may stand, the best place first. @param size how wide the text is */
  places(size: number): readonly TextPlace[];
  readonly look: Lettering;
  /** When what it says happens: it is not shown before the playhead gets there. */
  readonly at: number;
}

/** Between the ends of the drawing and a text. */
const MARGIN = 4;

/** True when no text is there, and when it is not above the lanes or below them. */
export function isFree({ taken, scene }: Sheet, [l, t, r, b]: Box): boolean {
  if (t < scene.top - 10 || b > scene.foot + 2) return false;
  return !taken.some((other) => l < other[2] && r > other[0] && t < other[3] && b > other[1]);
}

/** True for what the playhead has not reached. */
export function isAhead({ scene }: Sheet, at: number): boolean {
  return at > (scene.now ?? Infinity) || at > (scene.playhead ?? Infinity);
}

/** Writes a text at the first place that is free. Returns false when there is none: then it is left out. */
export function writeLabel(sheet: Sheet, { texts, places, look, at }: Label): boolean {
  const { pen, width, gutter, taken, late } = sheet;
  const height = look.size ?? 13;
  for (const text of texts) {
    const size = pen.widthOf(text, look);
    const room = width - gutter - 2 * MARGIN;
    if (size > room) continue;
    for (const [x, y] of places(size)) {
      const left = Math.min(Math.max(x, gutter + MARGIN), width - size - MARGIN);
      // At the edge a text may be moved along, but not away from its mark.
      if (Math.abs(left - x) > size) continue;
      const box: Box = [left - 3, y - height - 1, left + size + 3, y + 5];
      if (!isFree(sheet, box)) continue;
      taken.push(box);
      // What is yet to come keeps its place, so that nothing moves from step to step.
      if (!isAhead(sheet, at)) late.push(() => pen.text(left, y, text, look));
      return true;
    }
  }
  return false;
}

/** Writes a text inside a bar, or what fits of it. @param room the width that there is */
export function writeInside(
  { pen, taken }: Sheet,
  [x, y]: TextPlace,
  room: number,
  text: string,
  look: Lettering,
): void {
  if (room < 8) return;
  let shown = text;
  if (pen.widthOf(shown, look) > room) {
    const letters = Math.floor((room / Math.max(1, pen.widthOf(text, look))) * text.length) - 2;
    if (letters < 3) return;
    shown = `${text.slice(0, letters)}..`;
  }
  const height = look.size ?? 13;
  const box: Box = [x - 1, y - height + 1, x + pen.widthOf(shown, look) + 1, y + 4];
  if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]))
    return;
  taken.push(box);
  pen.text(x, y, shown, look);
}
