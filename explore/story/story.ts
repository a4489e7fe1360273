/** Tells the story of a broken promise from its cause. */
import { causeOf } from '../cause/cause.ts';
import type { Cause } from '../cause/reason.ts';
import { accountOfWorld } from '../cause/recorded.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Breach, FindingEvent } from '../visit.ts';
import { faultOf, preventionOf } from './blame.ts';
import { eventsOf } from './events.ts';
import { scriptsText } from './scripts.ts';
import { sentenceOf } from './sentence.ts';
import { storyText } from './text.ts';

/** The story of a breach. */
export interface BreachStory {
  readonly cause: Cause;
  /** What happened, in one sentence. */
  readonly sentence: string;
  readonly events: readonly FindingEvent[];
  /** All of it as text. */
  readonly text: string;
}

/** The story of a broken promise. @param title what was played, and what is broken */
export function storyOf(world: PlayedWorld, breach: Breach, title: string): BreachStory {
  const cause = causeOf(world, breach);
  const events = eventsOf(world, breach, cause);
  const sentence = sentenceOf(cause, breach);
  const [fault, prevention] = [faultOf(cause), preventionOf(cause, breach)];
  const told = [sentence, fault, ...events.map(({ text }) => text)].join('\n');
  const scripts = scriptsText(told, accountOfWorld(world).account.calls.scripts);
  return {
    ...{ cause, sentence, events },
    text: storyText({ title, sentence, scripts, fault, prevention }, events),
  };
}
