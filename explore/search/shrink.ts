/** Makes a plan that breaks a promise as small as it can be while it still breaks that promise for the same reason. */
import { anchored, nearer } from '../anchors/choose.ts';
import { type Landmark, landmarksOf } from '../anchors/landmarks.ts';
import type { PlannedFault } from '../faults/index.ts';
import { toMicros, type WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { type Breach, PROBE } from '../visit.ts';

/** A played plan, and how it breaks the promise. */
export interface Failing {
  readonly plan: WorldPlan;
  readonly world: PlayedWorld;
  readonly breach: Breach;
}

/** A failing world that can be reduced. */
export interface Reducible extends Failing {
  /** The clients that the broken promise is about. None of them may go. */
  readonly actors: ReadonlySet<string>;
  /** The causal shape of the breach: worlds that break for the same reason have the same. */
  readonly shape: string;
}

/** How a reduction goes on. */
export interface Reduction {
  /** How many worlds it may cost. */
  readonly trials: number;
  /** Plans that are simpler, the boldest first. */
  readonly simpler: (failing: Reducible) => Iterable<WorldPlan>;
}

/** In virtual time: fewer faults, fewer clients, no jitter, shorter and rounder faults, each nearer to the event that it follows. */
const IN_VIRTUAL_TIME: Reduction = { trials: 60, simpler };

/** In real time, where each world takes a second: fewer faults and clients, and rounder faults. */
export const IN_REAL_TIME: Reduction = { trials: 8, simpler: withFewer };

/**
 * Makes a plan smaller, as long as it breaks the promise for the same reason.
 * @param attempt times the faults of a plan by their anchors, plays it, and returns it if it breaks the promise for the same reason
 */
export async function shrink(
  first: Reducible,
  attempt: (plan: WorldPlan) => Promise<Reducible | undefined>,
  reduction: Reduction = IN_VIRTUAL_TIME,
): Promise<Reducible> {
  let best = first;
  let trials = 0;
  for (let better: boolean = true; better; ) {
    better = false;
    for (const plan of reduction.simpler(best)) {
      if (++trials > reduction.trials) return best;
      const next = await attempt(plan);
      if (next === undefined) continue;
      best = next;
      better = true;
      break;
    }
  }
  return best;
}

/** The same failing world with an anchor for each of its faults. */
export function withAnchors<F extends Reducible>(failing: F): F {
  const { plan: before, world, actors } = failing;
  const plan = anchored(world, actors);
  const struck = world.struck.map((fault) => plan.faults[before.faults.indexOf(fault)] ?? fault);
  return { ...failing, plan, world: { ...world, plan, struck } };
}

/** Plans that are simpler, the boldest first. */
function* simpler(failing: Reducible): Iterable<WorldPlan> {
  yield* fewer(failing);
  const { plan, world, actors } = failing;
  let landmarks: Landmark[] | undefined;
  const known = (): Landmark[] => (landmarks ??= landmarksOf(world));
  for (const [i, fault] of plan.faults.entries()) {
    for (const plainer of [...shorter(fault), ...nearer(fault, world, known, actors)])
      yield { ...plan, faults: plan.faults.with(i, plainer) };
  }
}

/** Plans with fewer faults and clients, and with rounder faults. The world without any fault is known: it was played first. */
function* withFewer(failing: Reducible): Iterable<WorldPlan> {
  const { plan } = failing;
  for (const smaller of fewer(failing))
    if (smaller.faults.length > 0 || plan.faults.length === 0) yield smaller;
  for (const [i, fault] of plan.faults.entries())
    for (const plainer of shorter(fault)) yield { ...plan, faults: plan.faults.with(i, plainer) };
}

/** Plans with fewer faults and clients, and without jitter. */
function* fewer({ plan, world, actors }: Reducible): Iterable<WorldPlan> {
  const { faults, clients, jitter } = plan;
  const idle = faults.filter((fault) => !world.struck.includes(fault));
  if (idle.length > 0) yield { ...plan, faults: faults.filter((fault) => !idle.includes(fault)) };
  const lates = faults.filter(({ kind }) => kind === 'late');
  if (lates.length > 1) yield { ...plan, faults: faults.filter(({ kind }) => kind !== 'late') };
  for (let i = 0; i < faults.length; i++) yield { ...plan, faults: faults.toSpliced(i, 1) };
  const needed = new Set([...actors, ...faults.flatMap(({ on, after }) => [on, after?.client ?? on])]);
  const spare = clients.filter((name) => !needed.has(name) && name !== PROBE);
  if (spare.length > 1 && spare.length < clients.length)
    yield { ...plan, clients: clients.filter((name) => !spare.includes(name)) };
  if (clients.length > 1)
    for (const name of spare) yield { ...plan, clients: clients.filter((each) => each !== name) };
  if (jitter !== 0) yield { ...plan, jitter: 0 };
}

/** The same fault at a rounder time, if it has no anchor, and not longer than it needs to be. */
function* shorter(fault: PlannedFault): Iterable<PlannedFault> {
  const { at, ms, by, after } = fault;
  if (after === undefined && !Number.isInteger(at)) {
    yield { ...fault, at: Math.floor(at) };
    const tenths = toMicros(Math.floor(at * 10) / 10);
    if (tenths !== at) yield { ...fault, at: tenths };
  }
  if (ms > 2000) yield { ...fault, ms: round(ms / 2) };
  if (by > 2000) yield { ...fault, by: round(by / 2) };
  if (ms > 20 && round(ms) !== ms) yield { ...fault, ms: round(ms) };
  if (Math.abs(by) > 20 && round(by) !== by) yield { ...fault, by: round(by) };
}

/** The nearest number with two digits. */
function round(value: number): number {
  return Number(value.toPrecision(2));
}
