/** The first strategy: one fault of every form at every moment. */
import { Random } from '../../lab/time/random.ts';
import type { FaultName } from '../faults/index.ts';
import { faults } from '../faults/index.ts';
import type { WorldPlan } from '../plan.ts';
import { stateText } from './states.ts';
import { faultOf, formsOf, planOf, type SearchInput, shuffled } from './strategy.ts';

/** How many of the plans that are left out are kept. */
const MOST_LEFT = 20_000;

/** Its name in reports. */
export const ONE_FAULT = 'one fault';

/**
 * One fault of every form at every moment; states that were struck before in the same way are left out. The kinds take
 * turns, in a random order of their own each, so that each cause is found early. `cut` counts what was left out, and `left`
 * has a sample of it.
 */
export function singles(input: SearchInput): {
  readonly plans: WorldPlan[];
  readonly cut: number;
  readonly left: readonly WorldPlan[];
} {
  const seen = new Set<string>();
  const left: WorldPlan[] = [];
  let cut = 0;
  const random = new Random(input.seed, 'singles');
  const found = new Map<FaultName, WorldPlan[]>(input.faults.map((kind) => [kind, []]));
  const forms = formsOf(input);
  for (const [i, moment] of input.moments.entries()) {
    for (const { kind, variant } of forms) {
      if (faults[kind].anytime === true && i > 0) continue;
      const { on = '', ...rest } = variant;
      const isClient = input.among.clients.includes(on);
      const key = `${kind} ${isClient ? '' : on} ${JSON.stringify(rest)} ${stateText(moment, on)}`;
      if (seen.has(key)) {
        cut++;
        if (left.length < MOST_LEFT) left.push(planOf(input, [faultOf(kind, moment.at, variant)]));
        continue;
      }
      seen.add(key);
      found.get(kind)?.push(planOf(input, [faultOf(kind, moment.at, variant)]));
    }
  }
  return { plans: interleaved([...found.values()].map((plans) => shuffled(plans, random))), cut, left };
}

/** One of each list in turn. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
