/** Compares a result of recall with the committed one. */
import type { RecallResult } from './play.ts';

/** The verdict of each form, by its group and name. */
export type Baseline = Readonly<Record<string, RecallResult['verdict'] | undefined>>;

/** True when a form that was good, or is new, is missed or a false alarm now. */
export function worseThan(before: Baseline[string], now: RecallResult['verdict']): boolean {
  const isGood = (verdict: RecallResult['verdict']): boolean => verdict === 'found' || verdict === 'clean';
  return !isGood(now) && (before === undefined || isGood(before));
}
