/** Draws the bars: from when to when clients believe that they hold a lock, and what nodes know. */
import type { Timeline, TimelineKey } from '../format.ts';
import { readable } from '../text.ts';
import { holdEnd } from './answers.ts';
import { barsOf } from './crowd.ts';
import { writeInside } from './labels.ts';
import type { Sheet } from './sheet.ts';
import type { Theme } from './theme.ts';
import type { RunView } from './view.ts';

/** The places at which the holds and keys of a run begin and end, one after the other. */
interface BarPlaces {
  readonly holds: Float64Array;
  readonly keys: Float64Array;
  /** The rows of them, so that the bars of two locks in one lane do not cover each other. */
  readonly holdRows: Int8Array;
  readonly keyRows: Int8Array;
  /** The number of the colour of each holder. */
  readonly owners: ReadonlyMap<string, number>;
}

/** The height of a visit in a resource's lane. */
const VISIT = 15;
/** The height of a permit in a node's lane. */
const PERMIT = 17;

/** How many bars of locks stand below each other in a lane. */
const ROWS = [0, -1, 1];
/** Between two rows. */
const BETWEEN = 1;

const prepared = new WeakMap<RunView, BarPlaces>();

function placesOf(scene: RunView): BarPlaces {
  let places = prepared.get(scene);
  if (places === undefined) {
    const { holds, keys, end } = scene.run;
    const owners = ownersOf(scene);
    const both = (from: number, to: number): number[] => [scene.axis.place(from), scene.axis.place(to)];
    const holdPlaces = Float64Array.from(holds.flatMap((hold) => both(hold.from, holdEnd(hold, end))));
    const keyPlaces = Float64Array.from(
      keys.flatMap((view) => both(view.from, keyEnd(scene.run, view, owners))),
    );
    places = {
      holds: holdPlaces,
      keys: keyPlaces,
      holdRows: rowsOf(
        holds.map(({ kind, client }) => (kind === 'lock' ? client : undefined)),
        holdPlaces,
      ),
      keyRows: rowsOf(
        keys.map(({ permit, node }) => (permit === true ? undefined : node)),
        keyPlaces,
      ),
      owners,
    };
    prepared.set(scene, places);
  }
  return places;
}

/** The rows of bars: the first that is free in the lane. @param lanes undefined for a bar that has a place of its own */
function rowsOf(lanes: readonly (string | undefined)[], places: Float64Array): Int8Array {
  const ends = new Map<string, number>();
  return Int8Array.from(lanes, (lane, i) => {
    if (lane === undefined) return 0;
    const from = places[2 * i] as number;
    const row = ROWS.find((each) => (ends.get(`${each} ${lane}`) ?? -Infinity) <= from) ?? 0;
    ends.set(`${row} ${lane}`, places[2 * i + 1] as number);
    return row;
  });
}

/** Each client has a colour; a holder that is not a client's name gets that of the client that was granted it. */
function ownersOf({ run }: RunView): ReadonlyMap<string, number> {
  const clients = run.lanes.filter(({ kind }) => kind === 'client').map(({ name }) => name);
  const owners = new Map(clients.map((name, i) => [name, i]));
  const holders = new Set(run.keys.map(({ holder }) => holder));
  for (const { grant, client } of run.holds) {
    const reply = run.messages[grant ?? -1];
    const request = run.messages[reply?.cause ?? -1];
    const { bytes = '' } = request ?? {};
    for (const word of [...bytes.split('\r\n'), ...bytes.split(/\r\n| /)]) {
      if (holders.has(word) && !owners.has(word)) owners.set(word, owners.get(client) ?? -1);
    }
  }
  return owners;
}

/** The colour of a holder. */
export function inkOf(scene: RunView, theme: Theme, holder: string | undefined): string {
  const owner = placesOf(scene).owners.get(holder ?? '') ?? -1;
  return owner < 0 ? theme.line : (theme.holders[owner % theme.holders.length] as string);
}

/** When a node's key is gone. One that is there at the end of the run stays as long as the lease of its holder. */
function keyEnd({ holds, end }: Timeline, view: TimelineKey, owners: BarPlaces['owners']): number {
  if (view.to !== null) return view.to;
  const owner = owners.get(view.holder);
  const own = holds.filter(
    ({ kind, key, client }) => kind === 'lock' && key === view.key && owners.get(client) === owner,
  );
  return Math.max(end, ...own.map((hold) => holdEnd(hold, end)));
}

/** Draws them. Bars that are narrower than a pixel are drawn together, column by column. */
export function drawBars(sheet: Sheet): void {
  const { scene, theme, unit } = sheet;
  const { holds, keys, holdRows, keyRows, owners } = placesOf(scene);
  const colourOf = (holder: string): string => inkOf(scene, theme, holder);
  const { run } = scene;
  const clients = run.lanes.filter(({ kind }) => kind === 'client').map(({ name }) => name);
  eachBar(
    { sheet, places: holds, rows: holdRows, thick: 22 * unit, colourOf },
    run.holds,
    ({ client, key }) => [client, client, key],
    (hold, y, place) => drawHold(sheet, hold, y, place, colourOf(hold.client)),
  );
  eachBar(
    { sheet, places: holds, thick: VISIT * unit, colourOf },
    run.holds,
    ({ client, key, kind }) => [kind === 'visit' ? key : '', client, key],
    (hold, y, place) =>
      drawVisit(
        sheet,
        hold,
        y + VISIT * unit * ((owners.get(hold.client) ?? 0) % 4),
        place,
        colourOf(hold.client),
      ),
  );
  eachBar(
    { sheet, places: keys, rows: keyRows, thick: 16 * unit, colourOf },
    run.keys,
    ({ node, holder, key }) => [node, holder, key],
    (view, y, place) => {
      const owner = owners.get(view.holder) ?? -1;
      // Permits of several clients stand below each other.
      const row = view.permit === true ? PERMIT * unit * ((Math.max(0, owner) % 4) - 1) : 0;
      drawKey(sheet, view, y + row, place, colourOf(view.holder), clients[owner]);
    },
  );
}

