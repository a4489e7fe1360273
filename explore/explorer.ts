/** Explores: plays worlds by one strategy after another, and turns those that break promises into findings. */
import { LOSTLOCK_VERSION } from '../base/version.ts';
import { present } from '../lab/time/current-world.ts';
import { Random } from '../lab/time/random.ts';
import { landmarksByPlan, timed } from './anchors/resolve.ts';
import type { Captured } from './capture.ts';
import { describe } from './describe.ts';
import type { Scales } from './faults/fault.ts';
import type { FaultName } from './faults/index.ts';
import {
  findingOf,
  firstOfEach,
  kindsOf,
  type ReasonedFailing,
  reasoned,
  sorted,
  toldFinding,
} from './findings.ts';
import { FoundReasons } from './found.ts';
import { judge } from './judge.ts';
import { askedOf, type FullOptions } from './options.ts';
import { checkFaults, checkParties, participantsOf, refusedIn } from './participants.ts';
import { encodePlan, NO_HASH, type WorldPlan } from './plan.ts';
import { playWorld } from './play.ts';
import type { PlayedWorld } from './played-world.ts';
import { NO_ERROR } from './promises/broken.ts';
import { calmDifferenceOf, differenceOf } from './repeat.ts';
import { ExploreReport } from './report.ts';
import type { ExhaustiveCoverage, ReportData } from './report-data.ts';
import type { Rules } from './run.ts';
import { CORPUS, fits, isOfShard, type KeptFor, type PlanStore } from './search/corpus.ts';
import { GUIDED, mutated } from './search/guided.ts';
import { strategies } from './search/index.ts';
import { laterOrders } from './search/messages.ts';
import { EverySingle, everyMoment, momentsAfter } from './search/moments.ts';
import { ONE_FAULT, singles } from './search/one-fault.ts';
import { Pairs } from './search/pairs.ts';
import { brokenAlike, reducible } from './search/same-reason.ts';
import { Shares } from './search/shares.ts';
import { type Failing, type Reducible, shrink, withAnchors } from './search/shrink.ts';
import { momentsOf, statesOf } from './search/states.ts';
import {
  formsOf,
  type PlayedSoFar,
  type SearchInput,
  type SearchScales,
  type SecondChance,
} from './search/strategy.ts';
import { survey } from './search/survey.ts';
import { NO_FAULT } from './table.ts';
import { WorldCounts } from './world-counts.ts';

/** How many errors of the lab are kept. */
const MOST_ERRORS = 5;

/** How many worlds with one fault are kept, for a second fault in them. */
const MOST_SECONDS = 5000;

/** A reduction may go on until this many times the budget's time is over. */
const LATE = 1.1;

/** After this many turns in a row without a plan, the search ends. */
const MOST_IDLE = 50;

/** What an exhaustive exploration covers, while it counts. */
interface WritableCoverage extends Omit<ExhaustiveCoverage, 'orders'> {
  readonly orders: { all: number; played: number };
}

/** Every this many worlds, other code of the process gets a turn. */
const BREATHES = 20;

/** Hears how an exploration goes, so that its process can be replaced when it ends in the middle of a world. */
export interface ProgressWatch {
  /** A world is about to be played. @param replay what plays it again */
  playing(replay: string): void;
  /** A world was played. @param report what is known by now; it is made when it is asked for */
  played(report: () => ReportData): void;
}

/** One exploration. */
export class Explorer {
  readonly #options: FullOptions;
  readonly #output: Captured;
  readonly #watch: ProgressWatch | undefined;
  readonly #found: FoundReasons;
  /** In how many worlds each kind of fault struck. */
  readonly #faults: Partial<Record<FaultName, number>>;
  readonly #breaks: Record<string, Record<string, number>> = {};
  #calm = 0;
  readonly #states = new Set<string>();
  readonly #strategies: Record<string, number> = {};
  /** The plans that reached new states. */
  readonly #corpus: WorldPlan[] = [];
  /** Where such plans are kept from run to run; undefined when they are not. */
  readonly #store: PlanStore | undefined;
  readonly #kept = { read: 0, unfit: 0, played: 0, kept: 0 };
  readonly #counts: WorldCounts;
  readonly #labErrors: string[] = [];
  #worlds = 0;
  /** What was different when a world was played again, for the first world that did not repeat. */
  #notRepeatable: string | undefined;
  #singles = { all: 0, share: 0, played: 0, cut: 0 };
  /** What the first world has shown. */
  #scales: SearchScales | undefined;
  /** Collects the worlds with two faults, if all of them are to be played. */
  #second: Pairs | undefined;
  /** What an exhaustive exploration covers. */
  #all: WritableCoverage | undefined;
  readonly #begun = performance.now();

