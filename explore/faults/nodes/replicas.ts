/** What the faults of one replica have in common. */

import type { StageNode } from '../../stage/controls.ts';
import { type FaultContext, type Participants, setOf } from '../fault.ts';

/**
 * The replicas, where the code asks them something: by WAIT, or by reading from them. Otherwise it makes no difference what a
 * replica alone suffers.
 */
export function replicasAsked({ asksReplicas, sets }: Participants): string[] {
  return asksReplicas === true ? sets.flatMap(([, ...replicas]) => replicas) : [];
}

/** The node of this name, as long as it is a replica. */
export function replicaOf(context: FaultContext, name: string): StageNode | undefined {
  return setOf(context, name).replicas.find((node) => node.name === name);
}
