/** One run on the page: its canvas and minimap, and the pointer on them. */
import { drawScene, type Spot } from '../drawing/draw.ts';
import { sceneHeight } from '../drawing/legend.ts';
import { routeOf } from '../drawing/messages.ts';
import type { Pen } from '../drawing/pen.ts';
import { sheetOf } from '../drawing/sheet.ts';
import type { Theme } from '../drawing/theme.ts';
import { gutterOf, LANE, type RunView, type Selection } from '../drawing/view.ts';
import { overlapTitle } from '../plain.ts';
import { CanvasPen } from './canvas-pen.ts';
import { element } from './elements.ts';

const MAP = 34;
/** The lowest lanes, on a phone, and the highest ones. */
const [LOW, HIGH] = [42, 120];

/** What a stage asks of the page. */
export interface StageOwner {
  theme(): Theme;
  select(stage: RunStage, selection: Selection | undefined): void;
  show(window: [number, number]): void;
  /** Called with the name of a lane that was clicked on. */
  lane?(name: string): void;
}

/** The drawing of one run. */
export class RunStage {
  readonly scene: RunView;
  readonly root: HTMLElement;
  readonly #owner: StageOwner;
  readonly #canvas = element('canvas', { 'aria-hidden': 'true' });
  readonly #map = element('canvas', { 'aria-hidden': 'true', class: 'map' });
  readonly #pen: Pen;
  readonly #mapPen: Pen;
  #spots: Spot[] = [];
  /** The minimap without the window, and for which width and colours it was drawn. */
  readonly #density = element('canvas', {});
  #drawn = '';
  readonly #pointers = new Map<number, { x: number; y: number; moved: number }>();

  constructor(scene: RunView, owner: StageOwner, heading: string) {
    this.scene = scene;
    this.#owner = owner;
    this.#pen = new CanvasPen(this.#canvas.getContext('2d') as CanvasRenderingContext2D);
    this.#mapPen = new CanvasPen(this.#map.getContext('2d') as CanvasRenderingContext2D);
    this.root = element(
      'div',
      { class: 'stage' },
      ...(heading === '' ? [] : [element('h2', {}, heading)]),
      this.#map,
      this.#canvas,
    );
    this.#listen();
  }

  /**
   * Draws the present window.
   * @param room how high it may be, in CSS pixels: lanes are made higher or lower to fill it; default that of usual lanes
   * @param printed the width on paper, in CSS pixels; default that of the page
   */
  draw(room?: number, printed?: number): void {
    const width = printed ?? this.root.clientWidth;
    const theme = this.#owner.theme();
    this.#fit(room, width);
    resize(this.#canvas, width, sceneHeight(this.scene, width), printed === undefined ? 1 : 2);
    this.#spots = drawScene(sheetOf(this.#pen, this.scene, theme, width));
    this.#drawMap(width, theme);
  }

  #fit(room: number | undefined, width: number): void {
    const { scene } = this;
    if (room === undefined) {
      scene.lane = LANE;
      return;
    }
    const top = this.#canvas.getBoundingClientRect().top + scrollY;
    const free =
      room - Math.min(top, room / 2) - (sceneHeight(scene, width) - scene.lane * scene.lanes.length);
    const least = width < 600 ? LOW : LANE - 10;
    scene.lane = Math.round(Math.min(HIGH, Math.max(least, free / Math.max(1, scene.lanes.length))));
  }

  #drawMap(width: number, theme: Theme): void {
    const { axis, window } = this.scene;
    const pen = this.#mapPen;
    resize(this.#map, width, MAP);
    this.#drawDensity(width, theme);
    this.#map.getContext('2d')?.drawImage(this.#density, 0, 0, width, MAP);
    const gutter = gutterOf(width);
    const inner = width - gutter;
    const place = (at: number): number => gutter + (at / axis.end) * inner;
    const [a, b] = [Math.max(gutter, place(window[0])), Math.min(width, place(window[1]))];
    pen.rect(a, 0, Math.max(3, b - a), MAP, theme.mark, 0.14);
    pen.lines([a, 0, a, MAP, b - 1, 0, b - 1, MAP], { colour: theme.mark, width: 2 });
  }

