/** The demo's stories in the order in which they are shown. */

import type { Played } from './recorder.ts';
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

const plays: Readonly<Record<string, (seed: number) => Promise<Played>>> = {
  failover: plainFailover,
  wait: withWait,
  'wait-other-replica': waitOfAnotherReplica,
  'wait-other-connection': waitOnAnotherConnection,
  'redlock-restart': (seed) => redlockRestart(seed),
  'redlock-clock': (seed) => redlockClockJump(seed),
  fence: withFence,
  'fence-rolled-back': fenceRolledBack,
  'quorum-ap': (seed) => quorum(seed, false),
  'quorum-cp': (seed) => quorum(seed, true),
};

/** Each function plays a story on a virtual clock, under its short name. The same seed gives the same events. */
export const namedStories: typeof plays = Object.fromEntries(
  Object.entries(plays).map(([name, play]) => [name, async (seed: number) => named(name, await play(seed))]),
);

/** The name goes into the links to the story's picture. */
function named(name: string, played: Played): Played {
  const { timeline } = played;
  return timeline === undefined ? played : { ...played, timeline: { ...timeline, name } };
}

/** The stories in the order in which they are shown. */
export const stories = Object.values(namedStories);

/** What would have prevented the loss of a story, and the story in which it does. */
export interface Cure {
  /** In one sentence. */
  readonly text: string;
  readonly play: (seed: number) => Promise<Played>;
}

/** By the short names of the stories that lose. */
export const cures: Readonly<Record<string, Cure>> = {
  failover: { text: 'A asks WAIT 1 and gives the lock back on 0.', play: withWait },
  'wait-other-replica': {
    text: 'a quorum: only a replica that has every answered write is promoted, and a write is answered when a majority has it.',
    play: (seed) => quorum(seed, true),
  },
  'wait-other-connection': { text: 'WAIT on the connection that wrote the lock.', play: withWait },
  'redlock-restart': {
    text: 'a node that has lost its data stays down for as long as the longest lease.',
    play: (seed) => redlockRestart(seed, true),
  },
  'redlock-clock': {
    text: 'clocks are adjusted slowly, never stepped.',
    play: (seed) => redlockClockJump(seed, true),
  },
  'fence-rolled-back': {
    text: 'A uses its fence only when the replica has it.',
    play: withFence,
  },
  'quorum-ap': {
    text: 'a quorum: a write is answered when a majority has it.',
    play: (seed) => quorum(seed, true),
  },
};
