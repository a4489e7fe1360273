/** Which part of a run is in view: windows from one place of its axis to another. */
import type { RunView } from '../drawing/view.ts';

export type Window = readonly [from: number, to: number];

/** The smallest window. */
const SMALLEST = 40;

/** A window about the same middle, neither too small to show something nor beyond the run. */
export function fitted(scene: RunView, [from, to]: Window): [number, number] {
  const [first, last] = scene.whole();
  const size = Math.min(Math.max(to - from, SMALLEST), last - first);
  const start = Math.min(Math.max((from + to - size) / 2, first), last - size);
  return [start, start + size];
}

/** A window of the present size with a time in its middle; undefined when the time is in view already. Times in microseconds. */
export function windowAbout({ axis, window }: RunView, from: number, to: number): Window | undefined {
  const size = window[1] - window[0];
  const left = axis.place(from);
  const right = axis.place(Math.min(to, axis.time(left + size / 2)));
  if (left >= window[0] && right <= window[1]) return undefined;
  const middle = (left + right) / 2;
  return [middle - size / 2, middle + size / 2];
}

/** A window that shows a broken promise from near: what led to it, and how it begins. @param at when it breaks, in microseconds */
export function windowOfBreak({ axis, run: { tenures = [] } }: RunView, at: number): Window {
  const ends = tenures.flatMap(({ to }) => (to !== null && to <= at ? [to] : []));
  const begun = axis.place(ends.reduce((a, b) => Math.max(a, b), 0));
  const broken = axis.place(at);
  const size = Math.max(broken - begun, axis.end * 0.12);
  return [broken - 1.3 * size, broken + 0.7 * size];
}
