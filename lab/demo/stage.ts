/** What the demo's stories write on: one line per event, in the lane of whoever it happens to, and a verdict each. */

/** How an event reads: neutral, good, bad, or the test's own hand. */
export type Mood = 'plain' | 'good' | 'bad' | 'hand';

/** One event of a story. */
export interface StoryEvent {
  /** Milliseconds since the story began; undefined in real time. */
  readonly at: number | undefined;
  readonly lane: string;
  readonly text: string;
  readonly mood: Mood;
}

/** How a story ended. */
export interface Verdict {
  /** Who believes that the lock is theirs, at the worst moment. */
  readonly holders: readonly string[];
  /** True when no harm came of it. */
  readonly safe: boolean;
  /** One sentence: the reason. */
  readonly why: string;
}

/** A story as it was played. */
export interface Played {
  readonly title: string;
  readonly lanes: readonly string[];
  readonly events: readonly StoryEvent[];
  readonly verdict: Verdict;
}

/** Collects a story's events. */
export class Stage {
  readonly events: StoryEvent[] = [];
  readonly lanes: readonly string[];
  readonly #now: () => number | undefined;

  /** @param now milliseconds since the story began */
  constructor(lanes: readonly string[], now: () => number | undefined) {
    this.lanes = lanes;
    this.#now = now;
  }

  /** Notes an event in a lane. Throws RangeError for a lane that the story has not. */
  note(lane: string, text: string, mood: Mood = 'plain'): void {
    if (!this.lanes.includes(lane)) throw new RangeError(`no lane is called '${lane}'`);
    this.events.push({ at: this.#now(), lane, text, mood });
  }
}
