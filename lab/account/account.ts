/**
 * The account of a run: what happened to each lock. It is derived from the writes of the nodes, the messages, and the visits
 * of the clients where a run has them, and only when somebody asks.
 */
import type { TimelineHold, TimelineOverlap } from '../../page/format.ts';
import type { ReadMessage } from '../timeline/connections.ts';
import type { RecordedRun } from '../timeline/record.ts';
import { Calls } from './calls.ts';
import { entriesOf, type VisitEntry } from './entries.ts';
import { happeningsOf } from './happenings.ts';
import { holdsOf } from './holds.ts';
import { lockWritesOf } from './locks.ts';
import { type Crowd, crowdsOf, overlapsOf } from './overlaps.ts';
import { Pools } from './pools.ts';
import { type OtherKey, Recognition } from './recognition.ts';
import { type LockRefusal, refusalsOf } from './refusals.ts';
import { type Tenure, tenuresOf } from './tenures.ts';
import { type Confirmation, confirmationsOf, type LockWaiter, waitersOf } from './waiting.ts';

/** What happened to the locks of a run. Times are in microseconds since the run began. */
export interface LockAccount {
  /** The names of the locks. */
  readonly locks: ReadonlySet<string>;
  /** The grants, as long as they stood on the servers. */
  readonly tenures: readonly Tenure[];
  /** Which client believed that it held which lock, and the visits that the run itself knows of. */
  readonly holds: readonly TimelineHold[];
  /** The visits that the run itself knows of, each with the request whose reply let the client enter. */
  readonly entries: readonly VisitEntry[];
  /** When two clients believed that they held the same lock. */
  readonly overlaps: readonly TimelineOverlap[];
  /** When more permits of a pool were held than there are. */
  readonly crowds: readonly Crowd[];
  /** Grants that nobody knows of: nobody will give them back. */
  readonly ghosts: readonly Tenure[];
  readonly refusals: readonly LockRefusal[];
  /** The answers to WAIT and WAITAOF. */
  readonly confirmations: readonly Confirmation[];
  readonly waiters: readonly LockWaiter[];
  /** Keys that clients set because they were absent, and that are no locks, with the reason. */
  readonly others: readonly OtherKey[];
  /** What happened before is no longer known; 0 when everything is. */
  readonly knownFrom: number;
  /** The pools and queues among the locks. */
  readonly pools: Pools;
  /** Every command that a client sent, with its reply. */
  readonly calls: Calls;
}

/** The account of a run. */
export function accountOf(run: RecordedRun, messages: readonly ReadMessage[]): LockAccount {
  const calls = new Calls(run, messages);
  const pools = new Pools(run, messages);
  const happenings = happeningsOf(run, messages, calls);
  const recognition = new Recognition(run, happenings, calls, pools);
  const writes = lockWritesOf(run, calls, pools, recognition);
  const tenures = tenuresOf(run, happenings, writes);
  const beliefs = holdsOf(run, calls, writes);
  const holds = [...beliefs, ...(run.visits ?? [])].sort((a, b) => a.from - b.from);
  const locks = new Set(tenures.map(({ lock }) => lock));
  return {
    locks,
    tenures,
    holds,
    entries: entriesOf(run.visits ?? [], calls, tenures),
    overlaps: overlapsOf(run.visitsDecide === true ? withoutBeliefs(holds) : holds, run.end),
    crowds: crowdsOf(holds, pools, run.end),
    ghosts: tenures.filter((tenure) => isGhost(tenure, beliefs, run)),
    refusals: refusalsOf(calls, recognition, writes, tenures),
    confirmations: confirmationsOf(calls),
    waiters: waitersOf(run, messages, calls, locks),
    others: recognition.others(),
    knownFrom: run.knownFrom ?? 0,
    pools,
    calls,
  };
}

/** Without what clients believe of the locks that they also visit. */
function withoutBeliefs(holds: readonly TimelineHold[]): readonly TimelineHold[] {
  const visited = new Set(holds.filter(({ kind }) => kind === 'visit').map(({ key }) => key));
  return holds.filter(({ kind, key }) => kind === 'visit' || !visited.has(key));
}

/** True for a grant that its client did not learn of, or that came back after its client had given it up. */
function isGhost(tenure: Tenure, beliefs: readonly TimelineHold[], { primaries }: RecordedRun): boolean {
  const { told, client, lock, from, end, call, restored } = tenure;
  if (told !== null) return false;
  // Nothing is lost yet while the reply is under way, or the command has not been answered.
  if (!restored && call?.reply?.fate !== 'lost' && !(call?.reply === undefined && end !== undefined))
    return false;
  if (!restored && primaries > 1) return true;
  const until = end?.at ?? Infinity;
  return !beliefs.some(
    (hold) =>
      hold.client === client &&
      hold.key === lock &&
      hold.from < until &&
      (hold.to ?? hold.lease ?? Infinity) > from,
  );
}
