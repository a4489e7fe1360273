/** What a run has to record so that a timeline of it can be drawn. Times are in microseconds since the run began. */
import type { StoryStep, TimelineHold, TimelineLane, TimelineVerdict } from '../../page/format.ts';
import type { RecordedMessage } from './connections.ts';

/** What happened to a party, or to a direction between two: then `who` is `redis-1>redis-2`. */
export interface RecordedEvent {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly detail: string;
}

/** A write that a node has executed as a primary. */
export interface RecordedWrite {
  readonly at: number;
  readonly node: string;
  readonly write: {
    readonly key: string;
    /** The number of the database; 0 where it is missing. */
    readonly db?: number;
    readonly type: string;
    readonly holder: string | undefined;
    readonly command: readonly string[];
    readonly offset: number;
    readonly client: string | undefined;
    /** The node's wall clock, in milliseconds since the epoch. */
    readonly at: number;
  };
}

/** What a node that started again still had: the holders by their keys; a key that names none has ''. */
export interface RecordedRestart {
  readonly at: number;
  readonly node: string;
  readonly kept: ReadonlyMap<string, string>;
}

/**
 * What a node still had when it started again: the holders by their keys. On the real clock, that is known a little later than the start.
 * @param at when it started, in microseconds
 */
export function keptBy(
  { restarts = [] }: Pick<RecordedRun, 'restarts'>,
  node: string,
  at: number,
): ReadonlyMap<string, string> | undefined {
  return restarts.find((each) => each.node === node && each.at >= at)?.kept;
}

/** One run. */
export interface RecordedRun {
  readonly title: string;
  /** A short name, for links. */
  readonly name?: string;
  readonly clock: 'virtual' | 'real';
  readonly replay?: string;
  readonly end: number;
  readonly lanes: readonly TimelineLane[];
  readonly messages: readonly RecordedMessage[];
  readonly events: readonly RecordedEvent[];
  readonly writes: readonly RecordedWrite[];
  readonly restarts?: readonly RecordedRestart[];
  /** What happened before is no longer known; 0 when everything is. */
  readonly knownFrom?: number;
  /** Patterns of keys that are locks, and with ! of keys that are none. */
  readonly locks?: readonly string[];
  /** How many independent primaries there are: a lock needs the majority of them. */
  readonly primaries: number;
  /** Who was inside which resource, where the run says so itself. */
  readonly visits?: readonly TimelineHold[];
  /** True: clients that visit a resource of a lock's name count by their visits, and not by what they believe. */
  readonly visitsDecide?: boolean;
  /** Sentences that the run tells itself; with `told`, they are the whole story. */
  readonly steps?: readonly StoryStep[];
  readonly told?: boolean;
  readonly verdict?: TimelineVerdict;
}
