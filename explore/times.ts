/** Numbers that are times of a clock. */

/** A time of a clock and the moment at which somebody uses it differ by less, in milliseconds. */
const DAY = 24 * 3600 * 1000;
/** Microseconds, milliseconds and seconds, in milliseconds. */
const UNITS = [0.001, 1, 1000];

/**
 * The time that a number stands for, in milliseconds since the epoch; undefined for a number that is no time.
 * @param value in seconds, milliseconds or microseconds
 * @param near when it is used, in milliseconds since the epoch
 */
export function timeNear(value: number, near: number): number | undefined {
  return UNITS.map((unit) => value * unit).find((time) => Math.abs(time - near) < DAY);
}
