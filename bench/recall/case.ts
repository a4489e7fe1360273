/** What `npm run explore:recall` plays: a program with a defect and what must be found in it, or a sound one, in which nothing may be. */
import type { ExploreOptions } from '../../explore/index.ts';

/** Where a case comes from. */
export type RecallGroup = 'specimen' | 'report' | 'program';

/** A client's code. */
export type RecallClient = ExploreOptions['client'];

/** A defect, or a program without one. */
export interface RecallCase extends Pick<ExploreOptions, 'topology' | 'clients' | 'promises'> {
  /** Its name, which the baseline has: the number of a mistake, the source of a report, or what a program does. */
  readonly name: string;
  readonly group: RecallGroup;
  /** The form with the defect; undefined for a program that has none. */
  readonly unsafe?: RecallClient;
  /** The sound form; undefined where there is none of the same kind. */
  readonly sound?: RecallClient;
  /** True for a defect that no lease can keep out: then what `accept: 'lease-limits'` names is what must be found. */
  readonly isLimit?: boolean;
  /** True for a defect that shows as an error without any fault: then the report must be inconclusive for it. */
  readonly isCalmError?: boolean;
  /** The promises of which one must break; default any. */
  readonly shows?: readonly string[];
  /** The part of the usual worlds that is played: those of a cluster take much longer. Default 1. */
  readonly part?: number;
}
