/** Every pair of faults: after a first fault, a second one of every form at every moment whose state was not struck before. */
import { faults } from '../faults/index.ts';
import type { WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { momentsOf, stateText } from './states.ts';
import { type FaultForm, faultOf, formsOf, type SearchInput } from './strategy.ts';

/** Collects the worlds with two faults from the played worlds with one. */
export class Pairs {
  /** The worlds to play, in the order in which they were found. */
  readonly plans: WorldPlan[] = [];
  /** How many were cut off, because their states were struck before in the same way. */
  cut = 0;
  readonly #input: SearchInput;
  readonly #forms: readonly FaultForm[];
  readonly #seen = new Set<string>();

  constructor(input: SearchInput) {
    this.#input = input;
    this.#forms = formsOf(input).filter(({ kind }) => faults[kind].anytime !== true);
  }

  /** Adds what can strike second in a world that was played with one fault. */
  add(world: PlayedWorld): void {
    const [first] = world.plan.faults;
    if (first === undefined || world.struck.length === 0) return;
    const { clients } = this.#input.among;
    const { at: _, on, ...rest } = first;
    const before = `${JSON.stringify(rest)} ${clients.includes(on) ? '' : on}`;
    for (const moment of momentsOf(world, this.#input.scales.leaseMs)) {
      if (moment.at < first.at) continue;
      const isNew = new Map<string, boolean>();
      for (const { kind, variant } of this.#forms) {
        const struck = clients.includes(variant.on ?? '') ? (variant.on as string) : '';
        let fresh = isNew.get(struck);
        if (fresh === undefined) {
          const key = `${before} ${stateText(moment, struck, on)}`;
          fresh = !this.#seen.has(key);
          this.#seen.add(key);
          isNew.set(struck, fresh);
        }
        if (!fresh) this.cut++;
        else this.plans.push({ ...world.plan, faults: [first, faultOf(kind, moment.at, variant)] });
      }
    }
  }
}
