/** What the playground's page and its worker say to each other. */
import type { Timeline } from '../../page/format.ts';
import type { PlayCase, PlayStep } from './case.ts';

/** The page asks for a run, or for the faults that break the lock. */
export interface PlayRequest {
  readonly id: number;
  readonly what: 'play' | 'find';
  readonly play: PlayCase;
}

/** A run. */
export interface PlayedCase {
  readonly timeline: Timeline;
  /** The SHA-256 of everything that happened: the same in every browser and in Node. */
  readonly hash: string;
  /** The text that plays it again with `replay` of lostlock/explore; empty for stories. */
  readonly replay: string;
  /** The steps that had nothing to strike. */
  readonly missed: readonly PlayStep[];
}

/** What a search has found. */
export interface FoundCase {
  /** The case with the faults that break the lock; undefined when none were found. */
  readonly play: PlayCase | undefined;
  readonly worlds: number;
  readonly story: string;
}

/** The worker answers. */
export type PlayReply = { readonly id: number } & (
  | { readonly what: 'played'; readonly played: PlayedCase }
  | { readonly what: 'found'; readonly found: FoundCase }
  | { readonly what: 'alive' }
  | { readonly what: 'progress'; readonly worlds: number; readonly of: number }
  | { readonly what: 'failed'; readonly why: string }
);
