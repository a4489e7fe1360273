/** What a played world leaves behind: what happened in it, and what it broke. */
import type { TraceEvent } from '../lab/time/event.ts';
import type { TimelineWorld } from '../lab/timeline/world.ts';
import { describe } from './describe.ts';
import type { PlannedFault } from './faults/index.ts';
import type { ClientLife } from './lives.ts';
import type { RecordedOperation } from './operations/operation.ts';
import type { WorldPlan } from './plan.ts';
import type { StageSet } from './stage/controls.ts';
import type { Breach, Visit } from './visit.ts';

/** Something that happened in a world, for its story. */
export interface StoryLine {
  /** Milliseconds since the clients started. */
  readonly at: number;
  /** The client, node or operator that it happened to. */
  readonly who: string;
  /** What happened, in words. */
  readonly what: string;
  /** What it was: what a client did or printed, trouble that it met, a fault, a visit to a resource, or the end of the world. */
  readonly kind: 'client' | 'output' | 'trouble' | 'fault' | 'visit' | 'end';
}

/** What ended a world before its time. */
export interface Failure {
  /** When, in milliseconds since the clients started. */
  readonly at: number;
  /** What failed, on one line. */
  readonly what: string;
  /** What was thrown. */
  readonly error: unknown;
}

/** The longest text of a failure, in characters: longer than that of what a client meets, because it is all there is. */
export const LONGEST = 400;

/** What an error means for the world that it ended. @param at milliseconds since the clients started */
export function failureOf(error: unknown, at: number): Failure {
  return { at, what: describe(error, LONGEST), error };
}

/** What a played world leaves behind. */
export interface PlayedWorld {
  readonly plan: WorldPlan;
  readonly breaches: readonly Breach[];
  readonly visits: readonly Visit[];
  /** The resources that have several permits: clients may be inside of them together. */
  readonly pools?: ReadonlySet<string>;
  /** The resources that must be used once. */
  readonly once?: ReadonlySet<string>;
  /** The resources to which clients sent, as links know them. */
  readonly distant?: ReadonlySet<string>;
  readonly lines: readonly StoryLine[];
  /** What clients printed: the first lines. Absent on real servers, whose clients print to the terminal. */
  readonly output?: readonly StoryLine[];
  /** The faults of the plan that had something to strike. */
  readonly struck: readonly PlannedFault[];
  /** What had happened when the clients started; times of the trace count from the beginning of the world. */
  readonly begunAt: number;
  /** The same moment on the world's wall clock, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly events: readonly TraceEvent[];
  readonly sets: readonly StageSet[];
  /** What the lab recorded of it; absent when it was played on real servers. */
  readonly world?: TimelineWorld;
  /** Set for a world in real time. */
  readonly clock?: 'real';
  /** On real servers: true when the clients acted in the order of the virtual world. */
  readonly ordered?: boolean;
  /** True when the world was ended because of a breach. */
  readonly stopped: boolean;
  /** Set when a client's process ended by what nothing in it caught: the first of them. */
  readonly crash?: { readonly error: unknown };
  /** Set when something failed in the world, or it did not end: what followed is not known. */
  readonly failure?: Failure;
  /** How the code of each client ran, in the order in which it began. */
  readonly lives: readonly ClientLife[];
  /** The operations that clients and the probe recorded, in the order in which they began. */
  readonly operations: readonly RecordedOperation[];
  /** How the code of the probe ran, again and again until it entered. */
  readonly probeLives: readonly ClientLife[];
  /** When the clients were told to end, in milliseconds since they started; Infinity when they never were. */
  readonly toldAt: number;
  /** When the last client's code was done, in milliseconds since the start. */
  readonly span: number;
  /** When the world ended, in milliseconds since the clients started. */
  readonly endedAt: number;
  /** The keys that were left, with their values. */
  readonly remains: string;
  /** The SHA-256 of the trace, computed when it is asked for. */
  hash(): string;
}
