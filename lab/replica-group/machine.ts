/** What a node or a Sentinel runs on, on either clock, and the controls of its process. */
import type { VirtualDisk } from './disk.ts';
import type { Write } from './write-log.ts';

/** A machine with one process at a time. Its clock and its disk outlive the processes. */
export interface Machine<C> {
  readonly name: string;
  readonly clock: C;
  readonly disk: VirtualDisk;
  /** True between `pause` and `resume`. */
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  /** Throws when nothing happens on the machine any more. */
  checkOpen(): void;
  /** Records what happened to the process. */
  note(what: string, detail?: string): void;
  /** Records a write that the process has executed as a primary. */
  wrote(write: Write): void;
  /** Records the data with which a process began. @param kept the holders by their keys */
  restarted(kept: ReadonlyMap<string, string>): void;
}

/** A node or a Sentinel, on either clock. */
export abstract class Party<C> {
  /** The name, as links and `pause` take it, such as redis-1. */
  readonly name: string;
  /** @internal */
  protected readonly machine: Machine<C>;
  /** @internal */
  protected running = true;

  /** @internal */
  constructor(machine: Machine<C>) {
    this.name = machine.name;
    this.machine = machine;
  }

  /** False between a crash and the restart. */
  get up(): boolean {
    return this.running;
  }

  /** True between `pause` and `resume`. */
  get paused(): boolean {
    return this.machine.paused;
  }

  /** The wall clock, which can jump and drift. Expiry and timers follow it, and a jump makes a Sentinel enter TILT mode. */
  get clock(): C {
    return this.machine.clock;
  }

  /** Stops the process like SIGSTOP: connections stay open, nothing is answered, and no timer fires. */
  pause(): void {
    this.machine.pause();
  }

  /** Continues the process: everything that came due or arrived during the pause happens now, in order. */
  resume(): void {
    this.machine.resume();
  }
}
