/** Who serves which slot, when a message says that it has changed; and a change of this node's primary. */

import type { Bytes } from '../protocol/bytes.ts';
import { SLOT_COUNT } from '../protocol/slot.ts';
import { replicateFrom } from '../server/replication/role.ts';
import type { Cluster } from './cluster.ts';
import { type Member, MIGRATE_TO, PRIMARY, REPLICA } from './member.ts';
import { replicationPort } from './ports.ts';
import { removeKeysOf } from './slot-keys.ts';

/** Returns whether bits of a message have the slot. */
export function hasSlot(bits: Bytes, slot: number): boolean {
  return ((bits.charCodeAt(slot >> 3) || 0) & (1 << (slot & 7))) !== 0;
}

/** This node follows that primary from now on. */
export function followPrimary(cluster: Cluster, primary: Member): void {
  const { myself, server } = cluster;
  if (myself.isPrimary) {
    myself.mark(REPLICA, PRIMARY | MIGRATE_TO);
    cluster.migrating.clear();
    cluster.importing.clear();
  }
  myself.follow(primary);
  replicateFrom(server, primary.ip, replicationPort(cluster.server, primary));
  cluster.endHandover();
}

/**
 * Believes the slots that a message claims for a member, where they are newer than what is known.
 * @param epoch the configuration epoch of the claim
 */
export function believeSlots(cluster: Cluster, claimant: Member, epoch: number, bits: Bytes): void {
  const { myself, owners, server } = cluster;
  const { forgetsMoveOfLostSlot } = server.dialect.cluster;
  if (claimant === myself) return;
  const head = myself.head;
  let replacement: Member | undefined;
  let claimed = 0;
  let lost = 0;
  const dirty: number[] = [];
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    if (!hasSlot(bits, slot)) continue;
    claimed++;
    const owner = owners[slot];
    if (owner === claimant || cluster.importing.has(slot)) continue;
    if (owner !== undefined && owner.configEpoch >= epoch) continue;
    if (owner === myself && cluster.hasKeys(slot)) dirty.push(slot);
    if (owner !== undefined && owner === head) {
      replacement = claimant;
      lost++;
    }
    if (owner === myself && forgetsMoveOfLostSlot) cluster.migrating.delete(slot);
    cluster.release(slot);
    cluster.assign(slot, claimant);
    cluster.due.state = true;
    cluster.due.store = true;
  }
  const moves = cluster.server.settings['cluster-allow-replica-migration'] || claimed === lost;
  const upstream = myself.primary?.primary;
  if (replacement !== undefined && head?.slots.size === 0 && moves) {
    cluster.note('slots', `This node follows ${claimant.id}, which has taken all slots of its shard`);
    followPrimary(cluster, claimant);
    cluster.due.state = true;
    cluster.due.store = true;
  } else if (upstream !== undefined && upstream !== myself) followPrimary(cluster, upstream);
  else for (const slot of dirty) removeKeysOf(cluster, slot);
}
