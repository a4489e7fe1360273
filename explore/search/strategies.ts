/** Where to look: generators of the plans that an exploration plays, from systematic to random and guided. */
import { Random } from '../../lab/time/random.ts';
import { faultKinds } from '../faults/index.ts';
import type { Cast, FaultVariant, Scales } from '../faults/scene.ts';
import type { FaultName } from '../names.ts';
import { type PlannedFault, toMicros, type WorldPlan } from '../plan.ts';
import { type Moment, stateText } from './states.ts';

/** What a search knows after the run without faults. */
export interface SearchGround {
  readonly seed: number;
  readonly cast: Cast;
  readonly scales: Scales;
  readonly faults: readonly FaultName[];
  readonly moments: readonly Moment[];
  /** How long the run without faults took, in milliseconds. */
  readonly span: number;
}

/** Every form of every fault that the ground allows. */
export function formsOf({
  faults,
  cast,
  scales,
}: SearchGround): { kind: FaultName; variant: FaultVariant }[] {
  return faults.flatMap((kind) =>
    faultKinds[kind].variants(cast, scales).map((variant) => ({ kind, variant })),
  );
}

/** A fault of this form at this time. */
export function faultOf(kind: PlannedFault['kind'], at: number, variant: FaultVariant): PlannedFault {
  return { kind, at: toMicros(at), on: '', ms: 0, by: 0, how: '', ...variant };
}

function planOf({ seed, cast }: SearchGround, faults: readonly PlannedFault[]): WorldPlan {
  return { seed, clients: cast.clients, jitter: 0, faults };
}

/**
 * One fault of every form at every moment; states that were struck before in the same way are left out. The kinds take
 * turns, in a random order of their own each, so that each cause is found early. `cut` counts what was left out.
 */
export function singles(ground: SearchGround): { readonly plans: WorldPlan[]; readonly cut: number } {
  const seen = new Set<string>();
  let cut = 0;
  const found = new Map<FaultName, WorldPlan[]>(ground.faults.map((kind) => [kind, []]));
  const forms = formsOf(ground);
  for (const [i, moment] of ground.moments.entries()) {
    for (const { kind, variant } of forms) {
      if (faultKinds[kind].anytime === true && i > 0) continue;
      const { on = '', ...rest } = variant;
      const isClient = ground.cast.clients.includes(on);
      const key = `${kind} ${isClient ? '' : on} ${JSON.stringify(rest)} ${stateText(moment, on)}`;
      if (seen.has(key)) {
        cut++;
        continue;
      }
      seen.add(key);
      found.get(kind)?.push(planOf(ground, [faultOf(kind, moment.at, variant)]));
    }
  }
  const random = new Random(ground.seed, 'singles');
  return { plans: interleaved([...found.values()].map((plans) => shuffled(plans, random))), cut };
}

/** One of each list in turn. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** Two faults at two moments, drawn from all pairs. */
export function* pairs(ground: SearchGround, one: readonly WorldPlan[]): Generator<WorldPlan, void> {
  const random = new Random(ground.seed, 'pairs');
  while (one.length > 0) {
    const faults = [random.pick(one), random.pick(one)].flatMap((plan) => plan.faults);
    const later = faults.map((fault, i) =>
      i === 0 ? fault : { ...fault, at: toMicros(fault.at + random.next() * ground.scales.reconnectMs) },
    );
    yield planOf(
      ground,
      [...later].sort((a, b) => a.at - b.at),
    );
  }
}

/** One to four faults at any time, of lengths from a tenth of the usual to three times as much; messages jitter. */
export function* randomPlans(ground: SearchGround): Generator<WorldPlan, void> {
  const random = new Random(ground.seed, 'random');
  const forms = formsOf(ground);
  while (forms.length > 0) {
    const faults = Array.from({ length: random.between(1, 5) }, () => drawFault(ground, forms, random));
    yield {
      ...planOf(
        ground,
        faults.sort((a, b) => a.at - b.at),
      ),
      seed: random.word(),
      jitter: 1,
    };
  }
}

function drawFault(
  ground: SearchGround,
  forms: readonly { kind: FaultName; variant: FaultVariant }[],
  random: Random,
): PlannedFault {
  const { kind, variant } = random.pick(forms);
  const fault = faultOf(kind, random.next() * 1.3 * ground.span, variant);
  const scale = (): number => 10 ** (random.next() * 1.5 - 1);
  const ms = fault.ms === 0 ? 0 : Math.max(1, Math.round(fault.ms * scale()));
  const by = Math.abs(fault.by) < 1 ? fault.by : Math.round(fault.by * scale());
  return { ...fault, ms, by };
}

/**
 * Probabilistic concurrency testing (Burckhardt et al., 2010): every client has a priority, and `depth` - 1 times the
 * client that is ahead falls behind all others. A client falls behind by having its messages delayed. One fault strikes
 * besides, in two of three worlds.
 */
export function* prioritized(ground: SearchGround, depth: number): Generator<WorldPlan, void> {
  const random = new Random(ground.seed, 'priorities');
  const forms = formsOf(ground);
  const { clients } = ground.cast;
  for (;;) {
    const order = shuffled([...clients], random);
    const step = 1 + random.between(0, 4) * 5;
    const late = (on: string, at: number, rank: number): PlannedFault =>
      faultOf('late', at, { on, by: rank * step });
    const faults = order.map((on, rank) => late(on, 0, rank)).filter(({ by }) => by > 0);
    for (let i = 1; i < depth; i++)
      faults.push(late(random.pick(clients), random.next() * ground.span, clients.length + i));
    if (forms.length > 0 && random.next() < 0.67) faults.push(drawFault(ground, forms, random));
    yield {
      ...planOf(
        ground,
        faults.sort((a, b) => a.at - b.at),
      ),
      seed: random.word(),
    };
  }
}

/** Changes plans that reached new states. Such plans are added to `corpus` while the search runs. */
export function* guided(
  ground: SearchGround,
  corpus: readonly WorldPlan[],
): Generator<WorldPlan | undefined, void> {
  const random = new Random(ground.seed, 'guided');
  const forms = formsOf(ground);
  while (forms.length > 0) {
    if (corpus.length === 0) {
      yield undefined;
      continue;
    }
    const parent = random.pick(corpus);
    yield {
      ...parent,
      faults: mutated(ground, forms, parent.faults, random),
      seed: random.next() < 0.3 ? random.word() : parent.seed,
    };
  }
}

function mutated(
  ground: SearchGround,
  forms: readonly { kind: FaultName; variant: FaultVariant }[],
  faults: readonly PlannedFault[],
  random: Random,
): PlannedFault[] {
  const changed = [...faults];
  const at = random.between(0, changed.length + 1);
  const fault = changed[at];
  if (fault === undefined || (changed.length < 4 && random.next() < 0.3))
    changed.push(drawFault(ground, forms, random));
  else if (random.next() < 0.3 && changed.length > 1) changed.splice(at, 1);
  else
    changed[at] = {
      ...fault,
      at: toMicros(Math.max(0, fault.at + (random.next() - 0.5) * 0.3 * ground.span)),
    };
  return changed.sort((a, b) => a.at - b.at);
}

function shuffled<T>(all: T[], random: Random): T[] {
  for (let i = all.length - 1; i > 0; i--) {
    const k = random.between(0, i + 1);
    [all[i], all[k]] = [all[k] as T, all[i] as T];
  }
  return all;
}
