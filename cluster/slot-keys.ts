/** The keys and the subscriptions of a slot that this node no longer serves. */
import { slotOf } from '../protocol/slot.ts';
import type { Cluster } from './cluster.ts';

/** Removes the keys of a slot, which another node serves now. Returns how many there were. */
export function removeKeysOf(cluster: Cluster, slot: number): number {
  const { server } = cluster;
  const db = server.db(0);
  const keys = cluster.keysOf(slot);
  for (const key of keys) {
    if (!db.remove(key)) continue;
    db.changed(key, 'del');
    server.effects.propagateOwn(db, ['DEL', key]);
  }
  return keys.length;
}

/** Ends the subscriptions to the shard channels of a slot, and says so to the subscribers. */
export function endSubscriptions({ server }: Cluster, slot: number): void {
  for (const [channel, clients] of [...server.pubsub.shardChannels]) {
    if (slotOf(channel) !== slot) continue;
    for (const client of [...clients]) server.pubsub.unsubscribe(client, 'shardChannels', [channel]);
  }
}
