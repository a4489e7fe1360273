/** What the stand-ins for Node's functions use inside a world: its timers, clock, randomness and connections. */
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Millis } from '../../protocol/bytes.ts';
import type { Actor } from '../time/actor.ts';
import type { Callback, Inside } from '../time/current-world.ts';
import { type ProcessEnd, ProcessEnded } from '../time/process-end.ts';
import type { Random } from '../time/random.ts';
import type { Schedule } from '../time/schedule.ts';
import { VirtualImmediate, VirtualTimeout } from '../time/timers.ts';
import type { Network } from './network.ts';

/** The world that code runs in, as far as the stand-ins need it. */
interface SurroundingWorld {
  /** The actor whose code is running, or ran last. */
  readonly running: Actor;
  readonly schedule: Schedule;
  readonly network: Network;
  /** Microseconds since the world began. */
  elapsed(): number;
  /** A stream of random numbers. */
  stream(name: string): Random;
}

/** After so many readings of a clock in one step, with nothing between them, each further one takes time. */
const READS = 10_000;
/** How long such a reading takes, in microseconds. Node's takes 0.05: a second of waiting would be twenty million of them. */
const READING = 100;

/** A line that code in a world has printed. */
export interface PrintedLine {
  /** Microseconds since the world began. */
  readonly at: number;
  /** The name of the actor whose code printed it. */
  readonly who: string;
  readonly text: string;
}

/** How many printed lines a world remembers: code that prints in a loop must not fill the memory. */
const MOST_PRINTED = 200;

/** Serves the stand-ins in one world. */
export class WorldInside implements Inside {
  /** What code has printed, where somebody catches it: the first lines. */
  readonly output: PrintedLine[] = [];
  readonly #world: SurroundingWorld;
  readonly #random: Random;
  /** How often a clock was read in one step, with nothing between. */
  #reads = 0;
  #readIn = -1;

  constructor(world: SurroundingWorld) {
    this.#world = world;
    this.#random = world.stream('library');
  }

  get #actor(): Actor {
    return this.#world.running;
  }

  get pid(): number {
    return this.#actor.shownPid;
  }

  get hostname(): string {
    return this.#actor.hostname;
  }

  end(end: ProcessEnd): boolean {
    return this.#actor.end(end);
  }

  /**
   * Code that reads a clock again and again, and does nothing else, waits for it to move: then each reading takes time. Its other
   * code takes none.
   */
  #read(): void {
    const { steps } = this.#world.schedule;
    if (steps !== this.#readIn) this.#acts(steps);
    else if (++this.#reads > READS) this.#actor.keepBusy(READING);
  }

  /** Code does something else than to read a clock. */
  #acts(step = -1): void {
    this.#readIn = step;
    this.#reads = 0;
  }

  block(ms: number): void {
    this.#actor.keepBusy(Math.round(ms * 1000));
  }

  wallClock(): Millis {
    this.#read();
    return this.#actor.clock.now();
  }

  elapsed(): number {
    this.#read();
    return this.#actor.clock.elapsed();
  }

  random(): number {
    this.#acts();
    return this.#random.next();
  }

  fill(bytes: Uint8Array): void {
    this.#random.fill(bytes);
  }

  setTimeout(callback: Callback, delayMs: number, args: readonly unknown[], repeat: boolean): VirtualTimeout {
    this.#acts();
    return new VirtualTimeout(this.#actor, callback, delayMs, args, repeat);
  }

  setImmediate(callback: Callback, args: readonly unknown[]): VirtualImmediate {
    const immediate = new VirtualImmediate(this.#actor, callback, args);
    // The program has ended, and its code has caught the exception that stops it.
    if (!this.#actor.alive) return immediate;
    this.#world.schedule.enqueue(immediate);
    return immediate;
  }

  clearById(id: number): void {
    this.#world.schedule.timersById.get(id)?.cancel();
  }

  dial(host: string, port: number): Duplex {
    if (!this.#actor.alive) throw new ProcessEnded();
    return this.#world.network.dial(this.#actor, host, port);
  }

  printed(text: string): void {
    if (this.output.length < MOST_PRINTED)
      this.output.push({ at: this.#world.elapsed(), who: this.#actor.name, text });
  }

  /** Every name except localhost stands for itself: nodes can be reached by their names. */
  resolve(host: string): { address: string; family: number } {
    const family = isIP(host);
    return family === 0 ? { address: '127.0.0.1', family: 4 } : { address: host, family };
  }
}
