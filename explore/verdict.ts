/** Judges a report: clean, broken, or inconclusive, and why it proves nothing. */
import { madePromises, promises } from './promises/index.ts';
import type { ReportData } from './report-data.ts';

/** What an exploration says about the code: no promise breaks, one does, or too little was played to know. */
export type ReportVerdict = 'clean' | 'broken' | 'inconclusive';

/**
 * Why a report is inconclusive.
 * - `unplayed`: worlds with one fault are left, under `exhaustive`, a budget that was set, a time limit of a test, or Ctrl-C
 * - `unstruck`: a fault that was named never struck
 * - `unjudged`: a promise that was named had nothing to judge
 * - `calm-error`: an error ended a client in the world without faults
 * - `gave-up`: errors ended clients in more than nine of ten worlds
 * - `uncontended`: operations of two clients never overlapped
 * - `no-fault`: no fault ever struck
 * - `lab-error`: an error of the lab itself ended worlds
 * - `stalled`: the machine stood still in more than half of the worlds of programs
 * - `unrepeated`: a promise of programs broke, and never again
 */
export type InconclusiveKind =
  | 'unplayed'
  | 'unstruck'
  | 'unjudged'
  | 'calm-error'
  | 'gave-up'
  | 'uncontended'
  | 'no-fault'
  | 'lab-error'
  | 'stalled'
  | 'unrepeated';

/** Every reason, for checks of options. */
export const INCONCLUSIVE_KINDS: readonly InconclusiveKind[] = [
  ...(['unplayed', 'unstruck', 'unjudged', 'calm-error'] as const),
  ...(['gave-up', 'uncontended', 'no-fault', 'lab-error'] as const),
  ...(['stalled', 'unrepeated'] as const),
];

/** Why a report is inconclusive. */
export interface Inconclusive {
  readonly kind: InconclusiveKind;
  /** The reason in words. */
  readonly what: string;
}

/** What the reasons follow from. */
export type JudgedReport = Pick<ReportData, 'asked' | 'coverage' | 'worlds' | 'interrupted'>;

/** Every reason for which the report proves nothing. Some depend on what was named: what is left of defaults is only listed. */
export function reasonsOf({ asked, coverage, worlds, interrupted }: JudgedReport): Inconclusive[] {
  const reasons: Inconclusive[] = [];
  const add = (kind: InconclusiveKind, what: string): number => reasons.push({ kind, what });
  const { singles, pairs, strategies, faults, judged, gaveUp, calmErrors, labErrors, contended } = coverage;
  const orders = coverage.exhaustive?.orders ?? { all: 0, played: 0 };
  const isLimited = asked.limited || interrupted;
  if (isLimited && singles.played < singles.share)
    add('unplayed', `${singles.played} of ${singles.share} worlds with one fault were played`);
  else if (interrupted && worlds <= 1) add('unplayed', 'it ended before worlds with faults were played');
  if (orders.played < orders.all)
    add(
      'unplayed',
      `${orders.played} of ${orders.all} known worlds with other orders of messages were played`,
    );
  const two = strategies['two faults'] ?? 0;
  if (pairs !== undefined && two < pairs)
    add('unplayed', `${two} of ${pairs} worlds with two faults were played`);
  const idle = asked.faults.filter((kind) => (faults[kind] ?? 0) === 0);
  const struck = asked.faults.length - idle.length;
  const asksForContention = asked.promises.includes('contended');
  if (asked.namesFaults && idle.length > 0 && struck > 0) add('unstruck', `never struck: ${idle.join(', ')}`);
  if (asked.faults.length > 0 && struck === 0) add('no-fault', 'no fault ever struck');
  const unjudged = asked.namedPromises.filter((name) => judged[name] === 0);
  for (const name of unjudged) {
    const nothing = (promises.find((each) => each.name === name) ?? madeNamed(name))?.nothing ?? '';
    add('unjudged', `${name} had nothing to judge${nothing === '' ? '' : ` (it has nothing ${nothing})`}`);
  }
  for (const text of calmErrors) add('calm-error', `without any fault, ${text}`);
  if (gaveUp > worlds * 0.9) add('gave-up', `errors ended clients in ${gaveUp} of ${worlds} worlds`);
  if (asksForContention && asked.clients.length > 1 && contended === 0)
    add('uncontended', 'operations of two clients on one key or resource never overlapped');
  for (const text of labErrors) add('lab-error', text);
  const { programs } = coverage;
  if (programs === undefined) return reasons;
  if (programs.discarded > worlds)
    add('stalled', `the machine stood still in ${programs.discarded} worlds, and ${worlds} count`);
  for (const { sentence, replay } of programs.unrepeated)
    add('unrepeated', `broke once, and not again: ${sentence} (replay: ${replay})`);
  return reasons;
}

/** The promise made for an object that has this name, such as `linearizable(queue)`. */
function madeNamed(name: string): (typeof madePromises)[number] | undefined {
  return madePromises.find((each) => each.name.split('(', 1)[0] === name.split('(', 1)[0]);
}
