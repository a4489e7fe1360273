/** Where the sentences of the story stand in the drawing, and their numbers there. */
import type { StoryStep } from '../format.ts';
import { isAhead, isFree } from './labels.ts';
import { badge } from './legend.ts';
import { crossesIn, routeOf } from './messages.ts';
import type { Sheet } from './sheet.ts';

/** True for a sentence that says that a promise is broken. */
export function isBroken({ mood, lane, about }: StoryStep): boolean {
  return mood === 'bad' && (lane === '*' || (about !== undefined && 'overlap' in about));
}

/** The point of the drawing that a sentence is about. */
function spotOf({ scene, x }: Sheet, { at, lane, about }: StoryStep): readonly [number, number] | undefined {
  const { messages, marks, overlaps } = scene.run;
  if (about !== undefined && 'message' in about) {
    const message = messages[about.message];
    const route = message === undefined ? undefined : routeOf(scene, message, x);
    if (message !== undefined && route !== undefined) {
      const { points, waits, arrives } = route;
      if (arrives) return [points.at(-2) as number, points.at(-1) as number];
      return [waits[2] as number, waits[3] as number];
    }
  }
  const mark = about !== undefined && 'mark' in about ? marks[about.mark] : undefined;
  const overlap = about !== undefined && 'overlap' in about ? overlaps[about.overlap] : undefined;
  const y = scene.laneY(mark?.lane ?? overlap?.clients[1] ?? lane);
  const time = x(mark?.at ?? overlap?.from ?? at);
  return [time, y ?? scene.top + 8];
}

/** Draws the numbers that have room, each at its event. The one that is shown stands out. */
export function drawNumbers(sheet: Sheet): void {
  const { scene, width, gutter, unit } = sheet;
  if (scene.numbers === 0) return;
  const radius = Math.max(8, 10 * unit);
  const { story } = scene.run;
  for (const [x, y] of crossesIn(sheet)) sheet.taken.push([x - 6, y - 6, x + 6, y + 6]);
  for (const [index, step] of story.slice(0, scene.numbers).entries()) {
    const spot = spotOf(sheet, step);
    if (spot === undefined) continue;
    const [x, y] = spot;
    if (x < gutter - 1 || x > width + 1) continue;
    const isShown = index === scene.step;
    const up = Math.max(radius + 5, scene.lane * 0.38);
    const beside = 2 * radius + 3;
    const far = isShown ? 8 : 3;
    const sides = Array.from({ length: far }, (_, i) => (i === 0 ? [0] : [i * beside, -i * beside])).flat();
    const places = sides.flatMap((along) => [-up, up].map((by) => [x + along, y + by] as const));
    const clamped = places.map(
      ([px, py]) => [Math.min(Math.max(px, gutter + radius + 1), width - radius - 1), py] as const,
    );
    const boxAt = (px: number, py: number) =>
      [px - radius - 1, py - radius - 1, px + radius + 1, py + radius + 1] as const;
    const place = clamped.find(([px, py]) => isFree(sheet, boxAt(px, py)));
    if (place === undefined) continue;
    sheet.taken.push(boxAt(...place));
    if (!isAhead(sheet, step.at) || isShown)
      sheet.late.push(() => drawBadge(sheet, place, index, step, radius));
  }
}

function drawBadge(
  { pen, theme, scene }: Sheet,
  [x, y]: readonly [number, number],
  index: number,
  step: StoryStep,
  radius: number,
): void {
  const isShown = index === scene.step;
  const strong = isBroken(step) ? (scene.isHarmless ? theme.mark : theme.bad) : theme.ink;
  const look = isShown
    ? ([strong, theme.ground, strong] as const)
    : ([
        theme.ground,
        strong === theme.ink ? theme.ink : scene.isHarmless ? theme.mark : theme.badInk,
        strong,
      ] as const);
  badge(pen, theme, x, y, String(index + 1), isShown ? radius + 1 : radius, look);
}
