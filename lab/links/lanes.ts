/** The lanes between all parties by name, on either clock, and what a test can do to many of them at once. */
import { badOption } from '../../base/options.ts';
import type { LaneControls } from './gate.ts';
import { Link } from './link.ts';

/** The lanes between named parties, on either clock. */
export abstract class Lanes<L extends LaneControls> {
  readonly #lanes = new Map<string, L>();

  /** @internal */
  protected abstract create(from: string, to: string): L;

  /** Breaks the connections between two parties, in whichever direction they were opened. */
  abstract reset(one: string, other: string): void;

  /** @internal */
  protected get all(): Iterable<L> {
    return this.#lanes.values();
  }

  /** The lane from one party to another; created when first asked for. */
  lane(from: string, to: string): L {
    const key = `${from}>${to}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) this.#lanes.set(key, (lane = this.create(from, to)));
    return lane;
  }

  /** The link between two parties; `out` leads from the first to the second. */
  link(from: string, to: string): Link<L> {
    return new Link(this.lane(from, to), this.lane(to, from), () => this.reset(from, to));
  }

  /** Cuts the groups off from each other until `heal`; within a group nothing changes. Throws TypeError for what is not a group. */
  partition(...groups: readonly (readonly string[])[]): void {
    for (const group of groups) {
      if (!Array.isArray(group) || !group.every((name) => typeof name === 'string' && name !== ''))
        throw badOption('partition', group, 'arrays of the names of nodes and clients');
    }
    for (const group of groups) {
      for (const other of groups) {
        if (group === other) continue;
        for (const from of group) for (const to of other) this.lane(from, to).partition();
      }
    }
  }

  /** Ends every partition. */
  heal(): void {
    for (const lane of this.#lanes.values()) if (lane.partitioned) lane.heal();
  }
}
