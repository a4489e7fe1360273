/** Finds worlds with one fault that break a promise, a few for each kind of fault, as they are: nothing is reduced. */
import { captured } from '../../explore/capture.ts';
import { judge } from '../../explore/judge.ts';
import { type ExploreOptions, fullOptions } from '../../explore/options.ts';
import type { WorldPlan } from '../../explore/plan.ts';
import { playWorld } from '../../explore/play.ts';
import type { PlayedWorld } from '../../explore/played-world.ts';
import { singles } from '../../explore/search/one-fault.ts';
import { momentsOf } from '../../explore/search/states.ts';
import { survey } from '../../explore/search/survey.ts';
import type { Breach } from '../../explore/visit.ts';

/** A world that breaks a promise, with the first breach. */
export interface FoundWorld {
  readonly plan: WorldPlan;
  readonly world: PlayedWorld;
  readonly breach: Breach;
}

/** How many worlds are kept of each kind of fault. */
const EACH = 2;

/** Plays worlds without and with one fault, at moments that are spread over the whole run. @param worlds how many, at most */
export async function brokenWorlds(options: ExploreOptions, worlds: number): Promise<FoundWorld[]> {
  const full = fullOptions(options);
  return await captured(async () => {
    const { rules, world: calm } = await survey(full);
    const { plans } = singles({
      ...{
        seed: full.seed,
        faults: full.faults,
        bounds: full.bounds,
        depth: full.depth,
        scales: rules.scales,
      },
      among: {
        clients: full.clients,
        sets: calm.sets.map(({ nodes }) => nodes.map(({ name }) => name)),
        sentinels: calm.sets.some(({ decides }) => decides === 'Sentinels'),
        cluster: calm.sets.some(({ decides }) => decides === 'a cluster'),
      },
      moments: momentsOf(calm, rules.scales.leaseMs),
      span: Math.max(calm.span, 1),
    });
    const found: FoundWorld[] = [];
    const kept = new Map<string, number>();
    const all = [calm.plan, ...spread(plans, worlds)];
    for (const plan of all) {
      const kind = plan.faults[0]?.kind ?? '';
      if ((kept.get(kind) ?? 0) >= EACH) continue;
      const world = await playWorld(rules, plan);
      const [breach] = judge(world, full.promises, full.own);
      if (breach === undefined) continue;
      found.push({ plan, world, breach });
      kept.set(kind, (kept.get(kind) ?? 0) + 1);
    }
    return found;
  });
}

/** So many of the plans, each kind of fault in its turn, at moments far from each other. */
function spread(plans: readonly WorldPlan[], count: number): WorldPlan[] {
  const kinds = new Map<string, WorldPlan[]>();
  for (const plan of plans) {
    const kind = plan.faults[0]?.kind ?? '';
    kinds.set(kind, [...(kinds.get(kind) ?? []), plan]);
  }
  const share = Math.max(1, Math.ceil(count / Math.max(1, kinds.size)));
  return [...kinds.values()].flatMap((own) => {
    const step = Math.max(1, Math.floor(own.length / share));
    return own.filter((_, i) => i % step === 0).slice(0, share);
  });
}
