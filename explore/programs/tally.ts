/** Counts what the worlds of an exploration of programs covered: faults, strategies, states and broken promises. */
import type { FaultName } from '../faults/index.ts';
import { kindsOf } from '../findings.ts';
import type { FullOptions } from '../options.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Coverage } from '../report-data.ts';
import type { Rules } from '../run.ts';
import { ONE_FAULT } from '../search/one-fault.ts';
import { statesOf } from '../search/states.ts';
import { NO_FAULT } from '../table.ts';
import { WorldCounts } from '../world-counts.ts';
import { type DrawnPlan, WITHOUT_FAULTS } from './plans.ts';

/** What is counted here. */
type Tallied = Omit<Coverage, 'labErrors' | 'modules' | 'leases' | 'scale' | 'programs'>;

/** The counts of one exploration of programs. */
export class WorldTally {
  readonly #full: FullOptions;
  readonly #counts: WorldCounts;
  readonly #states = new Set<string>();
  readonly #faults: Partial<Record<FaultName, number>>;
  readonly #broken: Record<string, Record<string, number>> = {};
  readonly #strategies: Record<string, number> = {};
  readonly #singles: number;
  #playedSingles = 0;
  #calm = 0;
  #struck = 0;
  #missed = 0;

  /** @param singles how many worlds there are with one fault */
  constructor(full: FullOptions, singles: number) {
    this.#full = full;
    this.#singles = singles;
    this.#counts = new WorldCounts(full);
    this.#faults = Object.fromEntries(full.faults.map((name) => [name, 0]));
  }

  /** In how many worlds all planned faults struck. */
  get struck(): number {
    return this.#struck;
  }

  /** In how many worlds a planned fault did not strike. */
  get missed(): number {
    return this.#missed;
  }

  /** Counts a world that was played. */
  add(world: PlayedWorld, { plan, strategy }: DrawnPlan, { calm, scales }: Rules): void {
    this.#strategies[strategy] = (this.#strategies[strategy] ?? 0) + 1;
    if (strategy === ONE_FAULT) this.#playedSingles++;
    if (plan.faults.length > 0)
      plan.faults.every((fault) => world.struck.includes(fault)) ? this.#struck++ : this.#missed++;
    const kinds = this.#kinds(world);
    for (const kind of kinds) this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
    if (kinds.length === 0) this.#calm++;
    this.#counts.add(world, strategy === WITHOUT_FAULTS, calm);
    for (const state of statesOf(world, scales.leaseMs)) this.#states.add(state);
  }

  /** Counts the promises that a world broke. @param promises each of them once */
  addBroken(world: PlayedWorld, promises: ReadonlySet<string>): void {
    const kinds = this.#kinds(world);
    for (const kind of kinds.length === 0 ? [NO_FAULT] : kinds) {
      const counts = (this.#broken[kind] ??= {});
      for (const promise of promises) counts[promise] = (counts[promise] ?? 0) + 1;
    }
  }

  /** The kinds of faults that were asked for and struck. */
  #kinds(world: PlayedWorld): FaultName[] {
    const struck = kindsOf(world);
    return this.#full.faults.filter((kind) => struck.includes(kind));
  }

  /** The counts, for the report. */
  counted(): Tallied {
    return {
      ...{ faults: this.#faults, calm: this.#calm, broken: this.#broken, states: this.#states.size },
      ...this.#counts.counted(),
      strategies: this.#strategies,
      singles: { all: this.#singles, share: this.#singles, played: this.#playedSingles, cut: 0 },
    };
  }
}
