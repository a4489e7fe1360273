/** What faults and runs can do on every stage, and what only some stages can do: nodes, sets, links and clients. */

import type { Redis } from '../../lab/ioredis-types.ts';
import type { LaneControls } from '../../lab/links/gate.ts';
import type { Write, WriteLog } from '../../lab/replica-group/write-log.ts';

/** A node of any stage. */
export interface StageNode {
  readonly name: string;
  /** False between a crash and the restart. */
  readonly up: boolean;
  readonly paused: boolean;
  /** The writes that it accepted as a primary. */
  readonly log: Pick<WriteLog, 'writes'>;
  pause(): void;
  resume(): void;
  /** Asks the node a command past all links, as nobody's client. Rejects with its error, and when it is down. */
  ask(...words: readonly string[]): Promise<unknown>;
}

/** How a crash of a node ends: with its data or without. */
export type CrashKeeps = 'everything' | 'nothing';

/** One primary with its replicas: a replica set, or a shard of a cluster. */
export interface StageSet {
  readonly nodes: readonly StageNode[];
  readonly primary: StageNode;
  readonly replicas: readonly StageNode[];
  /** What decides on the roles: the run itself, Sentinels, or the votes of a cluster. */
  readonly decides: 'the run' | 'Sentinels' | 'a cluster';
  /** The slots of a cluster's shard, for its timeline. */
  readonly slots?: string;
  /** The Sentinels, if there are any. */
  readonly sentinels: readonly { readonly name: string }[];
  /** The promotions by Sentinels or votes so far. */
  readonly failovers: readonly unknown[];
  /** The acknowledged writes that have been lost so far. */
  readonly lost: readonly Write[];
  /** Crashes a node. One of a cluster keeps its place in the cluster, even when it loses its data. */
  crash(name: string, keep: CrashKeeps): Promise<void>;
  /** Starts a crashed node again. */
  restart(name: string): Promise<void>;
  /** Replaces the primary by hand. @param to the replica to promote; by default the set chooses */
  failover(to?: string): Promise<unknown>;
  /**
   * Waits until Sentinels or a cluster have promoted a replica, or it takes too long.
   * @param before the number of promotions before
   * @param promoted called at the promotion
   */
  decision(before: number, wait: Wait, promoted: () => void): Promise<void>;
  /** Makes another node the primary while clients stay connected. Resolves to that node; undefined if none can be. */
  swap(): Promise<StageNode | undefined>;
  /** A client of the primary for faults that are commands. It has no retries. */
  operator(): Redis;
  /** A script that never ends is about to run on the primary: its steps need not be counted until the returned function is called. */
  spareSteps(): () => void;
}

/** Waits for so many milliseconds of the stage's time, whichever process is paused. */
export type Wait = (ms: number) => Promise<void>;

/** The links between clients and nodes. */
export interface StageNetwork {
  /** The lane from one party to another. */
  lane(from: string, to: string): LaneControls;
  /** Breaks the connections between two parties. */
  reset(one: string, other: string): void;
}

/** How a life of the user's code ended. */
export type LifeEnd = 'returned' | 'threw' | 'died';

/** A client's process, as faults control it. */
export interface ClientControls {
  readonly name: string;
  /** True while its process exists. */
  readonly alive: boolean;
  readonly paused: boolean;
  /** How its last life ended; undefined while it lasts. */
  readonly end: LifeEnd | undefined;
  pause(): void;
  resume(): void;
  kill(): void;
  /**
   * The next `sleep` that its code begins inside a resource lasts so many milliseconds longer; 0 ends that.
   * @param began called when it begins
   */
  hang(ms: number, began?: () => void): void;
}

/** A wall clock that can be set. */
export interface SettableClock {
  /** Sets it forward, or back. */
  jump(ms: number): void;
  /** Sets how fast it runs; 1 is right. */
  drift(rate: number): void;
}

/** What only some stages can do. A fault that needs it says so, and reaches it only then. */
export interface Abilities {
  /** The wall clock of a node or client. */
  clockOf(name: string): SettableClock;
  /** Makes the background saves of a node fail, so that it refuses writes with MISCONF, or ends that. */
  failSaves(name: string, fail: boolean): void;
}

/** The stages, and what each lacks, with the reason. */
export const LACKS = {
  virtual: {},
  'real servers': {
    clockOf: 'real processes share the clock of the machine',
    failSaves: 'the disk of the machine works',
  },
  programs: {
    clockOf: 'a program has the clock of the machine',
    failSaves: 'the disk of the machine works',
  },
} as const satisfies Record<string, Partial<Record<keyof Abilities, string>>>;

/** The name of a stage. */
export type StageName = keyof typeof LACKS;

/** What a stage can do beyond what all can. The compiler demands every ability that `LACKS` does not list. */
export type AbilitiesOf<S extends StageName> = Omit<Abilities, keyof (typeof LACKS)[S]>;
