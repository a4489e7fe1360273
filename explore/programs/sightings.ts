/** Plays worlds that broke a promise again, and tells the findings that repeat from those that broke once. */
import { foundBy } from '../anchors/strikes.ts';
import { findingOf, type ReasonedFailing } from '../findings.ts';
import type { FoundReasons } from '../found.ts';
import { historyOf } from '../history.ts';
import type { WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { ProgramCoverage } from '../report-data.ts';

/** How often a finding is played again. */
const REPEATS = 3;

/** A world that broke a promise. */
export interface Sighting {
  readonly failing: ReasonedFailing;
  /** The strategy that has drawn its plan. */
  readonly strategy: string;
  /** The number of the world. */
  readonly firstIn: number;
}

/** Plays a plan once more. Resolves to whether it breaks the same promise; to undefined when the exploration has ended. */
type PlayAgain = (plan: WorldPlan) => Promise<boolean | undefined>;

/** A finding that never repeated. */
type Unrepeated = ProgramCoverage['unrepeated'][number];

/** The worlds of one exploration of programs that broke a promise. */
export class Sightings {
  readonly unrepeated: Unrepeated[] = [];
  readonly #name: string;
  readonly #found: FoundReasons;
  /** Those that are being played again, by their fingerprints. */
  readonly #underWay = new Map<string, Promise<void>>();

  /** @param name of the exploration @param found gets those that repeat */
  constructor(name: string, found: FoundReasons) {
    this.#name = name;
    this.#found = found;
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
    const plan = ordered(failing.world);
    let [played, broke] = [0, 0];
    for (; played < REPEATS; played++) {
      const isBroken = await playAgain(plan);
      if (isBroken === undefined) break;
      if (isBroken) broke++;
    }
    const finding = findingOf(this.#name, withFound(failing, plan), {
      firstIn,
      strategy,
      difference: undefined,
    });
    const repeats = played === 0 ? 'not played again' : `repeats ${broke} of ${played}`;
    const story = `${finding.story}\n${''.padStart(15)}(${repeats})`;
    const { sentence, replay } = finding;
    if (broke > 0)
      this.#found.add(fingerprint, failing, () => ({
        ...finding,
        story,
        repeats: { times: broke, of: played },
      }));
    else if (known !== undefined) known.worlds++;
    else this.unrepeated.push({ fingerprint, sentence, story, replay, worlds: 1 });
  }
}

/** The plan with its clients in the order in which they first went in, so that it is played in that order again. */
function ordered(world: PlayedWorld): WorldPlan {
  const { plan } = world;
  const entered = [...new Set(historyOf(world).visits.map(({ client }) => client))];
  const clients = [...entered, ...plan.clients.filter((name) => !entered.includes(name))];
  return plan.jitter === 0 ? plan : { ...plan, clients, jitter: 0 };
}

/** The failing world with the plan that plays it again, and what its faults found. */
function withFound(failing: ReasonedFailing, plan: WorldPlan): ReasonedFailing {
  const { world } = failing;
  const faults = plan.faults.map((fault) => ({ ...fault, found: foundBy(world, fault) }));
  return { ...failing, plan, world: { ...world, plan: { ...plan, faults } } };
}
