/** Shortens a long story: what is nearest to a broken lock stays, and what goes is counted. */
import type { StoryStep } from '../../page/format.ts';
import type { LockAccount } from '../account/account.ts';

/** A sentence, with the lock that it is about. */
export interface ToldStep extends StoryStep {
  readonly lock?: string;
}

/** The longest story, without the sentence that says how many others are left out. */
const MOST = 200;

/** Sentences about faults that change what nodes know. */
const GRAVE = /crashes|starts again|is killed|is promoted|becomes a replica|is cut off|can again reach|break/;

/**
 * A long story without its least important sentences; where the first of them was, it says how many there are. Of
 * sentences that are as important, those nearest to the first double hold stay, or else the last ones.
 */
export function cutStory(steps: readonly ToldStep[], { overlaps }: LockAccount): readonly StoryStep[] {
  const plain = steps.map(({ lock: _, ...step }): StoryStep => step);
  if (steps.length <= MOST) return plain;
  const broken = new Set(overlaps.map(({ key }) => key));
  const breach = overlaps[0]?.from ?? Infinity;
  const order = [...steps.entries()];
  const distance = ({ at }: ToldStep): number => (breach === Infinity ? -at : Math.abs(at - breach));
  order.sort(([i, a], [k, b]) => rankOf(a, broken) - rankOf(b, broken) || distance(a) - distance(b) || k - i);
  const out = new Set(order.slice(MOST).map(([i]) => i));
  const first = Math.min(...out);
  const text = `From here on, ${out.size} sentences of minor events are left out.`;
  const note: StoryStep = { at: steps[first]?.at ?? 0, lane: '', text, mood: 'plain' };
  return plain.flatMap((step, i) => (i === first ? [note] : out.has(i) ? [] : [step]));
}

/** What is left out of a long story last has the lowest rank. */
function rankOf({ lane, about, lock, mood, text }: ToldStep, broken: ReadonlySet<string>): number {
  if (lane === '*' || 'overlap' in (about ?? {})) return 0;
  if (lock !== undefined && broken.has(lock)) return 1;
  if (mood === 'bad') return 2;
  if (mood === 'hand' && GRAVE.test(text)) return 3;
  return { good: 4, hand: 5, plain: 6 }[mood];
}
