/** The keys and the subscriptions of a slot that this node no longer serves. */
import { slotOf } from '../protocol/slot.ts';
import type { Cluster } from './cluster.ts';

/** Removes the keys of a slot, which another node serves now, in all databases. */
export function removeKeysOf({ server }: Cluster, slot: number): void {
  for (const db of server.databases) {
    for (const key of db.entries.keysOfSlot(slot)) {
      if (!db.remove(key)) continue;
      db.changed(key, 'del');
      server.effects.propagateOwn(db, ['DEL', key]);
    }
  }
}

/** Ends the subscriptions to the shard channels of a slot, and says so to the subscribers. */
export function endSubscriptions({ server }: Cluster, slot: number): void {
  const { shardChannels } = server.pubsub;
  // A node may lose all its slots at once, mostly without a subscriber.
  if (shardChannels.size === 0) return;
  for (const [channel, clients] of [...shardChannels]) {
    if (slotOf(channel) !== slot) continue;
    for (const client of [...clients]) server.pubsub.unsubscribe(client, 'shardChannels', [channel]);
  }
}
