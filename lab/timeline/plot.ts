/** The data that a story is written from, and the words that its sentences share. */
import type { TimelineMark } from '../../page/format.ts';
import type { LockAccount } from '../account/account.ts';
import type { ReadMessage } from './connections.ts';
import type { RecordedRun } from './record.ts';

/** The data that a story is written from. */
export interface Plot {
  readonly run: RecordedRun;
  readonly messages: readonly ReadMessage[];
  readonly marks: readonly TimelineMark[];
  readonly account: LockAccount;
}

/** A time span in words: `3.2 ms`, `29.99 s`. @param micros in microseconds */
export function spanText(micros: number): string {
  const ms = micros / 1000;
  if (ms < 1000) return `${Number(ms.toFixed(1))} ms`;
  return `${Number((ms / 1000).toFixed(2))} s`;
}

/** Names as a list: `A, B and C`. */
export function listText(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
