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

/** Each function plays a story on a virtual clock, under its short name. The same seed gives the same events. */
export const namedStories: Readonly<Record<string, (seed: number) => Promise<Played>>> = {
  failover: plainFailover,
  wait: withWait,
  'wait-other-replica': waitOfAnotherReplica,
  'wait-other-connection': waitOnAnotherConnection,
  'redlock-restart': redlockRestart,
  'redlock-clock': redlockClockJump,
  fence: withFence,
  'fence-rolled-back': fenceRolledBack,
  'quorum-ap': (seed) => quorum(seed, false),
  'quorum-cp': (seed) => quorum(seed, true),
};

/** The stories in the order in which they are shown. */
export const stories = Object.values(namedStories);
