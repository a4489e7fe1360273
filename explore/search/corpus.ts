/** Plans that an earlier run has kept: which of them fit an exploration, and in what order they are played. */
import { createHash } from 'node:crypto';
import type { Participants } from '../faults/fault.ts';
import type { FaultKind, PlannedFault } from '../faults/index.ts';
import { encodePlan, NO_HASH, type WorldPlan } from '../plan.ts';
import { type FaultBound, isWithin } from './bounds.ts';

/** Its name in reports. */
export const CORPUS = 'corpus';

/** Where plans are kept between runs. */
export interface PlanStore {
  /** What stands for it in reports, such as the path of a folder. */
  readonly name: string;
  /** The plans that are there, those that broke a promise first. */
  read(): readonly WorldPlan[];
  /** Keeps a plan. Returns false when it is there already. Throws when it cannot be written. */
  keep(plan: WorldPlan, why: KeptFor): boolean;
}

/** Why a plan is kept: it broke a promise, or it reached a state that no plan before it had reached. */
export type KeptFor = 'finding' | 'state';

/** What one exploration allows its plans. */
export interface PlanLimits {
  readonly among: Participants;
  readonly faults: readonly FaultKind[];
  readonly bounds: readonly FaultBound[];
  /** In milliseconds. */
  readonly leaseMs: number;
}

/** The kinds that strategies add by themselves: orders of messages, and when clients start. */
const ADDED: readonly FaultKind[] = ['late', 'late-message', 'arrival', 'again'];

/** The name of a plan: the same for the same plan. */
export function planId(plan: WorldPlan): string {
  return createHash('sha256').update(encodePlan(plan, NO_HASH)).digest('hex').slice(0, 16);
}

/** True when all clients of the plan take part, and its faults are among those that may strike. */
export function fits({ clients, faults }: WorldPlan, limits: PlanLimits): boolean {
  const { among } = limits;
  return (
    clients.every((name) => among.clients.includes(name)) && faults.every((fault) => allows(limits, fault))
  );
}

function allows({ among, faults, bounds, leaseMs }: PlanLimits, fault: PlannedFault): boolean {
  const { kind, on } = fault;
  if (!faults.includes(kind) && !ADDED.includes(kind)) return false;
  const nodes = among.sets.flat();
  const isThere = on === '' || among.clients.includes(on) || nodes.includes(on) || !/^[\w-]+$/.test(on);
  return isThere && isWithin(fault, bounds, leaseMs);
}

/** True for the plans that this shard plays. The plans may be read at different times: each is the same shard's always. */
export function isOfShard(
  plan: WorldPlan,
  { index, of }: { readonly index: number; readonly of: number },
): boolean {
  return Number.parseInt(planId(plan).slice(0, 8), 16) % of === index - 1;
}
