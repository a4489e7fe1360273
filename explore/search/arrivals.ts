/** A strategy: clients that start one after the other. */
import { Random } from '../../lab/time/random.ts';
import type { PlannedFault } from '../faults/index.ts';
import { toMicros } from '../plan.ts';
import {
  drawFault,
  faultOf,
  formsOf,
  inOrder,
  planOf,
  type SearchInput,
  type Strategy,
  shuffled,
} from './strategy.ts';

export const arrivals: Strategy = {
  name: 'arrivals',
  sentence:
    'clients that start at different times, mostly as something happens in the run without faults; one fault strikes in half of the worlds',
  *plans(input) {
    const random = new Random(input.seed, 'arrivals');
    const forms = formsOf(input);
    if (input.among.clients.length < 2) return;
    for (;;) {
      const faults = arrivalsOf(input, random);
      if (forms.length > 0 && random.next() < 0.5) faults.push(drawFault(input, forms, random));
      yield { ...planOf(input, inOrder(faults)), seed: random.word() };
    }
  },
};

/** How long before an event a client starts that is to meet it: its first messages are under way then. In milliseconds. */
const BEFORE = 5;

/**
 * Later arrivals: one client starts at once, and the others within a few messages of it, or shortly before something happens in the run
 * without faults.
 */
function arrivalsOf({ among, moments, span }: SearchInput, random: Random): PlannedFault[] {
  const isClose = random.next() < 0.4;
  const [, ...others] = shuffled([...among.clients], random);
  return others.flatMap((on, i) => {
    if (i > 0 && random.next() < 0.3) return [];
    const event = moments.length === 0 ? random.next() * span : random.pick(moments).at;
    const ms = isClose ? random.next() * 20 : Math.max(0, event - random.next() * BEFORE);
    return [faultOf('arrival', 0, { on, ms: toMicros(ms) })];
  });
}
