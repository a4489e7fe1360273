/** The demo's stories in the order in which they are shown. */
import { redlockClockJump, redlockRestart } from './redlock-stories.ts';
import {
  fenceRolledBack,
  plainFailover,
  quorum,
  waitOfAnotherReplica,
  waitOnAnotherConnection,
  withFence,
  withWait,
} from './replicated-stories.ts';
import type { Played } from './stage.ts';

/** Each function plays a story on a virtual clock. The same seed gives the same events. */
export const stories: readonly ((seed: number) => Promise<Played>)[] = [
  plainFailover,
  withWait,
  waitOfAnotherReplica,
  waitOnAnotherConnection,
  redlockRestart,
  redlockClockJump,
  withFence,
  fenceRolledBack,
  (seed) => quorum(seed, false),
  (seed) => quorum(seed, true),
];
