/** Makes a timeline of a pair on the real clock from what its links have recorded. */

import { checkNames } from '../../base/options.ts';
import type { Timeline } from '../../page/format.ts';
import { accountOf, type LockAccount } from '../account/account.ts';
import type { RealClockTrace } from '../real-clock/trace.ts';
import { readMessages } from './connections.ts';
import type { RecordedRun } from './record.ts';
import { timelineOf } from './timeline.ts';
import { clientsIn, lanesOf, nodeLanes, type TimelineSet } from './world.ts';

/** A pair, as far as its timeline needs it. */
interface RecordedPair {
  readonly network: { readonly trace: RealClockTrace };
  readonly nodes: readonly { readonly name: string }[];
  readonly sentinels: readonly { readonly name: string }[];
  /** The shards of a cluster. */
  readonly shards?: readonly TimelineSet[];
}

/** What a timeline on the real clock may say in addition to what the links have recorded. */
export interface RealClockTimelineNotes {
  /** What was played. */
  readonly title?: string;
}

/**
 * The timeline since the recording began. The part of a stream that a request has caused has no `cause`, because nothing
 * happens at the same instant on this clock. Throws TypeError for a wrong note.
 */
export function realClockTimeline(pair: RecordedPair, notes: RealClockTimelineNotes): Timeline {
  checkNames(notes, ['title'], 'timelineData');
  return timelineOf(recordedRun(pair, notes.title));
}

/** The account of the locks of a pair. */
export function realClockAccount(pair: RecordedPair): LockAccount {
  const run = recordedRun(pair);
  return accountOf(run, readMessages(run.messages));
}

/** What a pair has recorded so far. It does not change when more is recorded. */
export function recordedRun(pair: RecordedPair, title = 'A run on the real clock'): RecordedRun {
  const nodes = pair.nodes.map(({ name }) => name);
  const sentinels = pair.sentinels.map(({ name }) => name);
  const { trace } = pair.network;
  const { messages, events, writes, restarts, forgottenUpTo } = trace;
  const sets = pair.shards ?? [{ nodes: pair.nodes }];
  const { holds, steps } = trace.visits;
  const clients = new Set([
    ...clientsIn(messages, [...nodes, ...sentinels], events),
    ...trace.visits.clients,
  ]);
  const resources = [...new Set(holds.map(({ key }) => key))];
  const lanes = lanesOf([...clients].sort(), nodeLanes(sets), sentinels, resources);
  return {
    title,
    clock: 'real',
    end: trace.elapsed(),
    lanes,
    messages,
    events: [...events],
    writes: [...writes],
    restarts: [...restarts],
    knownFrom: forgottenUpTo,
    locks: trace.locks,
    primaries: 1,
    visits: [...holds],
    visitsDecide: true,
    steps: [...steps],
  };
}
