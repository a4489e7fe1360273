/** What all sets of all stages have in common: their nodes and roles, as the lab knows them. */

import type { Redis, RedisOptions } from '../../lab/ioredis-types.ts';
import type { Write } from '../../lab/replica-group/write-log.ts';
import { needsReadyCheck } from '../../lab/virtual/client.ts';
import type { CrashKeeps, StageNode, StageSet, Wait } from './controls.ts';

/** Nodes with roles, as the lab knows them. */
export interface NodesInSet<N extends StageNode> {
  readonly nodes: readonly N[];
  readonly primary: N;
  readonly replicas: readonly N[];
  readonly failovers: readonly unknown[];
  readonly lost: readonly Write[];
}

/** A set. */
export abstract class RoleSet<N extends StageNode, S extends NodesInSet<N>> implements StageSet {
  /** The lab's own set. */
  readonly inner: S;

  constructor(inner: S) {
    this.inner = inner;
  }

  get nodes(): readonly N[] {
    return this.inner.nodes;
  }

  get primary(): N {
    return this.inner.primary;
  }

  get replicas(): readonly N[] {
    return this.inner.replicas;
  }

  get failovers(): readonly unknown[] {
    return this.inner.failovers;
  }

  get lost(): readonly Write[] {
    return this.inner.lost;
  }

  get decides(): StageSet['decides'] {
    return this.sentinels.length > 0 ? 'Sentinels' : 'the run';
  }

  get sentinels(): readonly { readonly name: string }[] {
    return [];
  }

  abstract crash(name: string, keep: CrashKeeps): Promise<void>;
  abstract restart(name: string): Promise<void>;
  abstract failover(to?: string): Promise<unknown>;
  abstract decision(before: number, wait: Wait, promoted: () => void): Promise<void>;
  abstract swap(): Promise<N | undefined>;
  abstract spareSteps(): () => void;

  /** A client of the primary alone. */
  protected abstract client(name: string, options: RedisOptions): Redis;

  /**
   * It sends no INFO when it connects: a node that runs a long script refuses INFO, so that ioredis would connect again and
   * again, and never send SCRIPT KILL. Without INFO, ioredis 5 must not introduce itself either: a connection that breaks
   * meanwhile would count as ready.
   */
  operator(): Redis {
    const silent = needsReadyCheck() ? { disableClientInfo: true } : {};
    return this.client('operator', { maxRetriesPerRequest: 0, enableReadyCheck: false, ...silent });
  }
}
