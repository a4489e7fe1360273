/** What every promise declares: its sentence for the docs, and how it is seen to be broken. */
import type { LockAccount } from '../../lab/account/account.ts';
import type { History, HistoryWrite } from '../history.ts';
import type { CalmWorld } from '../lives.ts';
import type { ActAtResource, Breach } from '../visit.ts';

/** A broken promise as the code that judges it reports it. */
export type Observed = Pick<Breach, 'what' | 'visits'>;

/** Nobody gets the lock when the faults are over, or much too late. */
export interface ClosedLock {
  /** How the new client that tries it fares, such as 'does not get the lock within 2500 ms'. */
  readonly how: string;
  /** What nobody who is inside has left behind in the databases; empty when that does not keep the lock closed. */
  readonly orphan: string;
}

/** What a promise may ask to know whether a world has something that it judges. */
export interface CaseContext {
  /** The resources that have several permits. */
  readonly pools: ReadonlySet<string>;
  /** The resources that must be used once. */
  readonly once: ReadonlySet<string>;
  /** How clients fare without faults; undefined for the world that shows it. */
  readonly calm: CalmWorld | undefined;
  /** Makes the account of the locks, which costs more than the rest; undefined unless the promise was named. */
  readonly account: (() => LockAccount) | undefined;
}

/** What a promise that is a function may have beside it. */
export interface MadePromise {
  /** When it has nothing to judge, for reports and docs. */
  readonly nothing: string;
  /** True when a world has something that it judges. */
  hasCase(history: History): boolean;
}

/** What is beside a function, if something is. */
export function madeOf(promise: object): MadePromise | undefined {
  return 'hasCase' in promise && 'nothing' in promise ? (promise as MadePromise) : undefined;
}

/** A promise. It is judged by whichever of these functions it has. */
export interface LockPromise {
  /** What is promised, for docs/explore.md. */
  readonly sentence: string;
  /** When it has nothing to judge, for docs/explore.md: completes "nothing to judge …". */
  readonly nothing: string;
  /** @internal Says that it is broken; by default its name does. */
  readonly broken?: string;
  /** @internal True when only an exploration that names it checks it. */
  readonly onRequest?: boolean;
  /** @internal The promises that say more: where one of them is broken, this one is not judged. */
  readonly instead?: readonly string[];
  /** @internal Judges an act of a client at a resource, as soon as it happens. */
  readonly atAct?: (act: ActAtResource) => Iterable<Observed>;
  /** @internal Judges a lock that stays closed. Returns what is wrong. */
  readonly ofClosed?: (closed: ClosedLock) => string | undefined;
  /**
   * @internal
   * Judges a world that has ended.
   * @param writes the writes of clients, with their true times
   * @param account makes the account of the locks, which costs more than the rest
   */
  readonly ofHistory?: (
    history: History,
    writes: readonly HistoryWrite[],
    account: () => LockAccount,
  ) => Iterable<Observed & { at: number }>;
  /** @internal True when a world has something that it judges; by default each has. */
  readonly hasCase?: (history: History, about: CaseContext) => boolean;
  /** @internal True when it is about all worlds together: it makes a report inconclusive, and no finding (verdict.ts). */
  readonly isOfReport?: boolean;
}
