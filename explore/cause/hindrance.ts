/** Says whether a fault can have kept a holder from ending its work before its lease. */
import type { PlannedFault } from '../faults/index.ts';
import type { WorldPlan } from '../plan.ts';

/** True when a fault struck the client or a server, or messages were late. A fault of another client only makes that one ask later. */
export function isHindered({ clients, faults, jitter }: WorldPlan, client: string | undefined): boolean {
  const isHindrance = ({ kind, on }: PlannedFault): boolean =>
    kind !== 'arrival' && (on === client || !clients.includes(on));
  return jitter > 0 || faults.some(isHindrance);
}
