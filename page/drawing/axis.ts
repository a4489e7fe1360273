/** The axis of time. Times in which nothing happens are shortened, so that milliseconds and a lease of a minute fit on one page. */

/** A stretch of time in which nothing happens. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Maps microseconds to places. Places grow with time, one for each microsecond outside of gaps. */
export class Axis {
  readonly gaps: readonly Gap[];
  readonly #times: number[] = [];
  readonly #places: number[] = [];
  readonly start: number;
  readonly end: number;

  /**
   * @param points the moments at which something happens, in any order
   * @param isLinear true: no time is left out
   */
  constructor(points: readonly number[], isLinear = false) {
    const sorted = [...points].sort((a, b) => a - b);
    const first = sorted[0] ?? 0;
    const last = Math.max(sorted.at(-1) ?? 0, first + 1);
    const longest = isLinear ? Infinity : Math.max(2000, 4 * medianStep(sorted));
    const gaps: Gap[] = [];
    let place = 0;
    let before = first;
    this.#times.push(first);
    this.#places.push(0);
    for (const time of sorted) {
      const gap = time - before;
      if (gap > longest) {
        const begun = before + longest / 4;
        const ended = time - longest / 4;
        gaps.push({ from: begun, to: ended });
        this.#times.push(begun, ended);
        this.#places.push(
          place + longest / 4,
          place + longest * 0.75 + longest * Math.log10(gap / longest) * 0.5,
        );
        place = (this.#places.at(-1) as number) + longest / 4;
      } else place += gap;
      if (gap > 0) {
        before = time;
        if (gap > longest) {
          this.#times.push(time);
          this.#places.push(place);
        }
      }
    }
    this.#times.push(last);
    this.#places.push(Math.max(place, 1));
    this.gaps = gaps;
    this.start = first;
    this.end = Math.max(place, 1);
  }

  place(time: number): number {
    return interpolated(this.#times, this.#places, time);
  }

  time(place: number): number {
    return interpolated(this.#places, this.#times, place);
  }
}

/** The median of the times between moments, without those that fall together. */
function medianStep(sorted: readonly number[]): number {
  const steps: number[] = [];
  for (let i = 1; i < sorted.length; i++) {
    const step = (sorted[i] as number) - (sorted[i - 1] as number);
    if (step > 0) steps.push(step);
  }
  return steps.sort((a, b) => a - b)[steps.length >> 1] ?? 0;
}

function interpolated(from: readonly number[], to: readonly number[], value: number): number {
  let low = 0;
  let high = from.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((from[middle] as number) <= value) low = middle;
    else high = middle;
  }
  const [a, b] = [from[low] as number, from[high] as number];
  const [c, d] = [to[low] as number, to[high] as number];
  return b === a ? c : c + ((value - a) / (b - a)) * (d - c);
}

/** A round step for marks on the axis, in microseconds, not smaller than `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

/**
 * A moment or a length in words: `3.2 ms`, `29.99 s`.
 * @param micros in microseconds
 * @param step what the digits have to tell apart, in microseconds
 */
export function timeText(micros: number, step = Infinity): string {
  const ms = micros / 1000;
  const needed = (unit: number): number => Math.ceil(Math.log10(unit / Math.max(1, step)));
  if (Math.abs(ms) < 1000)
    return `${Number(ms.toFixed(Math.max(Math.abs(ms) < 100 ? 1 : 0, needed(1000))))} ms`;
  return `${Number((ms / 1000).toFixed(Math.max(Math.abs(ms) < 100_000 ? 2 : 0, needed(1_000_000))))} s`;
}

/** Two moments in words, to the microsecond if they would look the same otherwise. */
export function timesText(one: number, other: number): [string, string] {
  const step = one !== other && timeText(one) === timeText(other) ? 1 : Infinity;
  return [timeText(one, step), timeText(other, step)];
}
