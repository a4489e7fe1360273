/** Says below the lanes what each line, bar and pattern of the drawing means, and which nodes are not drawn. */
import { isInside } from '../plain.ts';
import type { Pen } from './pen.ts';
import type { Sheet } from './sheet.ts';
import type { Theme } from './theme.ts';
import type { RunView, Shown } from './view.ts';

const [LENGTH, ROW, BETWEEN] = [20, 18, 14];
const SIZE = 12;

/** A thing of the drawing: what it is called, and how it is drawn left of that, around a height. */
interface LegendEntry {
  readonly text: string;
  draw(pen: Pen, theme: Theme, x: number, y: number): void;
}

const line =
  (colour: (theme: Theme) => string, dash: readonly number[] = [], width = 2): LegendEntry['draw'] =>
  (pen, theme, x, y) =>
    pen.lines([x, y, x + LENGTH, y], { colour: colour(theme), width, dash });

const box =
  (colour: (theme: Theme) => string, height: number, opacity = 1): LegendEntry['draw'] =>
  (pen, theme, x, y) =>
    pen.rect(x, y - height / 2, LENGTH, height, colour(theme), opacity);

function cross(pen: Pen, theme: Theme, x: number, y: number): void {
  const middle = x + LENGTH / 2;
  const points = [middle - 5, y - 5, middle + 5, y + 5, middle - 5, y + 5, middle + 5, y - 5];
  pen.lines(points, { colour: theme.ink, width: 3 });
}

function hatched(pen: Pen, theme: Theme, x: number, y: number): void {
  pen.rect(x, y - 6, LENGTH, 12, theme.line, 0.3);
  pen.lines([x, y + 6, x + 12, y - 6, x + 8, y + 6, x + LENGTH, y - 6], { colour: theme.line });
}

function frame(pen: Pen, colour: string, x: number, y: number): void {
  const [right, top, bottom] = [x + LENGTH, y - 6, y + 6];
  pen.rect(x, top, LENGTH, 12, colour, 0.16);
  pen.lines([x, top, right, top, right, top, right, bottom, right, bottom, x, bottom, x, bottom, x, top], {
    colour,
    width: 2,
  });
}

function tick(pen: Pen, theme: Theme, x: number, y: number): void {
  pen.rect(x, y - 5, LENGTH, 10, theme.holders[0] as string);
  pen.lines([x + LENGTH / 2, y - 7, x + LENGTH / 2, y + 5], { colour: theme.ink, width: 2 });
}

function number(pen: Pen, theme: Theme, x: number, y: number): void {
  badge(pen, theme, x + LENGTH / 2, y, '1', 7);
}

/** A sentence's number in a circle. */
export function badge(
  pen: Pen,
  theme: Theme,
  x: number,
  y: number,
  text: string,
  radius: number,
  [ground, ink, edge]: readonly [string, string, string] = [theme.ground, theme.ink, theme.ink],
): void {
  pen.rect(x - radius, y - radius, 2 * radius, 2 * radius, edge, 1, radius);
  const inner = radius - 1.5;
  pen.rect(x - inner, y - inner, 2 * inner, 2 * inner, ground, 1, inner);
  const size = text.length > 2 ? radius : radius + 3;
  pen.text(x, y + size * 0.36, text, { colour: ink, size, bold: true, anchor: 'middle' });
}

interface LegendFound {
  readonly filter: Shown;
  readonly numbered: boolean;
  readonly entries: readonly LegendEntry[];
}

const known = new WeakMap<RunView, LegendFound>();

/** What the run has of it. A frame must not look through a hundred thousand messages. */
function entriesOf(scene: RunView): readonly LegendEntry[] {
  const { filter } = scene;
  const numbered = scene.numbers > 0;
  let found = known.get(scene);
  if (found?.filter !== filter || found.numbered !== numbered)
    known.set(scene, (found = { filter, numbered, entries: findEntries(scene) }));
  return found.entries;
}