  /** @param store where plans are kept from run to run */
  constructor(options: FullOptions, output: Captured, watch?: ProgressWatch, store?: PlanStore) {
    this.#options = options;
    this.#store = store;
    this.#output = output;
    this.#watch = watch;
    this.#found = new FoundReasons(options.accept);
    this.#counts = new WorldCounts(options);
    this.#faults = Object.fromEntries(options.faults.map((name) => [name, 0]));
  }

  /** How many kinds of faults have struck. */
  get #struck(): number {
    return Object.values(this.#faults).filter((count) => count > 0).length;
  }

  get #time(): number {
    return performance.now() - this.#begun;
  }

  get #over(): boolean {
    const { budget, signal, stopAtFirst } = this.#options;
    if (stopAtFirst && this.#found.findings.length > 0) return true;
    return this.#worlds >= budget.worlds || this.#time >= budget.ms || signal?.aborted === true;
  }

  /** Explores until the budget is used up. Rejects only when the first world, which has no faults, is of no use. */
  async explore(): Promise<ExploreReport> {
    const { clients, seed } = this.#options;
    this.#watch?.playing(encodePlan({ seed, clients, jitter: 0, faults: [] }, NO_HASH));
    const { rules, world } = await survey(this.#options);
    this.#scales = rules.scales;
    checkParties(this.#options, world);
    checkFaults(this.#options, participantsOf(this.#options, world), rules.scales);
    // From here on there is something to lose: whatever goes wrong is told in the report.
    await this.#search(rules, world).catch((error: unknown) => this.#failed('the search ends', error));
    return this.#report();
  }

  async #search(rules: Rules, world: PlayedWorld): Promise<void> {
    const { clients, seed, faults, bounds, depth, exhaustive } = this.#options;
    const calm: WorldPlan = { seed, clients, jitter: 0, faults: [] };
    // Played again: the survey did not know yet how long clients may take, and what is left behind.
    const first = await this.#take(rules, calm, 'without faults');
    if (first !== undefined && calmDifferenceOf(world, first) !== undefined) {
      const third = await this.#playWorld(rules, calm);
      const isSettled = calmDifferenceOf(first, third) === undefined;
      this.#notRepeatable ??= calmDifferenceOf(world, first, isSettled);
    }
    const input: SearchInput = {
      seed,
      among: participantsOf(this.#options, world),
      scales: rules.scales,
      faults,
      bounds,
      moments: momentsOf(world, rules.scales.leaseMs),
      span: Math.max(world.span, 1),
      depth,
      refused: refusedIn(world),
    };
    if (exhaustive === undefined) await this.#searchBroadly(rules, input);
    else await this.#searchAll(rules, input, first ?? world);
  }

  /** Plays what earlier runs have kept, and then one change of each such plan. They take half of the budget at most. */
  async #playKept(rules: Rules, input: SearchInput): Promise<void> {
    const { shard, budget, faults, bounds } = this.#options;
    const all = this.#store?.read() ?? [];
    const limits = { among: input.among, faults, bounds, leaseMs: input.scales.leaseMs };
    const fitting = all.filter((plan) => fits(plan, limits));
    this.#kept.read = all.length;
    this.#kept.unfit = all.length - fitting.length;
    const forms = formsOf(input);
    const random = new Random(input.seed, CORPUS);
    const share = fitting.filter((plan) => isOfShard(plan, shard));
    for (const plan of share) {
      if (this.#over || this.#worlds >= budget.worlds / 2) break;
      await this.#take(rules, plan, CORPUS);
      this.#kept.played++;
    }
    for (const plan of forms.length === 0 ? [] : share) {
      if (this.#over || this.#worlds >= budget.worlds / 2) return;
      await this.#take(rules, { ...plan, faults: mutated(input, forms, plan.faults, random) }, GUIDED);
    }
  }

  /** Keeps a plan for later runs. What cannot be written is told once. */
  #keep(plan: WorldPlan, why: KeptFor): void {
    try {
      if (this.#store?.keep(plan, why) === true) this.#kept.kept++;
    } catch (error) {
      this.#tell('a plan cannot be kept', error, '');
    }
  }

  /** Plays one fault at each state of the world without faults, and then what the strategies draw. */
  async #searchBroadly(rules: Rules, input: SearchInput): Promise<void> {
    await this.#playKept(rules, input);
    const { plans: one, cut, left } = singles(input);
    const share = this.#share(one);
    this.#singles = { all: one.length, share: share.length, played: 0, cut };
    const seconds: SecondChance[] = [];
    for (const plan of share) {
      if (this.#over) return;
      const world = await this.#take(rules, plan, ONE_FAULT);
      this.#singles.played++;
      if (world === undefined || world.struck.length === 0 || seconds.length >= MOST_SECONDS) continue;
      const moments = momentsAfter(world, plan.faults[0]?.at ?? 0);
      if (moments.length > 0) seconds.push({ plan, moments });
    }
    await this.#playMixed(rules, input, { singles: one, left, seconds, corpus: this.#corpus });
  }

  /** Plays everything that `exhaustive` promises. @param calm the world without faults */
  async #searchAll(rules: Rules, input: SearchInput, calm: PlayedWorld): Promise<void> {
    const { shard, exhaustive, late } = this.#options;
    const { at, events, deadlines } = everyMoment(calm);
    const every = new EverySingle(input, at);
    const share = Math.ceil((every.length - shard.index + 1) / shard.of);
    this.#singles = { all: every.length, share, played: 0, cut: 0 };
    const { forms } = every;
    this.#all = { moments: at.length, events, deadlines, forms, late, orders: { all: 0, played: 0 } };
    if (exhaustive === 2) this.#second = new Pairs(input);
    await this.#playOrders(rules, calm, late.alone, true);
    for (const plan of every.plans(shard)) {
      if (this.#over) return;
      const world = await this.#take(rules, plan, ONE_FAULT);
      this.#singles.played++;
      if (world !== undefined) await this.#playOrders(rules, world, late.besideFault, false);
    }
    for (const plan of this.#second?.plans ?? []) {
      if (this.#over) break;
      await this.#take(rules, plan, 'two faults');
    }
  }

  /** Plays a world's other orders of messages, with up to `late` more late ones. @param shared whether the shards share them */
  async #playOrders(rules: Rules, world: PlayedWorld, late: number, shared: boolean): Promise<void> {
    const orders = this.#all?.orders;
    if (late === 0 || orders === undefined) return;
    const all = [...laterOrders(world)];
    const plans = shared ? this.#share(all) : all;
    orders.all += plans.length;
    for (const plan of plans) {
      if (this.#over) return;
      const other = await this.#take(rules, plan, 'other orders');
      orders.played++;
      if (other !== undefined) await this.#playOrders(rules, other, late - 1, false);
    }
  }

  /** The part of the plans that is this shard's. */
  #share<T>(plans: readonly T[]): T[] {
    const { index, of } = this.#options.shard;
    return plans.filter((_, i) => i % of === index - 1);
  }

  async #playMixed(rules: Rules, input: SearchInput, before: PlayedSoFar): Promise<void> {
    const { index, of } = this.#options.shard;
    const drawing = new Map(strategies.map(({ name, plans }) => [name, plans(input, before)]));
    const shares = new Shares([...drawing.keys()]);
    let idle = 0;
    while (!this.#over && idle <= MOST_IDLE) {
      const name = shares.next();
      if (name === undefined) return;
      const plans = drawing.get(name) as Generator<WorldPlan | undefined, void>;
      let plan: WorldPlan | undefined;
      let isDone = false;
      // Each shard takes its own part of what the strategy draws.
      for (let skip = 0; skip < of; skip++) {
        const next = plans.next();
        isDone ||= next.done === true;
        if (next.done !== true && skip === index - 1) plan = next.value ?? undefined;
      }
      if (plan === undefined) {
        idle++;
        if (isDone) shares.ended(name);
        else shares.idle(name);
        continue;
      }
      idle = 0;
      const [found, states] = [this.#found.findings.length, this.#states.size];
      await this.#take(rules, plan, name);
      shares.played(name, this.#found.findings.length - found, this.#states.size > states);
    }
  }

  /** Plays a plan, and notes what it covered and broke. Returns undefined when it cannot be played. */
  async #take(rules: Rules, plan: WorldPlan, strategy: string): Promise<PlayedWorld | undefined> {
    this.#worlds++;
    let world: PlayedWorld | undefined;
    try {
      world = await this.#play(rules, plan, strategy);
    } catch (error) {
      this.#failed(`world ${this.#worlds}, ${encodePlan(plan, NO_HASH)}, cannot be played`, error);
    }
    this.#watch?.played(() => this.#report());
    this.#showProgress(strategy);
    if (this.#worlds % BREATHES === 0)
      await new Promise<void>((resolve) => present.real.setImmediate(resolve));
    return world;
  }

  async #play(rules: Rules, plan: WorldPlan, strategy: string): Promise<PlayedWorld> {
    const { own, promises, accept } = this.#options;
    const world = await this.#playWorld(rules, plan);
    this.#strategies[strategy] = (this.#strategies[strategy] ?? 0) + 1;
    const kinds = asked(kindsOf(world), this.#options);
    for (const kind of kinds) this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
    if (kinds.length === 0) this.#calm++;
    this.#counts.add(world, this.#worlds === 1, rules.calm);
    this.#cover(world, rules.scales);
    if (strategy === ONE_FAULT) this.#second?.add(world);
    const all = judge(world, promises, own);
    const { accepted, others } = sorted(world, all, accept);
    const broken = firstOfEach(others, own);
    for (const promise of new Set(broken.map(({ breach }) => breach.promise)))
      for (const kind of kinds.length === 0 ? [NO_FAULT] : kinds) {
        const counts = (this.#breaks[kind] ??= {});
        counts[promise] = (counts[promise] ?? 0) + 1;
      }
    const known = new Map(accepted.map((each) => [each.fingerprint, each]));
    for (const failing of known.values()) await this.#broken(rules, failing, strategy);
    for (const { breach } of broken) await this.#broken(rules, reasoned({ plan, world, breach }), strategy);
    if (all.length === 0 && isSampled(this.#worlds)) await this.#playAgain(rules, { plan, world });
    return world;
  }

  #playWorld(rules: Rules, plan: WorldPlan): Promise<PlayedWorld> {
    this.#watch?.playing(encodePlan(plan, NO_HASH));
    return playWorld(rules, plan);
  }

  #showProgress(strategy: string): void {
    const { progress, name, budget } = this.#options;
    try {
      progress({
        ...{ name, worlds: this.#worlds, of: budget.worlds, findings: this.#found.findings.length },
        ...{ perSecond: this.#worlds / (this.#time / 1000), states: this.#states.size, strategy },
        struck: this.#struck,
        coverage: { faults: this.#faults, calm: this.#calm, broken: this.#breaks },
        promises: askedOf(this.#options).promises,
      });
    } catch (error) {
      this.#tell('the function progress fails', error, '');
    }
  }

  /** Adds what went wrong, or counts it if it is known. @param replay what plays the world again, if it is one world's */
  #tell(what: string, error: unknown, replay: string): void {
    const breach = { promise: NO_ERROR, what: `${what}: ${describe(error)}` };
    this.#found.tell(toldFinding(this.#options.name, breach, 'exploration', this.#worlds, replay));
  }

  #cover(world: PlayedWorld, { leaseMs }: Scales): void {
    const before = this.#states.size;
    for (const state of statesOf(world, leaseMs)) this.#states.add(state);
    if (this.#states.size > before && world.plan.faults.length > 0 && world.breaches.length === 0)
      this.#remember(world.plan);
  }

  #remember(plan: WorldPlan): void {
    this.#corpus.push(plan);
    this.#keep(plan, 'state');
  }

  /** A promise is broken: for a known reason, or for a new one, whose world is then made smaller. */
  async #broken(rules: Rules, failing: ReasonedFailing, strategy: string): Promise<void> {
    const { fingerprint } = failing;
    if (this.#found.counted(fingerprint)) return;
    const firstIn = this.#worlds;
    if (failing.plan.faults.length > 0) this.#keep(failing.plan, 'finding');
    const difference = await this.#playAgain(rules, failing);
    const smallest = reasoned(await this.#reduced(rules, failing));
    const origin = { firstIn, strategy, difference };
    this.#found.add(fingerprint, smallest, () => findingOf(this.#options.name, smallest, origin));
  }

  /** Says what is different when the world is played again; undefined when it is the same. */
  async #playAgain(
    rules: Rules,
    { plan, world }: Pick<Failing, 'plan' | 'world'>,
  ): Promise<string | undefined> {
    const again = (): Promise<PlayedWorld> => this.#playWorld(rules, plan);
    const difference = await again()
      .then((second) => differenceOf(world, second, again))
      .catch((error: unknown) => `the second time it could not be played: ${describe(error)}`);
    this.#notRepeatable ??= difference;
    return difference;
  }

  /** The smallest world that breaks the promise for the same reason. Its faults are anchored to events. */
  async #reduced(rules: Rules, failing: ReasonedFailing): Promise<Failing> {
    const past = { ...rules, playOn: true };
    const play = landmarksByPlan((plan) => this.#playWorld(past, plan));
    const first = withAnchors(reducible(failing));
    const attempt = async (plan: WorldPlan): Promise<Reducible | undefined> => {
      // After Ctrl-C, an abort, or a limit that is well past, the story is told as it is.
      const { signal, budget } = this.#options;
      if (signal?.aborted === true || this.#time > budget.ms * LATE) return undefined;
      try {
        return await this.#attempt(rules, await timed(plan, play), first);
      } catch {
        // An event that an anchor names does not happen, or the world cannot be played.
        return undefined;
      }
    };
    return await shrink(first, attempt);
  }

  /** Plays a plan, and returns it if it breaks the same promise for the same reason. */
  async #attempt(rules: Rules, plan: WorldPlan, first: Reducible): Promise<Reducible | undefined> {
    const world = await this.#playWorld(rules, plan);
    const breaches = judge(world, this.#options.promises, this.#options.own);
    return brokenAlike(first, { plan, world, breaches });
  }

  /** Notes an error of the lab itself: what it ended proves nothing. */
  #failed(what: string, error: unknown): void {
    if (this.#labErrors.length < MOST_ERRORS) this.#labErrors.push(`${what}: ${describe(error)}`);
  }

  #report(): ExploreReport {
    const coverage = {
      faults: this.#faults,
      calm: this.#calm,
      broken: this.#breaks,
      states: this.#states.size,
      ...this.#counts.counted(),
      labErrors: this.#labErrors,
      strategies: this.#strategies,
      singles: this.#singles,
      modules: this.#options.modules,
      leases: this.#scales?.leases ?? [],
      scale: this.#scales?.leaseMs ?? 0,
      ...(this.#store !== undefined && { corpus: { ...this.#kept } }),
      ...(this.#second !== undefined && { pairs: this.#second.plans.length, pairsCut: this.#second.cut }),
      ...(this.#all !== undefined && { exhaustive: { ...this.#all, orders: { ...this.#all.orders } } }),
    };
    const interrupted = this.#options.signal?.aborted === true;
    const { name, hint } = this.#options;
    return new ExploreReport({
      versions: { lostlock: LOSTLOCK_VERSION, node: process.version },
      name,
      asked: askedOf(this.#options),
      findings: this.#found.findings,
      accepted: this.#found.accepted,
      worlds: this.#worlds,
      coverage,
      ms: this.#time,
      interrupted,
      output: this.#output,
      ...(hint !== undefined && { hint }),
      ...(this.#notRepeatable !== undefined && { notRepeatable: this.#notRepeatable }),
    });
  }
}

/** The kinds that were asked for: a message that the search by priorities makes late is none of them. */
function asked(kinds: readonly string[], { faults }: FullOptions): FaultName[] {
  return faults.filter((name) => kinds.includes(name));
}

/** True for the worlds that are played twice although they break nothing: the 2nd, 4th, 8th and so on. */
function isSampled(world: number): boolean {
  return world > 1 && (world & (world - 1)) === 0;
}
