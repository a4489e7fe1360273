/** A strategy: probabilistic concurrency testing (Burckhardt et al., 2010). */
import { Random } from '../../lab/time/random.ts';
import type { PlannedFault } from '../faults/index.ts';
import { drawFault, faultOf, formsOf, inOrder, planOf, type Strategy, shuffled } from './strategy.ts';

/**
 * Every client has a priority, and `depth` - 1 times the client that is ahead falls behind all others. A client falls behind by
 * having its messages delayed. One fault strikes besides, in two of three worlds.
 */
export const priorities: Strategy = {
  name: 'priorities',
  sentence:
    'probabilistic concurrency testing, with `depth`: the client that is ahead falls behind all others, and one fault strikes in two of three worlds',
  *plans(input) {
    const random = new Random(input.seed, 'priorities');
    const forms = formsOf(input);
    const { span, depth } = input;
    const { clients } = input.among;
    for (;;) {
      const order = shuffled([...clients], random);
      const step = 1 + random.between(0, 4) * 5;
      const late = (on: string, at: number, rank: number): PlannedFault =>
        faultOf('late', at, { on, by: rank * step });
      const faults = order.map((on, rank) => late(on, 0, rank)).filter(({ by }) => by > 0);
      for (let i = 1; i < depth; i++)
        faults.push(late(random.pick(clients), random.next() * span, clients.length + i));
      if (forms.length > 0 && random.next() < 0.67) faults.push(drawFault(input, forms, random));
      yield { ...planOf(input, inOrder(faults)), seed: random.word() };
    }
  },
};
