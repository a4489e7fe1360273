/** Chooses between the sample that `npm test` runs and the whole that `npm run test:long` runs. */

/** True under `npm run test:long`. */
export const isLongRun = process.env.LOSTLOCK_LONG === '1';

/** The number of cases to try: a sample in `npm test`, the whole in `npm run test:long`. */
export function sampleOf(whole: number, sample: number): number {
  return isLongRun ? whole : sample;
}
