/** What every search strategy declares, and what strategies share: the forms of faults, and drawing one of them. */
import type { Random } from '../../lab/time/random.ts';
import type { Participants, Scales } from '../faults/fault.ts';
import type { FaultName } from '../faults/index.ts';
import { faults, type PlannedFault } from '../faults/index.ts';
import type { FaultVariant } from '../faults/planned.ts';
import { toMicros, type WorldPlan } from '../plan.ts';
import type { FaultBound } from './bounds.ts';
import { bounded, shortened } from './bounds.ts';
import type { LeaseScale } from './leases.ts';
import type { Moment } from './states.ts';

/** What a search knows after the run without faults. */
export interface SearchInput {
  readonly seed: number;
  readonly among: Participants;
  readonly scales: SearchScales;
  readonly faults: readonly FaultName[];
  /** What bounds some of them; by default nothing does. */
  readonly bounds?: readonly FaultBound[];
  readonly moments: readonly Moment[];
  /** How long the run without faults took, in milliseconds. */
  readonly span: number;
  /** The clients that returned without entering in the run without faults, while others entered; by default none. */
  readonly refused?: readonly string[];
  /** How many priorities change in each world of the search by priorities, plus one. */
  readonly depth: number;
}

/** How long things take, and the leases that faults follow. */
export interface SearchScales extends Scales {
  /** The leases, that of the lock whose holder is inside first. */
  readonly leases: readonly LeaseScale[];
}

/** A world with one fault that was played, and when something happened in it after the fault. */
export interface SecondChance {
  readonly plan: WorldPlan;
  /** In milliseconds since the clients started. */
  readonly moments: readonly number[];
}

/** What was played before a strategy draws. */
export interface PlayedSoFar {
  /** Every plan with one fault. */
  readonly singles: readonly WorldPlan[];
  /** Plans with one fault that were left out, because their states looked like others. */
  readonly left: readonly WorldPlan[];
  /** Worlds with one fault that were played, with the moments after it. */
  readonly seconds: readonly SecondChance[];
  /** The plans that reached new states. It grows while the search runs. */
  readonly corpus: readonly WorldPlan[];
}

/** A strategy. */
export interface Strategy {
  /** Its name in reports. */
  readonly name: string;
  /** What it plays, for docs/explore.md. */
  readonly sentence: string;
  /** Draws plans; undefined when it has none yet. It ends when there can be no more. */
  plans(input: SearchInput, before: PlayedSoFar): Generator<WorldPlan | undefined, void>;
}

/** A form of a fault: what it strikes, for how long, and how hard. */
export interface FaultForm {
  readonly kind: FaultName;
  readonly variant: FaultVariant;
  /** The most that its length may be, in milliseconds, when it is drawn with another one. */
  readonly longest?: number;
}

/** Every form of every fault that the input allows, with the lengths that follow each lease. */
export function formsOf({ faults: kinds, bounds = [], among, scales }: SearchInput): FaultForm[] {
  const leases = scales.leases.filter(({ used }) => used).map(({ ms }) => ms);
  return kinds.flatMap((kind) => {
    const found = new Map<string, FaultForm>();
    for (const leaseMs of leases.length === 0 ? [scales.leaseMs] : leases) {
      const variants = faults[kind].variants(among, { ...scales, leaseMs });
      for (const form of bounded(kind, variants, bounds, scales.leaseMs)) {
        const key = JSON.stringify(form);
        if (!found.has(key)) found.set(key, form);
      }
    }
    return [...found.values()];
  });
}

/** A fault of this form at this time. */
export function faultOf(kind: PlannedFault['kind'], at: number, variant: FaultVariant): PlannedFault {
  return { kind, at: toMicros(at), on: '', ms: 0, by: 0, how: '', ...variant } as PlannedFault;
}

/** A plan with these faults, without jitter. */
export function planOf({ seed, among }: SearchInput, faults: readonly PlannedFault[]): WorldPlan {
  return { seed, clients: among.clients, jitter: 0, faults };
}

/** The faults in the order in which they strike. */
export function inOrder(faults: readonly PlannedFault[]): PlannedFault[] {
  return [...faults].sort((a, b) => a.at - b.at);
}

/** A fault of any form at any time, of a length from a tenth of the usual to three times as much. */
export function drawFault({ span }: SearchInput, forms: readonly FaultForm[], random: Random): PlannedFault {
  const { kind, variant, longest } = random.pick(forms);
  const fault = faultOf(kind, random.next() * 1.3 * span, variant);
  const scale = (): number => 10 ** (random.next() * 1.5 - 1);
  const ms = fault.ms === 0 ? 0 : Math.max(1, Math.round(fault.ms * scale()));
  const by = Math.abs(fault.by) < 1 ? fault.by : Math.round(fault.by * scale());
  return longest === undefined ? { ...fault, ms, by } : { ...fault, ...shortened(kind, { ms, by }, longest) };
}

/** Shuffles in place. */
export function shuffled<T>(all: T[], random: Random): T[] {
  for (let i = all.length - 1; i > 0; i--) {
    const k = random.between(0, i + 1);
    [all[i], all[k]] = [all[k] as T, all[i] as T];
  }
  return all;
}
