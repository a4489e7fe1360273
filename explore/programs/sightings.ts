/** Plays worlds that broke a promise again: smaller ones first, and then to tell the findings that repeat from those that broke once. */
import { foundBy } from '../anchors/strikes.ts';
import { findingOf, type ReasonedFailing, reasoned } from '../findings.ts';
import type { FoundReasons } from '../found.ts';
import { historyOf } from '../history.ts';
import type { WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { isSame } from '../promises/broken.ts';
import type { ProgramCoverage } from '../report-data.ts';
import { brokenAlike, reducible } from '../search/same-reason.ts';
import { type Failing, IN_REAL_TIME, type Reducible, shrink } from '../search/shrink.ts';
import type { Breach } from '../visit.ts';

/** How often a finding is played again. */
const REPEATS = 3;
/** How many worlds that broke a promise for one reason are played again when none of them repeats. */
const MOST_UNREPEATED = 3;

/** A world that broke a promise. */
export interface Sighting {
  readonly failing: ReasonedFailing;
  /** The strategy that has drawn its plan. */
  readonly strategy: string;
  /** The number of the world. */
  readonly firstIn: number;
}

/** A world that was played again, and what it broke. */
export interface PlayedAgain {
  readonly world: PlayedWorld;
  readonly breaches: readonly Breach[];
}

/** Plays a plan in new processes. Resolves to undefined when the exploration has ended, or the machine never kept up. */
type PlayAgain = (plan: WorldPlan) => Promise<PlayedAgain | undefined>;

/** A finding that never repeated. */
type Unrepeated = ProgramCoverage['unrepeated'][number];

/** The worlds of one exploration of programs that broke a promise. */
export class Sightings {
  readonly unrepeated: Unrepeated[] = [];
  readonly #name: string;
  readonly #found: FoundReasons;
  readonly #isOver: () => boolean;
  /** Those that are being played again, by their fingerprints. */
  readonly #underWay = new Map<string, Promise<void>>();

  /** @param name of the exploration @param found gets those that repeat @param isOver true when nothing may be made smaller any more */
  constructor(name: string, found: FoundReasons, isOver: () => boolean) {
    this.#name = name;
    this.#found = found;
    this.#isOver = isOver;
  }

  /** Counts a world of a known reason. Plays one with a new reason again, and adds it to those that repeat, or to the others. */
  async add(sighting: Sighting, playAgain: PlayAgain): Promise<void> {
    const { fingerprint } = sighting.failing;
    // Two worlds side by side may break for one reason: one of them is enough.
    while (this.#underWay.has(fingerprint)) await this.#underWay.get(fingerprint)?.catch(() => {});
    if (this.#found.counted(fingerprint)) return;
    const done = this.#repeat(sighting, playAgain);
    this.#underWay.set(fingerprint, done);
    try {
      await done;
    } finally {
      this.#underWay.delete(fingerprint);
    }
  }

  async #repeat({ failing, strategy, firstIn }: Sighting, playAgain: PlayAgain): Promise<void> {
    const { fingerprint } = failing;
    const known = this.unrepeated.find((each) => each.fingerprint === fingerprint);
    if (known !== undefined && known.worlds >= MOST_UNREPEATED) return void known.worlds++;
    const first = reducible({ ...failing, plan: ordered(failing.world) });
    let smallest: Failing = await this.#reduced(first, playAgain);
    let { played, broke } = await repeatsOf(smallest, playAgain);
    if (broke === 0 && smallest !== first) {
      smallest = first;
      ({ played, broke } = await repeatsOf(first, playAgain));
    }
    const told = withFound(reasoned(smallest));
    const finding = findingOf(this.#name, told, { firstIn, strategy, difference: undefined });
    const repeats = played === 0 ? 'not played again' : `repeats ${broke} of ${played}`;
    const story = `${finding.story}\n${''.padStart(15)}(${repeats})`;
    const { sentence, replay } = finding;
    if (broke > 0)
      this.#found.add(fingerprint, told, () => ({
        ...finding,
        story,
        repeats: { times: broke, of: played },
      }));
    else if (known !== undefined) known.worlds++;
    else this.unrepeated.push({ fingerprint, sentence, story, replay, worlds: 1 });
  }

  /** The smallest world that breaks the promise for the same reason, as far as the budget allows. */
  #reduced(first: Reducible, playAgain: PlayAgain): Promise<Reducible> {
    const attempt = async (plan: WorldPlan): Promise<Reducible | undefined> => {
      const played = this.#isOver() ? undefined : await playAgain(plan);
      return played && brokenAlike(first, { plan, ...played });
    };
    return shrink(first, attempt, IN_REAL_TIME);
  }
}

/** How often a plan breaks the same promise when it is played again. */
async function repeatsOf({ plan, breach }: Failing, playAgain: PlayAgain) {
  let [played, broke] = [0, 0];
  for (; played < REPEATS; played++) {
    const again = await playAgain(plan);
    if (again === undefined) break;
    if (again.breaches.some((each) => isSame(each, breach))) broke++;
  }
  return { played, broke };
}

/** The plan with its clients in the order in which they first went in, so that it is played in that order again. */
function ordered(world: PlayedWorld): WorldPlan {
  const { plan } = world;
  const entered = [...new Set(historyOf(world).visits.map(({ client }) => client))];
  const clients = [...entered, ...plan.clients.filter((name) => !entered.includes(name))];
  return plan.jitter === 0 ? plan : { ...plan, clients, jitter: 0 };
}

/** The failing world with the plan that plays it again, and what its faults found. */
function withFound(failing: ReasonedFailing): ReasonedFailing {
  const { world, plan } = failing;
  const faults = plan.faults.map((fault) => ({ ...fault, found: foundBy(world, fault) }));
  return { ...failing, world: { ...world, plan: { ...plan, faults } } };
}