  /** The part of the minimap that does not change while the window moves. */
  #drawDensity(width: number, theme: Theme): void {
    const size = `${width} ${window.devicePixelRatio} ${theme.ground}`;
    if (this.#drawn === size) return;
    this.#drawn = size;
    const { axis, run, places } = this.scene;
    resize(this.#density, width, MAP);
    const pen = new CanvasPen(this.#density.getContext('2d') as CanvasRenderingContext2D);
    pen.rect(0, 0, width, MAP, theme.ground);
    const gutter = gutterOf(width);
    const inner = Math.max(1, width - gutter);
    const counts = new Uint32Array(inner);
    for (const [i, { kind }] of run.messages.entries()) {
      const column = Math.floor(((places.sent[i] as number) / axis.end) * (inner - 1));
      if (kind !== 'service' && column >= 0 && column < inner)
        counts[column] = (counts[column] as number) + 1;
    }
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    const bars: number[] = [];
    for (const [i, count] of counts.entries()) {
      if (count > 0) bars.push(gutter + i, MAP - 4, gutter + i, MAP - 6 - (count / most) * (MAP - 14));
    }
    pen.lines(bars, { colour: theme.request });
    const place = (at: number): number => gutter + (axis.place(at) / axis.end) * inner;
    for (const { from, to } of run.overlaps)
      pen.rect(
        place(from),
        2,
        Math.max(2, place(to) - place(from)),
        4,
        this.scene.isHarmless ? theme.mark : theme.bad,
      );
    pen.text(10, 22, 'whole run', { colour: theme.faint, size: 12 });
  }

  get #gutter(): number {
    return gutterOf(this.root.clientWidth);
  }

  #placeAt(x: number): number {
    const [from, to] = this.scene.window;
    return from + ((x - this.#gutter) / (this.root.clientWidth - this.#gutter)) * (to - from);
  }

  /** Zooms about what is selected, as far as it is in view, or about the middle of the window. */
  zoom(factor: number): void {
    const { axis, selection, window } = this.scene;
    const [from, to] =
      selection === undefined ? window : this.scene.timesOf(selection).map((at) => axis.place(at));
    const [left, right] = [Math.max(from as number, window[0]), Math.min(to as number, window[1])];
    this.#zoomAbout(left <= right ? (left + right) / 2 : (window[0] + window[1]) / 2, factor);
  }

  /** Zooms about a place of the axis. */
  #zoomAbout(centre: number, factor: number): void {
    const [from, to] = this.scene.window;
    this.#owner.show([centre - (centre - from) * factor, centre + (to - centre) * factor]);
  }

  /** Moves the window by pixels. */
  pan(pixels: number): void {
    const [from, to] = this.scene.window;
    const by = (pixels / (this.root.clientWidth - this.#gutter)) * (to - from);
    this.#owner.show([from + by, to + by]);
  }

  #listen(): void {
    const canvas = this.#canvas;
    canvas.addEventListener(
      'wheel',
      (event) => {
        const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        // Over a drawing that is higher than the window, the wheel scrolls the page.
        if (!isSideways && !event.ctrlKey && !event.metaKey && canvas.clientHeight > innerHeight) return;
        event.preventDefault();
        if (isSideways) this.pan(event.deltaX || event.deltaY);
        else this.#zoomAbout(this.#placeAt(Math.max(this.#gutter, event.offsetX)), 1.0015 ** event.deltaY);
      },
      { passive: false },
    );
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, moved: 0 });
    });
    canvas.addEventListener('pointermove', (event) => this.#moved(event));
    canvas.addEventListener('pointercancel', (event) => this.#pointers.delete(event.pointerId));
    canvas.addEventListener('pointerup', (event) => {
      const pointer = this.#pointers.get(event.pointerId);
      this.#pointers.delete(event.pointerId);
      if (pointer === undefined || pointer.moved >= 5) return;
      const lane = event.offsetX < this.#gutter ? this.scene.laneAt(event.offsetY) : undefined;
      if (lane !== undefined) this.#owner.lane?.(lane);
      else this.#owner.select(this, this.#hit(event.offsetX, event.offsetY));
    });
    this.#map.addEventListener('pointerdown', (event) => {
      const { axis, window } = this.scene;
      const centre = ((event.offsetX - this.#gutter) / (this.root.clientWidth - this.#gutter)) * axis.end;
      const half = (window[1] - window[0]) / 2;
      this.#owner.show([centre - half, centre + half]);
    });
  }

  #moved(event: PointerEvent): void {
    const pointer = this.#pointers.get(event.pointerId);
    if (pointer === undefined) {
      const hit = this.#hit(event.offsetX, event.offsetY);
      this.#canvas.style.cursor = hit === undefined ? 'grab' : 'pointer';
      this.#canvas.title = hit === undefined ? '' : this.#tip(hit);
      return;
    }
    const [one, other] = [...this.#pointers.values()];
    const before = one !== undefined && other !== undefined ? Math.abs(one.x - other.x) : 0;
    const by = pointer.x - event.offsetX;
    pointer.moved += Math.abs(by) + Math.abs(pointer.y - event.offsetY);
    pointer.x = event.offsetX;
    pointer.y = event.offsetY;
    if (one !== undefined && other !== undefined) {
      const after = Math.abs(one.x - other.x);
      const x = Math.max(this.#gutter, (one.x + other.x) / 2);
      if (before > 4 && after > 4) this.#zoomAbout(this.#placeAt(x), before / after);
    } else if (pointer.moved >= 5) this.pan(by);
  }

  #tip({ type, index }: Selection): string {
    const { run } = this.scene;
    if (type === 'mark') return `${run.marks[index]?.lane ?? ''} ${run.marks[index]?.text ?? ''}`;
    const overlap = type === 'overlap' ? run.overlaps[index] : undefined;
    if (overlap !== undefined) return overlapTitle(run, overlap);
    const message = run.messages[index];
    return `${message?.from} to ${message?.to}: ${message?.text}`;
  }

  /** What is drawn near a point. */
  #hit(px: number, py: number): Selection | undefined {
    for (const { type, index, x, y } of this.#spots)
      if (type === 'mark' && Math.abs(px - x) < 7 && Math.abs(py - y) < 24) return { type, index };
    const { scene } = this;
    const { x } = sheetOf(this.#pen, scene, this.#owner.theme(), this.root.clientWidth);
    let best: { readonly index: number; readonly far: number } | undefined;
    // Only what is under way near the pointer, because a crowd is in view at times.
    const [from, to] = [px - 8, px + 8].map((at) => scene.axis.time(this.#placeAt(at))) as [number, number];
    for (const index of scene.messagesIn(from, to)) {
      const message = scene.run.messages[index];
      const route = message === undefined || !scene.shows(index) ? undefined : routeOf(scene, message, x);
      if (route === undefined) continue;
      const all = [...route.points, ...(route.arrives ? [] : route.waits)];
      for (let i = 0; i + 3 < all.length; i += 2) {
        const far = distance(px, py, all.slice(i, i + 4));
        if (far < 8 && far < (best?.far ?? Infinity)) best = { index, far };
      }
    }
    if (best !== undefined) return { type: 'message', index: best.index };
    const near = this.#spots.find(
      (spot) => spot.type === 'overlap' && px >= spot.x && px - spot.x < 170 && py > spot.y,
    );
    return near === undefined ? undefined : { type: near.type, index: near.index };
  }
}

function distance(x: number, y: number, [x1 = 0, y1 = 0, x2 = 0, y2 = 0]: readonly number[]): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

function resize(canvas: HTMLCanvasElement, width: number, height: number, least = 1): void {
  const ratio = Math.max(least, window.devicePixelRatio || 1);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  canvas.getContext('2d')?.setTransform(ratio, 0, 0, ratio, 0, 0);
}