function findEntries(scene: RunView): LegendEntry[] {
  const { run, absences, clocks, axis, repeats, filter } = scene;
  const kinds = new Set<string>();
  const fates = new Set<string>();
  for (const [i, { kind, arrived, due, fate }] of run.messages.entries()) {
    if (scene.shown[i] === 0) continue;
    kinds.add(kind);
    if (arrived === null) fates.add(fate === 'waiting' ? 'waits' : 'lost');
    if (arrived !== null && arrived - due >= 2) fates.add('waits');
  }
  const renews = run.holds.some(({ renewals }) => renewals.length > 0);
  const all: readonly (readonly [boolean, string, LegendEntry['draw']])[] = [
    [scene.numbers > 0, 'sentence', number],
    [kinds.has('request'), 'request', line((theme) => theme.request)],
    [kinds.has('reply'), 'reply', line((theme) => theme.reply)],
    [kinds.has('stream'), 'replication', line((theme) => theme.stream)],
    [kinds.has('ack'), 'acknowledgement', line((theme) => theme.ack, [5, 3])],
    [kinds.has('service'), 'upkeep', line((theme) => theme.service)],
    [fates.has('waits'), 'waits', line((theme) => theme.stream, [2, 4])],
    [fates.has('lost'), 'never arrives', cross],
    [run.holds.length > 0, 'a client holds it', box((theme) => theme.holders[0] as string, 12)],
    [renews, 'renewed', tick],
    [run.keys.length > 0, 'a node knows it', box((theme) => theme.holders[0] as string, 7, 0.85)],
    [
      run.overlaps.length > 0,
      `${run.overlaps.every((each) => isInside(run, each)) ? 'two are inside' : 'two hold it'}${scene.isHarmless ? ', harmless' : ''}`,
      (pen, theme, x, y) => frame(pen, scene.isHarmless ? theme.mark : theme.bad, x, y),
    ],
    [absences.some(({ why }) => why === 'dead'), 'dead', hatched],
    [absences.some(({ why }) => why === 'paused'), 'stands still', box((theme) => theme.line, 12, 0.3)],
    [clocks.length > 0, 'clock is wrong', line((theme) => theme.mark, [6, 2, 1, 2])],
    [repeats.length > 0 && !filter.repeats, 'repeats', line((theme) => theme.request, [1, 3], 4)],
    [axis.gaps.length > 0, 'time left out', box((theme) => theme.line, 12, 0.4)],
  ];
  return all.flatMap(([is, text, draw]) => (is ? [{ text, draw }] : []));
}

/** How much room a text takes, rather too much than too little: the height must not depend on the font. */
function roomOf(text: string): number {
  return LENGTH + 6 + text.length * SIZE * 0.64;
}

/** Where each entry stands: the left end, and the number of its row. */
function placed(
  entries: readonly LegendEntry[],
  width: number,
): { readonly x: number; readonly row: number }[] {
  let [x, row] = [10, 0];
  return entries.map(({ text }) => {
    const room = roomOf(text);
    if (x > 10 && x + room > width) [x, row] = [10, row + 1];
    const place = { x, row };
    x += room + BETWEEN;
    return place;
  });
}

/** The nodes that are not drawn, in a sentence. */
function hiddenText({ run, lanes }: RunView): string | undefined {
  const hidden = run.lanes.filter((lane) => !lanes.includes(lane)).map(({ name }) => name);
  return hidden.length === 0 ? undefined : `Nothing happens at ${hidden.join(', ')}.`;
}

/** Between the lanes and the legend, how long the times are that are left out. */
const FOOT = 22;

/** How high the whole drawing is at this width, in CSS pixels. */
export function sceneHeight(scene: RunView, width: number): number {
  return scene.foot + FOOT + legendHeight(scene, width);
}

function legendHeight(scene: RunView, width: number): number {
  const rows = (placed(entriesOf(scene), width).at(-1)?.row ?? -1) + 1;
  return (rows + (hiddenText(scene) === undefined ? 0 : 1)) * ROW + 6;
}

/** Draws the legend, in as many rows as it takes. */
export function drawLegend({ pen, scene, theme, width }: Sheet): void {
  const entries = entriesOf(scene);
  const look = { colour: theme.faint, size: SIZE };
  const top = scene.foot + FOOT + 12;
  const places = placed(entries, width);
  for (const [i, { text, draw }] of entries.entries()) {
    const { x, row } = places[i] as (typeof places)[number];
    draw(pen, theme, x, top + row * ROW - 4);
    pen.text(x + LENGTH + 6, top + row * ROW, text, look);
  }
  const hidden = hiddenText(scene);
  if (hidden === undefined) return;
  const letters = Math.floor((width - 20) / (SIZE * 0.6));
  const text = hidden.length > letters ? `${hidden.slice(0, letters - 3)}...` : hidden;
  pen.text(10, top + ((places.at(-1)?.row ?? -1) + 1) * ROW, text, look);
}
