/** Plays a run like a film: play, pause, single steps, and a slider. */

import { button, element } from '../../page/app/elements.ts';
import { timeText } from '../../page/drawing/axis.ts';
import { momentsOf, type RunView } from '../../page/drawing/view.ts';

/** How long a run takes to play, in milliseconds of the user's time. */
const FILM = 14_000;
/** The slider's positions. */
const POSITIONS = 10_000;

/** The controls of the playhead. */
export class Transport {
  readonly root = element('div', { class: 'tools', role: 'group', 'aria-label': 'Play' });
  readonly #moved: () => void;
  readonly #slider = element('input', {
    type: 'range',
    min: '0',
    max: String(POSITIONS),
    'aria-label': 'Time',
  });
  readonly #time = element('output', {});
  readonly #toggle = button('Play', () => this.toggle(), { class: 'main' });
  #scene: RunView | undefined;
  #moments: number[] = [];
  #frame = 0;

  /** @param moved called when the playhead has moved */
  constructor(moved: () => void) {
    this.#moved = moved;
    this.#slider.addEventListener('input', () => {
      const { axis } = this.#scene ?? {};
      if (axis !== undefined) this.seek(axis.time((Number(this.#slider.value) / POSITIONS) * axis.end));
    });
    this.root.append(
      button('To the start', () => this.seek(0)),
      button('\u25c0 Step', () => this.step(-1)),
      this.#toggle,
      button('Step \u25b6', () => this.step(1)),
      button('To the end', () => this.seek(Infinity)),
      this.#slider,
      this.#time,
    );
  }

  /** Takes a run. @param at where to begin, in microseconds */
  load(scene: RunView, at: number): void {
    this.pause();
    this.#scene = scene;
    this.#moments = [...new Set(momentsOf(scene.run))].filter((time) => time >= 0).sort((a, b) => a - b);
    this.seek(at);
  }

  /** Where the playhead is, in microseconds. */
  get at(): number {
    return this.#scene?.playhead ?? 0;
  }

  /** Where the run ends, in microseconds. */
  get end(): number {
    return this.#scene?.axis.time(this.#scene.axis.end) ?? 0;
  }

  /** Moves the playhead, and stops playing. */
  seek(at: number): void {
    this.pause();
    this.#place(at);
  }

  #place(at: number): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    scene.playhead = Math.min(Math.max(0, at), this.end);
    this.#slider.value = String(Math.round((scene.axis.place(scene.playhead) / scene.axis.end) * POSITIONS));
    this.#slider.setAttribute('aria-valuetext', timeText(scene.playhead));
    this.#time.textContent = timeText(scene.playhead);
    this.#moved();
  }

  /** Moves to the next or the previous event. */
  step(by: 1 | -1): void {
    const now = this.at;
    const next =
      by === 1 ? this.#moments.find((time) => time > now) : this.#moments.filter((time) => time < now).at(-1);
    this.seek(next ?? (by === 1 ? Infinity : 0));
  }

  /** Plays or pauses; from the end, it plays from the start. */
  toggle(): void {
    if (this.#frame !== 0) this.pause();
    else this.play();
  }

  /** Plays from where the playhead is. */
  play(): void {
    const scene = this.#scene;
    if (scene === undefined || this.#frame !== 0) return;
    if (this.at >= this.end) this.#place(0);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.seek(Infinity);
      return;
    }
    this.#toggle.textContent = 'Pause';
    let before = performance.now();
    const tick = (now: number): void => {
      const places = (Math.min(100, now - before) / FILM) * scene.axis.end;
      before = now;
      this.#place(scene.axis.time(scene.axis.place(this.at) + places));
      if (this.at >= this.end) this.pause();
      else this.#frame = requestAnimationFrame(tick);
    };
    this.#frame = requestAnimationFrame(tick);
  }

  /** Stands still. */
  pause(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#toggle.textContent = 'Play';
  }
}
