/** Records the events of a demo story, each in the lane of the node or client that it happens to, and the verdict. */

import type { StoryStep, Timeline } from '../../page/format.ts';
import type { ResourceSend } from '../timeline/resource-sends.ts';

/** How an event is shown: neutral, good, bad, or done by the test. */
export type Mood = 'plain' | 'good' | 'bad' | 'hand';

/** One event of a story. */
export interface StoryEvent {
  /** Milliseconds since the story began; undefined for a story in real time. */
  readonly at: number | undefined;
  readonly lane: string;
  readonly text: string;
  readonly mood: Mood;
}

/** How a story ended. */
export interface Verdict {
  /** The clients that believe that they hold the lock, at the worst moment. */
  readonly holders: readonly string[];
  /** True when the story ended without harm. */
  readonly safe: boolean;
  /** The reason, in one sentence. */
  readonly why: string;
  /** What happened, for people who see the page for the first time. Without it, the page makes one. */
  readonly sentence?: string;
}

/** A story that has been played. */
export interface Played {
  readonly title: string;
  readonly lanes: readonly string[];
  readonly events: readonly StoryEvent[];
  readonly verdict: Verdict;
  /** What was recorded, for the timeline page; undefined for a story in real time. */
  readonly timeline?: Timeline;
}

/** Collects a story's events. */
export class StoryRecorder {
  readonly events: StoryEvent[] = [];
  /** The writes that have reached resources, in milliseconds since the story began. */
  readonly sends: { client: string; resource: string; sent: number; arrived: number }[] = [];
  readonly lanes: readonly string[];
  /** Milliseconds since the story began; undefined in real time. */
  readonly now: () => number | undefined;

  /** @param now milliseconds since the story began */
  constructor(lanes: readonly string[], now: () => number | undefined) {
    this.lanes = lanes;
    this.now = now;
  }

  /** The events in the lanes of resources, which nothing else records, as sentences for a timeline. @param begun in microseconds */
  stepsOf(resources: readonly string[], begun: number): StoryStep[] {
    const own = this.events.filter(({ lane }) => resources.includes(lane));
    return own.map(({ at = 0, lane, text, mood }) => ({
      at: begun + at * 1000,
      lane,
      text: `${lane} ${text}.`,
      mood,
    }));
  }

  /** Those writes, for a timeline. @param begun in microseconds */
  sendsFrom(begun: number): ResourceSend[] {
    const moved = (ms: number): number => Math.round(begun + ms * 1000);
    return this.sends.map((send) => ({ ...send, sent: moved(send.sent), arrived: moved(send.arrived) }));
  }

  /** Records an event. Throws RangeError for a lane that does not exist. */
  note(lane: string, text: string, mood: Mood = 'plain'): void {
    if (!this.lanes.includes(lane)) throw new RangeError(`no lane is called '${lane}'`);
    this.events.push({ at: this.now(), lane, text, mood });
  }
}
