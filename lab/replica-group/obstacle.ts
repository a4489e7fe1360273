/** What keeps a replica from catching up with its primary until a test undoes it: a held or cut lane, a paused node. */
import type { Server } from '../../server/server.ts';
import type { LaneControls } from '../links/gate.ts';

/** A node that may be in the way. */
interface SyncNode {
  readonly name: string;
  readonly up: boolean;
  readonly paused: boolean;
  readonly server: Server;
}

/** What is in the way of the first replica that cannot catch up; undefined when nothing is. */
export function obstacle(
  primary: SyncNode,
  replicas: readonly SyncNode[],
  lane: (from: string, to: string) => Pick<LaneControls, 'held' | 'partitioned'>,
): string | undefined {
  for (const replica of replicas) {
    if (!replica.up) continue;
    const { replication, primary: upstream } = replica.server;
    const follows = upstream?.linkUp === true && replication.id === primary.server.replication.id;
    if (follows && replication.offset === primary.server.replication.offset) continue;
    const stopped = [primary, replica].find(({ up, paused }) => !up || paused);
    if (stopped !== undefined) return `${stopped.name} is ${stopped.up ? 'paused' : 'down'}`;
    // A replica that follows needs the stream alone; one that does not has to ask for it first.
    const ways = [[primary.name, replica.name] as const, [replica.name, primary.name] as const];
    for (const [from, to] of follows ? ways.slice(0, 1) : ways) {
      const { held, partitioned } = lane(from, to);
      if (held || partitioned)
        return `what ${from} sends to ${to} is ${held ? 'held' : 'cut off by a partition'}`;
    }
  }
  return undefined;
}
