/** Independent primaries in real time, each with its replicas if any: our servers over TCP, or real ones. */

import type { Redis, RedisOptions } from '../ioredis-types.ts';
import { type NodesInRoles, primariesFirst } from '../replica-group/layout.ts';
import { allUp } from './wait.ts';

/** A primary with its replicas, as `startPair` returns it on the real clock. */
interface RealClockSet<N> extends NodesInRoles<N> {
  /** An ioredis client that follows the primary. */
  client(name: string, options?: RedisOptions): Redis;
  /** Stops the nodes. */
  close(): Promise<void>;
}

/** Starts all sets. Rejects with the first failure, after closing what has started. */
export async function startSets<N, S extends RealClockSet<N> & { start(): Promise<void> }>(
  sets: readonly S[],
): Promise<IndependentSets<N, S>> {
  const servers = new IndependentSets<N, S>(sets);
  try {
    await allUp(sets.map((set) => set.start()));
  } catch (error) {
    await servers.close();
    throw error;
  }
  return servers;
}

/** What `startServers` returns on the real clock. */
export class IndependentSets<N, S extends RealClockSet<N>> implements AsyncDisposable {
  /** Each primary with its replicas. */
  readonly sets: readonly S[];

  /** @internal */
  constructor(sets: readonly S[]) {
    this.sets = sets;
  }

  /** All nodes, the primaries first. */
  get nodes(): readonly N[] {
    return primariesFirst(this.sets);
  }

  /** One ioredis client per primary, as Redlock needs them. */
  clients(name: string, options?: RedisOptions): Redis[] {
    return this.sets.map((set) => set.client(name, options));
  }

  /** Closes every set. Resolves when no handle is left. */
  async close(): Promise<void> {
    await Promise.all(this.sets.map((set) => set.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
