/** What a fault can reach in a world, and what every kind of fault declares. */
import type { Redis } from '../../lab/ioredis-types.ts';
import { needsReadyCheck } from '../../lab/virtual/client.ts';
import type { LabNode } from '../../lab/virtual/node.ts';
import type { World } from '../../lab/virtual/world.ts';
import type { NodeSet } from '../node-set.ts';
import type { PlannedFault } from '../plan.ts';
import type { Player } from '../player.ts';

/** A world as faults see it. */
export interface Scene {
  readonly world: World;
  readonly sets: readonly NodeSet[];
  readonly players: readonly Player[];
  /** The sets whose roles are being changed: a second fault of that kind does not strike meanwhile. */
  readonly changing: Set<NodeSet>;
  /** Waits for so many milliseconds, whichever process is paused meanwhile. */
  wait(ms: number): Promise<void>;
  /** Runs the user's code in a client's new process. */
  restartClient(player: Player): void;
  /** Notes what a fault did, for the story. */
  tell(who: string, what: string): void;
}

/** How long things take in the code that is explored: learnt from a run without faults. Times in milliseconds. */
export interface Scales {
  /** The lease that keys are given; the shortest when there are several. */
  readonly leaseMs: number;
  /** How long clients need to be connected again after a failover. */
  readonly reconnectMs: number;
}

/** A fault without its time. */
export type FaultVariant = Partial<Omit<PlannedFault, 'kind' | 'at'>>;

/** The clients and nodes of a world. */
export interface Cast {
  readonly clients: readonly string[];
  /** The nodes of each set, the primary first. */
  readonly sets: readonly (readonly string[])[];
  readonly sentinels: boolean;
  /** True when the sets are the shards of a cluster. */
  readonly cluster: boolean;
}

/** A kind of fault. */
export interface FaultKind {
  /** The forms of the fault in this cast: which nodes and clients it hits, for how long, and how hard. */
  variants(cast: Cast, scales: Scales): FaultVariant[];
  /** True when it makes no difference when it strikes, so that once at the beginning is enough. */
  readonly anytime?: boolean;
  /** Strikes, if there is anything to strike, and settles when the fault is over. Whatever it does it tells. */
  strike(scene: Scene, fault: PlannedFault): Promise<void>;
}

/** The node of this name. */
export function nodeOf(scene: Scene, name: string): LabNode | undefined {
  for (const set of scene.sets) for (const node of set.nodes) if (node.name === name) return node;
  return undefined;
}

/** The set of the node of this name; the first set for any other name. */
export function setOf(scene: Scene, name: string): NodeSet {
  const found = scene.sets.find((set) => set.nodes.some((node) => node.name === name));
  return found ?? (scene.sets[0] as NodeSet);
}

/** The client of this name. */
export function playerOf(scene: Scene, name: string): Player | undefined {
  return scene.players.find((player) => player.name === name);
}

/**
 * A client of the exploration itself, for faults that are commands. It sends no INFO when it connects: a node that runs a
 * long script refuses INFO, so that ioredis would connect again and again, and never send SCRIPT KILL. Without INFO, ioredis 5
 * must not introduce itself either: a connection that breaks meanwhile would count as ready.
 */
export function operatorOf(set: NodeSet): Redis {
  const silent = needsReadyCheck() ? { disableClientInfo: true } : {};
  return set.client('operator', { maxRetriesPerRequest: 0, enableReadyCheck: false, ...silent });
}
