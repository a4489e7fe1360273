/** Draws messages as slanted arrows: lost ones are broken off, and late ones wait at the gate. */
import type { MessageKind, TimelineMessage } from '../format.ts';
import { drawCrowd } from './crowd.ts';
import type { Sheet } from './sheet.ts';
import { GUTTER, HEAD, type RunView } from './view.ts';

/** With more messages than this in view, arrow heads and texts are left out. */
const DETAILED = 400;
/** With more than this, those that fall into one column of pixels are drawn as one. */
const CROWDED = 1000;

/** The points at which a message's line begins and ends, and bends while it waits. */
interface Route {
  readonly points: readonly number[];
  readonly waits: readonly number[];
  readonly arrives: boolean;
}

/** The part of the way at which a message that never arrives is broken off. */
const BROKEN = 0.72;

/** The line of a message. */
export function routeOf(
  scene: RunView,
  message: TimelineMessage,
  x: (time: number) => number,
): Route | undefined {
  const [from, to] = [scene.laneY(message.from), scene.laneY(message.to)];
  if (from === undefined || to === undefined) return undefined;
  const { sent, due, arrived, died, fate } = message;
  const start = x(sent);
  if (arrived === null) {
    const y = from + (to - from) * BROKEN;
    const until = fate === 'waiting' ? scene.run.end : (died ?? due);
    const stop = Math.max(start + 4, x(Math.min(due, Math.max(until, sent))));
    return {
      points: [start, from, stop, y],
      waits: [stop, y, Math.max(stop + 4, x(until)), y],
      arrives: false,
    };
  }
  if (arrived - due < 2) return { points: [start, from, x(arrived), to], waits: [], arrives: true };
  const y = from + (to - from) * 0.85;
  return {
    points: [start, from, x(due), y, x(arrived), y, x(arrived), to],
    waits: [x(due), y, x(arrived), y],
    arrives: true,
  };
}

/** Draws the messages in view. */
export function drawMessages(sheet: Sheet): void {
  const { scene, pen, theme, width, x } = sheet;
  const [from, to] = scene.window;
  const inView = scene.inView(scene.axis.time(from), scene.axis.time(to));
  const indices: number[] = [];
  for (let i = inView.first; i < inView.last && indices.length <= CROWDED; i++)
    if (scene.shown[i] === 1) indices.push(i);
  if (indices.length > CROWDED) {
    drawCrowd(sheet, inView);
    drawWay(sheet);
    return;
  }
  const lines: Record<MessageKind, number[]> = { request: [], reply: [], stream: [], ack: [], service: [] };
  const [broken, gates, heads]: [number[], number[], Record<string, number[]>] = [[], [], {}];
  for (const index of indices) {
    const message = scene.run.messages[index] as TimelineMessage;
    const route = routeOf(scene, message, x);
    if (route === undefined) continue;
    const { points, waits, arrives } = route;
    const last = points.length - 2;
    if ((points[last] as number) < GUTTER && (waits[2] ?? 0) < GUTTER) continue;
    if (points.length === 4) lines[message.kind].push(...points);
    else lines[message.kind].push(...points.slice(0, 4), ...points.slice(4, 8));
    if (waits.length > 0) gates.push(...waits);
    if (!arrives) broken.push(...cross(waits[2] as number, waits[3] as number));
    else if (indices.length <= DETAILED) (heads[message.kind] ??= []).push(...head(points.slice(-4)));
  }
  for (const kind of Object.keys(lines) as MessageKind[]) {
    const colour = theme[kind];
    pen.lines(lines[kind], {
      colour,
      width: kind === 'request' || kind === 'reply' ? 1.8 : 1.4,
      ...(kind === 'ack' && { dash: [5, 3] }),
    });
    pen.triangles(heads[kind] ?? [], colour);
  }
  pen.lines(gates, { colour: theme.stream, width: 2, dash: [2, 4] });
  pen.lines(broken, { colour: theme.bad, width: 3.5 });
  drawWay(sheet);
  if (indices.length <= DETAILED) drawTexts(sheet, indices, width);
}

function cross(x: number, y: number): number[] {
  return [x - 6, y - 6, x + 6, y + 6, x - 6, y + 6, x + 6, y - 6];
}

function head([x1 = 0, y1 = 0, x2 = 0, y2 = 0]: readonly number[]): number[] {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [((x2 - x1) / length) * 9, ((y2 - y1) / length) * 9];
  return [x2, y2, x2 - dx - dy * 0.42, y2 - dy + dx * 0.42, x2 - dx + dy * 0.42, y2 - dy - dx * 0.42];
}

/** The selected message stands out, with all that led to it and all that it caused. */
function drawWay({ scene, pen, theme, x }: Sheet): void {
  for (const index of scene.way) {
    const message = scene.run.messages[index];
    const route = message === undefined ? undefined : routeOf(scene, message, x);
    if (route === undefined) continue;
    const width = scene.selection?.index === index ? 5 : 3.2;
    const { points } = route;
    for (let i = 0; i + 3 < points.length; i += 2)
      pen.lines(points.slice(i, i + 4), { colour: theme.selected, width, opacity: 0.85 });
    if (route.arrives) pen.triangles(head(points.slice(-4)), theme.selected);
    else
      pen.lines(cross(route.waits[2] as number, route.waits[3] as number), { colour: theme.bad, width: 4 });
  }
}

/** Texts beside the arrows, as far as they do not cover each other; what is lost comes first. */
function drawTexts({ scene, pen, theme, x, taken }: Sheet, indices: readonly number[], width: number): void {
  const order = [...indices].sort((a, b) => rank(scene, a) - rank(scene, b) || a - b);
  for (const index of order) {
    const message = scene.run.messages[index] as TimelineMessage;
    const route = routeOf(scene, message, x);
    if (route === undefined || message.kind === 'ack') continue;
    const lost = message.arrived === null;
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = route.points;
    const shown = message.text.replace(/^SELECT \d+; /, '');
    const cut = shown.length > 34 ? `${shown.slice(0, 32)}...` : shown;
    const offset = message.offsets === undefined ? '' : ` (offset ${message.offsets[1]})`;
    const text = lost ? `never arrived: ${cut}${offset}` : cut;
    const look = {
      colour: lost ? theme.badInk : theme[message.kind],
      size: 12,
      bold: lost,
      behind: theme.ground,
    };
    const size = pen.widthOf(text, look);
    const middle = lost ? (route.waits[2] as number) + 12 : (x1 + x2) / 2 + 7;
    const left = Math.min(Math.max(middle, GUTTER + 4), Math.max(GUTTER + 4, width - size - 6));
    const base = lost ? (route.waits[3] as number) + 4 : y1 + (y2 - y1) * 0.5 + 4;
    const boxAt = (y: number): [number, number, number, number] => [left - 4, y - 13, left + size + 4, y + 6];
    const isFree = ([l, t, r, b]: readonly [number, number, number, number]): boolean =>
      t > HEAD - 8 && !taken.some((other) => l < other[2] && r > other[0] && t < other[3] && b > other[1]);
    const near = [base, base + 18, base - 18, ...(lost ? [base + 40, base - 36] : [])];
    const y = near.find((each) => isFree(boxAt(each))) ?? (lost ? base : undefined);
    if (y === undefined) continue;
    const box = boxAt(y);
    taken.push(box);
    pen.text(left, y, text, look);
  }
}

function rank(scene: RunView, index: number): number {
  const message = scene.run.messages[index];
  if (message?.arrived === null) return 0;
  return message?.kind === 'request' ? 1 : message?.kind === 'reply' ? 2 : 3;
}
