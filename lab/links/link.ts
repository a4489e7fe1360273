/** The two lanes between two parties, and what a test can do to both at once. */
import type { Amount, Delays, LaneControls } from './gate.ts';

/** The controls that act on both directions alike. */
class BothLanes<L extends LaneControls> {
  readonly #lanes: readonly [there: L, back: L];

  /** @internal */
  constructor(there: L, back: L) {
    this.#lanes = [there, back];
  }

  /** Stops all traffic, new connections included, without telling either end, as a firewall or a broken switch does. */
  partition(): void {
    for (const lane of this.#lanes) lane.partition();
  }

  /** Ends the partition; what was sent in the meantime arrives. */
  heal(): void {
    for (const lane of this.#lanes) lane.heal();
  }

  /** Delays every later message by `ms` milliseconds, in both directions; 0 ends it. Throws TypeError for less than 0. */
  delay(ms: number): void {
    for (const lane of this.#lanes) lane.delay(ms);
  }

  /** Limits how many bytes per second each direction carries; Infinity ends it. Throws TypeError for 0 or less. */
  bandwidth(bytesPerSecond: number): void {
    for (const lane of this.#lanes) lane.bandwidth(bytesPerSecond);
  }

  /** Delays the end of every connection by `ms` milliseconds, in both directions; 0 ends it. Throws TypeError for less than 0. */
  slowClose(ms: number): void {
    for (const lane of this.#lanes) lane.slowClose(ms);
  }
}

/** The link between two parties: `out` leads from the first to the second, `back` the other way. */
export class Link<L extends LaneControls = LaneControls> extends BothLanes<L> {
  /** The lane from the first party to the second. */
  readonly out: L;
  /** The lane from the second party to the first. */
  readonly back: L;
  readonly #reset: () => void;

  /** @internal */
  constructor(out: L, back: L, reset: () => void) {
    super(out, back);
    this.out = out;
    this.back = back;
    this.#reset = reset;
  }

  /** Holds all messages in both directions until `release`. */
  hold(): void {
    this.out.hold();
    this.back.hold();
  }

  /** Delivers everything that was held, and opens both lanes. */
  release(): void {
    this.out.release();
    this.back.release();
  }

  /** Sets latency and jitter of both directions, in milliseconds. Throws TypeError for a wrong value. */
  pace(delays: Partial<Delays>): void {
    this.out.pace(delays);
    this.back.pace(delays);
  }

  /** Breaks every connection on the link: both ends are notified at once, and messages in flight are lost. */
  reset(): void {
    this.#reset();
  }
}

/** The link from a primary to a replica: commands in one direction, acknowledgements in the other. */
export class ReplicationLink<L extends LaneControls = LaneControls> extends BothLanes<L> {
  /** The lane from the primary to the replica, which carries the replication stream. */
  readonly commands: L;
  /** The lane from the replica to the primary, which carries the acknowledgements. */
  readonly acks: L;

  /** @internal */
  constructor(commands: L, acks: L) {
    super(commands, acks);
    this.commands = commands;
    this.acks = acks;
  }

  /** Holds the replication stream: nothing reaches the replica until `release`. */
  hold(): void {
    this.commands.hold();
  }

  /** Delivers what was held: everything, or the given number of messages or bytes. Throws TypeError for a wrong amount. */
  release(amount?: Amount): void {
    this.commands.release(amount);
  }
}
