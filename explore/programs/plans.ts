/** What is played: each fault at each act of the run without faults, then two faults, then random ones. */
import { Random } from '../../lab/time/random.ts';
import type { Anchor } from '../anchors/anchor.ts';
import { type FaultName, faults as faultKinds, type PlannedFault } from '../faults/index.ts';
import type { WorldPlan } from '../plan.ts';
import { ONE_FAULT } from '../search/one-fault.ts';
import { type FaultForm, faultOf, formsOf, planOf, type SearchInput, shuffled } from '../search/strategy.ts';

/** A plan, and the strategy that has drawn it. */
export interface DrawnPlan {
  readonly plan: WorldPlan;
  readonly strategy: string;
}

/** The name of the strategy that plays the world without faults. */
export const WITHOUT_FAULTS = 'without faults';
/** How often a world is played again because the machine stood still in it. */
export const MOST_TRIALS = 5;

/** Of a request that a client sends again and again, these many are struck: the first, and the last ones. */
const OF_EACH = 3;

/** The acts at which faults strike: of many alike, the first and the last. */
export function momentsIn(seen: readonly Anchor[]): Anchor[] {
  const isSameKind = (one: Anchor, other: Anchor): boolean =>
    one.client === other.client && one.what === other.what && one.of === other.of && one.side === other.side;
  return seen.filter((anchor) => {
    const all = seen.filter((each) => isSameKind(each, anchor));
    const at = all.indexOf(anchor);
    return at === 0 || at > all.length - OF_EACH;
  });
}

/**
 * One fault of every form at every act: of a client, at its own acts. The kinds take turns. Of each kind, those come first that strike
 * close to an entry of the first client or of the second, because most locks break there.
 */
export function singlesAt(input: SearchInput, moments: readonly Anchor[]): WorldPlan[] {
  const kinds = new Map<FaultName, PlannedFault[]>(input.faults.map((kind) => [kind, []]));
  const near = byDistance(moments, input.among.clients);
  for (const form of [...untilEntered(input), ...formsOf(input)])
    kinds.get(form.kind)?.push(...faultsOf(form, near, input.among.clients));
  const lists = [...kinds.values()].map((all) => {
    // Every form at one act, then every form at the next one.
    const rank = ({ after }: PlannedFault): number => near.indexOf(after as Anchor);
    return all.sort((one, other) => rank(one) - rank(other));
  });
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const turns = Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1)));
  return turns.flat().map((fault) => planOf(input, [fault]));
}

/** The acts, those close to an entry of their client first. The first client has two turns, the second one, and then the others. */
function byDistance(moments: readonly Anchor[], clients: readonly string[]): Anchor[] {
  const [first = [], second = [], ...others] = clients.map((name) =>
    sortedByDistance(moments.filter(({ client }) => client === name)),
  );
  const turns: Anchor[] = [];
  for (let i = 0; i < first.length || i < 2 * second.length; i += 2)
    turns.push(...first.slice(i, i + 2), ...second.slice(i / 2, i / 2 + 1));
  return [...turns, ...others.flat()];
}

/** The acts of one client by how many other acts of it are between each of them and its next or last entry. */
function sortedByDistance(acts: readonly Anchor[]): Anchor[] {
  const entries = acts.flatMap(({ what }, at) => (what === 'enters' ? [at] : []));
  const distance = (at: number): number => Math.min(...entries.map((entry) => Math.abs(entry - at)));
  return acts
    .map((act, at) => ({ act, far: distance(at) }))
    .sort((one, other) => one.far - other.far || acts.indexOf(one.act) - acts.indexOf(other.act))
    .map(({ act }) => act);
}

/** In real time nothing happens at once: a pause ends where it does most harm when it ends as soon as another client is inside. */
function untilEntered({ faults, bounds = [], among, scales }: SearchInput): FaultForm[] {
  const isBound = bounds.some(
    ({ kind, ms, longest }) => kind === 'client-pause' && (ms ?? longest) !== undefined,
  );
  if (!faults.includes('client-pause') || isBound) return [];
  const ms = Math.round(2.5 * scales.leaseMs);
  return among.clients.map((on) => ({ kind: 'client-pause', variant: { on, ms, how: 'entered' as never } }));
}

function faultsOf(
  { kind, variant }: FaultForm,
  moments: readonly Anchor[],
  clients: readonly string[],
): PlannedFault[] {
  const { on = '' } = variant;
  const own = clients.includes(on) ? moments.filter(({ client }) => client === on) : moments;
  const at = faultKinds[kind].anytime === true ? own.slice(0, 1) : own;
  return at.map((after) => ({ ...faultOf(kind, 0, variant), after }));
}

/** Two faults, and faults at random moments behind acts, in turns, without end. */
function* mixed(input: SearchInput, singles: readonly WorldPlan[]): Generator<DrawnPlan, void> {
  const random = new Random(input.seed, 'programs mixed');
  const faults = singles.flatMap((plan) => plan.faults);
  if (faults.length === 0) {
    for (;;) yield { plan: { ...planOf(input, []), jitter: 1 }, strategy: 'random' };
  }
  const { clients } = input.among;
  // Those that were played first are drawn more often.
  const early = (): PlannedFault => faults[Math.floor(random.next() ** 2 * faults.length)] as PlannedFault;
  for (;;) {
    const two = [early(), early()];
    yield { plan: planOf(input, two), strategy: 'two faults' };
    const later = Math.round(random.next() * 1.5 * input.scales.leaseMs);
    const fault = early();
    const longer = 10 ** (random.next() - 0.5);
    const ms = fault.ms === 0 ? 0 : Math.max(1, Math.round(fault.ms * longer));
    const moved = fault.after === undefined ? fault : { ...fault, ms, after: { ...fault.after, later } };
    const more = random.next() < 0.3 ? [early()] : [];
    // Jitter stands for a free start: all clients begin together.
    const jitter = random.next() < 0.5 ? 1 : 0;
    const plan = planOf(input, [moved, ...more]);
    yield { plan: { ...plan, jitter, clients: shuffled([...clients], random) }, strategy: 'random' };
  }
}

/** A plan that is to be played. */
export interface QueuedPlan extends DrawnPlan {
  /** Counts from 1: how often it is played, with this time. */
  readonly trial: number;
}

/** What is played next: the world without faults, then those with one fault, then the others. Worlds that did not count come again. */
export class PlanQueue {
  readonly #again: QueuedPlan[] = [];
  readonly #plans: Iterator<DrawnPlan, void>;

  constructor(input: SearchInput, singles: readonly WorldPlan[]) {
    this.#plans = inOrder(input, singles);
  }

  /** The next plan. */
  next(): QueuedPlan | undefined {
    const repeated = this.#again.shift();
    if (repeated !== undefined) return repeated;
    const next = this.#plans.next();
    return next.done === true ? undefined : { ...next.value, trial: 1 };
  }

  /** The machine stood still in this world: it is played again, unless that has happened too often. */
  putBack(plan: QueuedPlan): void {
    if (plan.trial < MOST_TRIALS) this.#again.push({ ...plan, trial: plan.trial + 1 });
  }
}

function* inOrder(input: SearchInput, singles: readonly WorldPlan[]): Generator<DrawnPlan, void> {
  const { seed, among } = input;
  yield { plan: { seed, clients: among.clients, jitter: 0, faults: [] }, strategy: WITHOUT_FAULTS };
  for (const plan of singles) yield { plan, strategy: ONE_FAULT };
  yield* mixed(input, singles);
}
