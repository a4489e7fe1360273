/** A strategy: two faults at two moments. */
import { Random } from '../../lab/time/random.ts';
import { toMicros } from '../plan.ts';
import { inOrder, planOf, type Strategy } from './strategy.ts';

export const twoFaults: Strategy = {
  name: 'two faults',
  sentence: 'two faults of worlds that have one, drawn from all pairs',
  *plans(input, { singles }) {
    const random = new Random(input.seed, 'pairs');
    while (singles.length > 0) {
      const faults = [random.pick(singles), random.pick(singles)].flatMap((plan) => plan.faults);
      const later = faults.map((fault, i) =>
        i === 0 ? fault : { ...fault, at: toMicros(fault.at + random.next() * input.scales.reconnectMs) },
      );
      yield planOf(input, inOrder(later));
    }
  },
};
