/** A strategy: one fault where the search by states has left one out. */
import { Random } from '../../lab/time/random.ts';
import { type Strategy, shuffled } from './strategy.ts';

export const sameStates: Strategy = {
  name: 'same states',
  sentence:
    'one fault at a moment that was left out, because its state looked like one that was struck before: later rounds, mostly',
  *plans(input, { left }) {
    yield* shuffled([...left], new Random(input.seed, 'same states'));
  },
};
