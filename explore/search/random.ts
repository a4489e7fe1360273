/** A strategy: random faults at random times. */
import { Random } from '../../lab/time/random.ts';
import { drawFault, formsOf, inOrder, planOf, type Strategy } from './strategy.ts';

export const randomFaults: Strategy = {
  name: 'random',
  sentence: 'one to four random faults of random lengths, with messages that jitter',
  *plans(input) {
    const random = new Random(input.seed, 'random');
    const forms = formsOf(input);
    while (forms.length > 0) {
      const faults = Array.from({ length: random.between(1, 5) }, () => drawFault(input, forms, random));
      yield { ...planOf(input, inOrder(faults)), seed: random.word(), jitter: 1 };
    }
  },
};
