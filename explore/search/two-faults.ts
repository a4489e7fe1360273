/** A strategy: two faults at two moments. */
import { Random } from '../../lab/time/random.ts';
import { faults as kinds } from '../faults/index.ts';
import { toMicros, type WorldPlan } from '../plan.ts';
import {
  type FaultForm,
  faultOf,
  formsOf,
  inOrder,
  planOf,
  type SecondChance,
  type Strategy,
} from './strategy.ts';

export const twoFaults: Strategy = {
  name: 'two faults',
  sentence:
    'a second fault at a moment of a world with one, as that fault has changed it, mostly of another kind; or two faults of worlds that have one',
  *plans(input, { singles, seconds }) {
    const random = new Random(input.seed, 'pairs');
    const forms = formsOf(input).filter(({ kind }) => kinds[kind].anytime !== true);
    const byKind = [...new Set(forms.map(({ kind }) => kind))].map((kind) =>
      forms.filter((form) => form.kind === kind),
    );
    while (singles.length > 0) {
      yield seconds.length > 0 && byKind.length > 0 && random.next() < 0.75
        ? followed(random, seconds, byKind)
        : drawn(random, singles);
    }

    function drawn(from: Random, all: readonly WorldPlan[]): WorldPlan {
      const faults = [from.pick(all), from.pick(all)].flatMap((plan) => plan.faults);
      const later = faults.map((fault, i) =>
        i === 0 ? fault : { ...fault, at: toMicros(fault.at + from.next() * input.scales.reconnectMs) },
      );
      return planOf(input, inOrder(later));
    }
  },
};

function followed(
  random: Random,
  seconds: readonly SecondChance[],
  byKind: readonly (readonly FaultForm[])[],
): WorldPlan {
  const { plan, moments } = random.pick(seconds);
  // Each kind is as likely as any other, however many forms it has.
  const { kind, variant } = random.pick(random.pick(byKind));
  const second = faultOf(kind, random.pick(moments), variant);
  return { ...plan, faults: inOrder([...plan.faults, second]) };
}
