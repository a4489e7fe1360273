/** A strategy: changes to the plans that reached new states. */
import { Random } from '../../lab/time/random.ts';
import type { PlannedFault } from '../faults/index.ts';
import { toMicros } from '../plan.ts';
import { drawFault, type FaultForm, formsOf, inOrder, type SearchInput, type Strategy } from './strategy.ts';

/** Its name in reports. */
export const GUIDED = 'guided';

export const guided: Strategy = {
  name: GUIDED,
  sentence: 'changes to worlds that reached new states',
  *plans(input, { corpus }) {
    const random = new Random(input.seed, 'guided');
    const forms = formsOf(input);
    while (forms.length > 0) {
      if (corpus.length === 0) {
        yield undefined;
        continue;
      }
      const parent = random.pick(corpus);
      yield {
        ...parent,
        faults: mutated(input, forms, parent.faults, random),
        seed: random.next() < 0.3 ? random.word() : parent.seed,
      };
    }
  },
};

/** The faults with one change: another one, one less, or one at another time. */
export function mutated(
  input: SearchInput,
  forms: readonly FaultForm[],
  faults: readonly PlannedFault[],
  random: Random,
): PlannedFault[] {
  const changed = [...faults];
  const at = random.between(0, changed.length + 1);
  const fault = changed[at];
  if (fault === undefined || (changed.length < 4 && random.next() < 0.3))
    changed.push(drawFault(input, forms, random));
  else if (random.next() < 0.3 && changed.length > 1) changed.splice(at, 1);
  else
    changed[at] = {
      ...fault,
      at: toMicros(Math.max(0, fault.at + (random.next() - 0.5) * 0.3 * input.span)),
    };
  return inOrder(changed);
}
