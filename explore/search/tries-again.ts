/** A strategy: clients that were refused and returned run their code again. */
import { Random } from '../../lab/time/random.ts';
import { faultOf, planOf, type Strategy, shuffled } from './strategy.ts';

/** How long such a client waits between two attempts, in milliseconds. */
const BETWEEN = 50;

export const triesAgain: Strategy = {
  name: 'tries again',
  sentence:
    'worlds with one fault, in which clients that returned without entering run their code again until they enter; only where the world without faults has such clients',
  *plans(input, { singles }) {
    const { refused = [] } = input;
    if (refused.length === 0) return;
    const again = refused.map((on) => faultOf('again', 0, { on, ms: BETWEEN }));
    yield planOf(input, again);
    const order = shuffled([...singles], new Random(input.seed, 'tries again'));
    for (const { faults } of order) yield planOf(input, [...again, ...faults]);
  },
};
