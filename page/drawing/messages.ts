/** Draws messages as slanted arrows: lost ones are broken off, and late ones wait at the gate. */
import type { MessageKind, TimelineMessage } from '../format.ts';
import { drawCrowd } from './crowd.ts';
import { type TextPlace, writeLabel } from './labels.ts';
import type { Sheet } from './sheet.ts';
import type { RunView } from './view.ts';

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

/** How far from its lane a message is broken off that never arrives, and one waits that comes late, in lanes: beside the bars. */
const [BROKEN, WAITING] = [0.5, 0.15];

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
  const above = Math.sign(from - to);
  if (arrived === null) {
    const y = to + above * BROKEN * scene.lane;
    const until = fate === 'waiting' ? scene.run.end : (died ?? due);
    const stop = Math.max(start + 4, x(Math.min(due, Math.max(until, sent))));
    return {
      points: [start, from, stop, y],
      waits: [stop, y, Math.max(stop + 4, x(until)), y],
      arrives: false,
    };
  }
  if (arrived - due < 2) return { points: [start, from, x(arrived), to], waits: [], arrives: true };
  const y = to + above * WAITING * scene.lane;
  return {
    points: [start, from, x(due), y, x(arrived), y, x(arrived), to],
    waits: [x(due), y, x(arrived), y],
    arrives: true,
  };
}

/** Where the crosses of messages are that never arrived: no number may cover them. */
export function crossesIn({ scene, x }: Sheet): (readonly [x: number, y: number])[] {
  const { axis, window } = scene;
  const { first, last } = scene.inView(axis.time(window[0]), axis.time(window[1]));
  const found: (readonly [number, number])[] = [];
  for (let i = first; i < last && found.length < DETAILED; i++) {
    const message = scene.run.messages[i];
    if (
      scene.shown[i] === 0 ||
      message === undefined ||
      message.arrived !== null ||
      message.fate === 'waiting'
    )
      continue;
    const waits = routeOf(scene, message, x)?.waits;
    if (waits !== undefined) found.push([waits[2] as number, waits[3] as number]);
  }
  return found;
}

/** Draws the messages in view. */
export function drawMessages(sheet: Sheet): void {
  const { scene, pen, theme, x, gutter } = sheet;
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
    if ((points[last] as number) < gutter && (waits[2] ?? 0) < gutter) continue;
    if (points.length === 4) lines[message.kind].push(...points);
    else lines[message.kind].push(...points.slice(0, 4), ...points.slice(4, 8));
    if (waits.length > 0) gates.push(...waits);
    if (!arrives && message.fate !== 'waiting') broken.push(...cross(waits[2] as number, waits[3] as number));
    if (arrives && indices.length <= DETAILED) (heads[message.kind] ??= []).push(...head(points.slice(-4)));
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
  pen.lines(broken, { colour: theme.ink, width: 3.5 });
  drawFound(sheet);
  drawWay(sheet);
  if (indices.length <= DETAILED) drawTexts(sheet, indices);
}

function cross(x: number, y: number): number[] {
  return [x - 6, y - 6, x + 6, y + 6, x - 6, y + 6, x + 6, y - 6];
}

function head([x1 = 0, y1 = 0, x2 = 0, y2 = 0]: readonly number[]): number[] {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [((x2 - x1) / length) * 9, ((y2 - y1) / length) * 9];
  return [x2, y2, x2 - dx - dy * 0.42, y2 - dy + dx * 0.42, x2 - dx + dy * 0.42, y2 - dy - dx * 0.42];
}

/** What a search has found stands out. */
function drawFound({ scene, pen, theme, x }: Sheet): void {
  for (const index of scene.found) {
    const message = scene.run.messages[index];
    const points = message === undefined ? [] : (routeOf(scene, message, x)?.points ?? []);
    for (let i = 0; i + 3 < points.length; i += 2)
      pen.lines(points.slice(i, i + 4), { colour: theme.mark, width: 6, opacity: 0.35 });
  }
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
    else if (message?.fate !== 'waiting')
      pen.lines(cross(route.waits[2] as number, route.waits[3] as number), { colour: theme.ink, width: 4 });
  }
}

/** In a narrow drawing, only what grants a lock and what is lost has a text. */
const NARROW = 600;

/** Texts beside the arrows, as far as there is room; what is lost comes first. */
function drawTexts(sheet: Sheet, indices: readonly number[]): void {
  const { scene, theme, x, width } = sheet;
  const grants = new Set(scene.run.holds.map(({ grant }) => grant));
  const order = [...indices].sort((a, b) => rank(scene, a) - rank(scene, b) || a - b);
  for (const index of order) {
    const message = scene.run.messages[index] as TimelineMessage;
    const route = routeOf(scene, message, x);
    if (route === undefined || message.kind === 'ack') continue;
    const lost = message.arrived === null;
    if (!lost && width < NARROW && !grants.has(index) && !scene.way.has(index)) continue;
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = route.points;
    const shown = message.text.replace(/^SELECT \d+; /, '').replace(/ PXAT \d{10,}/g, '');
    const cut = shown.length > 34 ? `${shown.slice(0, 32)}...` : shown;
    const look = {
      colour: message.fate === 'waiting' ? theme.faint : lost ? theme.ink : theme[message.kind],
      size: 12,
      bold: lost && message.fate !== 'waiting',
      behind: theme.ground,
    };
    if (!lost) {
      const along = (part: number, by = 0): TextPlace => [
        x1 + (x2 - x1) * part + 7,
        y1 + (y2 - y1) * part + 4 + by,
      ];
      const places = [along(0.5), along(0.5, 18), along(0.5, -18), along(0.3), along(0.7)];
      writeLabel(sheet, { texts: [cut], places: () => places, look, at: message.sent });
      continue;
    }
    const [end = 0, last = 0] = route.waits.slice(2);
    const waits = message.due > scene.run.end ? 'still on its way' : 'still waiting';
    const fate = message.fate === 'waiting' ? waits : 'never arrived';
    // What is lost has its text right at its cross, or else below it or above.
    const places = (size: number): TextPlace[] =>
      [16, -16 - size].flatMap((far) => [4, 20, -12].map((by): TextPlace => [end + far, last + by]));
    const at = message.died ?? message.due;
    // What waits for a closed link to the very end is no event: selecting it says which request it is.
    const texts = fate === 'still waiting' ? [fate] : [`${fate}: ${cut}`, fate];
    writeLabel(sheet, { texts, places, look, at });
  }
}

function rank(scene: RunView, index: number): number {
  const message = scene.run.messages[index];
  if (message?.arrived === null) return 0;
  return message?.kind === 'request' ? 1 : message?.kind === 'reply' ? 2 : 3;
}
