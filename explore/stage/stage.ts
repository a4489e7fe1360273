/** A stage: where a run plays its plan. There are virtual worlds, real servers, and programs in any language. */

import type { PrintedLine } from '../../lab/virtual/inside.ts';
import type { ClientRun, StageClient } from '../client.ts';
import type { PlannedFault } from '../faults/index.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Abilities, StageNetwork, StageSet, Wait } from './controls.ts';

/** A run as its stage sees it. */
export interface StageRun extends ClientRun {
  /** True when a promise is broken, or something failed: the world is about to end. */
  readonly stopped: boolean;
  /** Tells the code of the clients that the world ends. */
  abort(): void;
  /** Ends the world, because something failed in it. */
  fail(error: unknown): void;
  /** A client says that a promise of its own is broken. */
  told(client: string, what: string): void;
}

/** Which client of a world a process plays, and which name its code is told. */
export interface ClientIdentity {
  /** Its name in the world. */
  readonly name: string;
  /** The client of the first deployment whose name its code is told; undefined for a client of the plan. */
  readonly twin?: { readonly of: StageClient; readonly samePid: boolean };
}

/** A key that is left in a database, and its text with the value. */
export interface KeyLeft {
  readonly key: string;
  readonly text: string;
}

/** The time of one fault. */
export interface FaultTime {
  readonly struckAfter: number;
  readonly wait: Wait;
  /** The fault is over. */
  over(): void;
}

/** A stage with its nodes. */
export interface Stage {
  /** Each primary with its replicas. */
  readonly sets: readonly StageSet[];
  readonly network: StageNetwork;
  /** What it can do beyond what all stages can. */
  readonly abilities: Partial<Abilities>;
  /** The virtual world whose order it keeps; undefined where time is virtual itself. */
  readonly repeats: PlayedWorld | undefined;
  /** The resources to which clients send; undefined where none is at a distance. */
  readonly resources: { readonly hosts: readonly string[]; add(resource: string): unknown } | undefined;
  /** The longest time between two looks at a condition, in milliseconds. */
  readonly looksEvery: number;
  /** The stage's time, which nothing stops, in microseconds. */
  micros(): number;
  /** The wall clock, in milliseconds since the epoch. */
  wallClock(): number;
  readonly wait: Wait;
  /** Creates a client that is not connected. */
  client(run: StageRun, identity: ClientIdentity): StageClient;
  /** The numbers by which a watchdog tells the clients; undefined where their code does not run in a world. */
  numbersOf(clients: readonly StageClient[]): Record<number, string> | undefined;
  /** Plays work to its end. */
  play(work: () => Promise<void>): Promise<void>;
  /** Connects all clients. */
  connect(clients: readonly StageClient[]): Promise<void>;
  /** The clients are about to start. */
  begin(run: StageRun): void;
  /** The time of a fault that begins now. */
  timeOf(fault: PlannedFault, run: StageRun): FaultTime;
  /** Waits for all faults, as long as the stage is patient. */
  untilStruck(faults: Promise<unknown>, run: StageRun): Promise<unknown>;
  /** A client has acted at a resource. */
  acted(client: string): void;
  /** Ends what faults have left: clocks, roles and links are as they should be. */
  mend(clients: readonly StageClient[]): Promise<void>;
  /** True when the nodes agree on their roles. */
  agree(): boolean;
  /** Gives the last releases time to arrive. */
  settle(): Promise<void>;
  /** What is left in the databases of the primaries; undefined where `repeats` says what to look for. */
  keysLeft(): KeyLeft[][] | Promise<KeyLeft[][]> | undefined;
  /** Reads what is known only at the end. */
  finish(): Promise<void>;
  /** The client whose code threw what nothing caught. */
  blamed(): string | undefined;
  /** What it has recorded; of what clients printed, the times are those of `micros`. */
  record(): Pick<PlayedWorld, 'events' | 'world' | 'clock' | 'ordered' | 'hash'> & {
    readonly printed?: readonly PrintedLine[];
  };
  /** Ends everything. */
  close(): Promise<void>;
}
