/** Both lanes between two parties, with the controls that a test has over the two at once. */
import type { Amount, Delays, LaneControls } from './gate.ts';

/** What can be done to both directions alike. */
class BothLanes<L extends LaneControls> {
  readonly #lanes: readonly [there: L, back: L];

  constructor(there: L, back: L) {
    this.#lanes = [there, back];
  }

  /** Nothing passes, dialling included, and nobody is told: what a firewall or a broken switch does. */
  partition(): void {
    for (const lane of this.#lanes) lane.partition();
  }

  /** Ends the partition; what was sent meanwhile arrives. */
  heal(): void {
    for (const lane of this.#lanes) lane.heal();
  }

  /** Makes every later message take so many milliseconds longer, in both directions; 0 ends it. */
  delay(ms: number): void {
    for (const lane of this.#lanes) lane.delay(ms);
  }
}

/** The way between two parties: `out` leads from the first to the second. */
export class Link<L extends LaneControls = LaneControls> extends BothLanes<L> {
  readonly out: L;
  readonly back: L;
  readonly #reset: () => void;

  constructor(out: L, back: L, reset: () => void) {
    super(out, back);
    this.out = out;
    this.back = back;
    this.#reset = reset;
  }

  /** Nothing arrives any more, in either direction; what is sent waits. */
  hold(): void {
    this.out.hold();
    this.back.hold();
  }

  /** Everything that was held arrives. */
  release(): void {
    this.out.release();
    this.back.release();
  }

  /** Sets the usual time under way in both directions, in milliseconds. Throws TypeError for a wrong one. */
  pace(delays: Partial<Delays>): void {
    this.out.pace(delays);
    this.back.pace(delays);
  }

  /** Breaks every connection on the link: both ends are told at once, and what was under way is lost. */
  reset(): void {
    this.#reset();
  }
}

/** The way from a primary to a replica: commands one way, acknowledgements the other. */
export class ReplicationLink<L extends LaneControls = LaneControls> extends BothLanes<L> {
  readonly commands: L;
  readonly acks: L;

  constructor(commands: L, acks: L) {
    super(commands, acks);
    this.commands = commands;
    this.acks = acks;
  }

  /** Replication stops reaching the replica; what is sent waits. */
  hold(): void {
    this.commands.hold();
  }

  /** Everything that was held arrives, or so many messages or bytes of it. Throws TypeError for a wrong amount. */
  release(amount?: Amount): void {
    this.commands.release(amount);
  }
}