/** What a kind of bars has in common. */
interface BarLook {
  readonly sheet: Sheet;
  readonly places: Float64Array;
  readonly rows?: Int8Array;
  readonly thick: number;
  colourOf(holder: string): string;
}

/** Hands out the bars in view that are wide enough, and draws the others. */
function eachBar<T>(
  { sheet: { scene, width, pen, gutter }, places, rows, thick, colourOf }: BarLook,
  all: readonly T[],
  partiesOf: (bar: T) => readonly [lane: string, holder: string, key: string],
  draw: (bar: T, y: number, place: readonly [number, number]) => void,
): void {
  const [from, to] = scene.window;
  const scale = (width - gutter) / (to - from);
  const columns = Math.max(1, Math.ceil(width - gutter));
  const narrow = new Map<string, Uint8Array>();
  for (let i = 0; i < all.length; i++) {
    const a = ((places[2 * i] as number) - from) * scale;
    const b = ((places[2 * i + 1] as number) - from) * scale;
    if (b < 0 || a > columns) continue;
    const bar = all[i] as T;
    const [lane, holder, key] = partiesOf(bar);
    const middle = scene.laneY(lane);
    if (middle === undefined || !scene.showsKey(key)) continue;
    const y = middle + (rows?.[i] ?? 0) * (thick + BETWEEN);
    if (b - a >= 1) {
      draw(bar, y, [gutter + a, gutter + b]);
      continue;
    }
    const name = `${y} ${colourOf(holder)}`;
    let taken = narrow.get(name);
    if (taken === undefined) narrow.set(name, (taken = new Uint8Array(columns)));
    taken[Math.min(columns - 1, Math.max(0, Math.floor(a)))] = 1;
  }
  for (const [name, taken] of narrow) {
    const [y = '', colour = ''] = name.split(' ');
    pen.bars(barsOf(taken, Number(y) - thick / 2, thick, gutter), colour, 1);
  }
}

function drawHold(
  sheet: Sheet,
  { client, key, kind, fence, renewals, shared, permit }: RunView['run']['holds'][number],
  y: number,
  [a, b]: readonly [number, number],
  colour: string,
): void {
  const { pen, theme, width, x, gutter, unit } = sheet;
  const isVisit = kind === 'visit';
  const thick = (isVisit ? 8 : 22) * unit;
  const top = isVisit ? y + 12 * unit : y - 11 * unit;
  pen.rect(a, top, Math.max(2, b - a), thick, colour, 1, b - a < 6 ? 0 : 3);
  for (const renewal of renewals)
    pen.lines([x(renewal), top - 4, x(renewal), top + thick], { colour: theme.ink, width: 2 });
  if (isVisit) return;
  const left = Math.max(a, gutter) + 6;
  const verb = permit === true ? 'has a permit of' : shared === true ? 'reads' : 'holds';
  const text = `${client} ${verb} ${readable(key)}${fence === undefined ? '' : ` (fence ${fence})`}`;
  inside(sheet, left, y + 5 * unit, Math.min(b, width) - left - 4, text, 13);
}

/** Draws a client that is inside a resource, in the resource's lane: each client has a row. */
function drawVisit(
  sheet: Sheet,
  { client, fence }: RunView['run']['holds'][number],
  y: number,
  [a, b]: readonly [number, number],
  colour: string,
): void {
  const { pen, width, gutter, unit } = sheet;
  const height = VISIT * unit;
  pen.rect(a, y - 2 * height, Math.max(2, b - a), height - 1, colour);
  const left = Math.max(a, gutter) + 5;
  const text = `${client} is inside${fence === undefined ? '' : ` (fence ${fence})`}`;
  inside(sheet, left, y - height - 4 * unit, Math.min(b, width) - left - 3, text, 11);
}

function drawKey(
  sheet: Sheet,
  { key, holder, to, permit }: RunView['run']['keys'][number],
  y: number,
  [a, b]: readonly [number, number],
  colour: string,
  client: string | undefined,
): void {
  const { pen, theme, width, gutter, unit } = sheet;
  const right = to === null ? Math.max(b, Math.min(width, a + 60)) : b;
  const half = 8 * unit;
  pen.rect(a, y - half, Math.max(2, right - a), 2 * half, colour, 0.85, right - a < 6 ? 0 : 3);
  if (right - a > 3) pen.lines([a, y + half, right, y + half], { colour: theme.faint, dash: [2, 2] });
  const left = Math.max(a, gutter) + 5;
  const whose = client === undefined || client === holder ? readable(holder) : `token of ${client}`;
  const label = permit === true ? `permit of ${client ?? readable(holder)}` : `${readable(key)} = ${whose}`;
  inside(sheet, left, y + 4 * unit, Math.min(right, width) - left - 3, label, 13);
}

function inside(sheet: Sheet, x: number, y: number, room: number, text: string, size: number): void {
  const look = {
    colour: sheet.theme.holderInk,
    size: Math.max(10, Math.round(size * sheet.unit)),
    bold: true,
  };
  writeInside(sheet, [x, y], room, text, look);
}
