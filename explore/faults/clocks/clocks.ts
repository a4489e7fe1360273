/** What the faults of clocks have in common: how far a clock jumps, and how fast it runs. */
import type { Fault } from '../fault.ts';
import type { FaultVariant } from '../planned.ts';

/** How much a clock's rate may differ from 1: what locks usually allow for is 1 %. */
const DRIFT = 0.008;

/** Jumps of these clocks, forward and back, by more than a lease. */
export function jumpsOf(names: readonly string[], leaseMs: number): FaultVariant<never>[] {
  return names.flatMap((on) => [1.1, -1.1].map((leases) => ({ on, by: Math.round(leases * leaseMs) })));
}

/** Drifts of these clocks, both ways. */
export function driftsOf(names: readonly string[]): FaultVariant<never>[] {
  return names.flatMap((on) => [DRIFT, -DRIFT].map((by) => ({ on, by })));
}

type StrikesClock = Fault<never, 'clockOf'>['strike'];

/** Sets a clock. */
export const jump: StrikesClock = async ({ clockOf, tell }, { on, by }) => {
  clockOf(on).jump(by);
  tell(on, `its clock is set ${by > 0 ? 'forward' : 'back'} by ${Math.abs(by)} ms`);
};

/** Makes a clock run too fast or too slow, until the faults are over. */
export const drift: StrikesClock = async ({ clockOf, tell }, { on, by }) => {
  clockOf(on).drift(1 + by);
  tell(on, `its clock runs ${Math.abs(by) * 100} % too ${by > 0 ? 'fast' : 'slow'}`);
};
