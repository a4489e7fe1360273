/** Explores: plays worlds by one strategy after another, and turns those that break promises into findings. */
import { badOption } from '../base/options.ts';
import { LOSTLOCK_VERSION } from '../base/version.ts';
import { present } from '../lab/time/current-world.ts';
import { landmarksByPlan, timed } from './anchors/resolve.ts';
import type { Captured } from './capture.ts';
import { describe } from './describe.ts';
import type { Participants, Scales } from './faults/fault.ts';
import { type FaultName, faults as faultKinds } from './faults/index.ts';
import {
  findingOf,
  firstOfEach,
  kindsOf,
  type ReasonedFailing,
  reasoned,
  sorted,
  toldFinding,
} from './findings.ts';
import { FoundReasons, isVague } from './found.ts';
import { historyOf } from './history.ts';
import { judge } from './judge.ts';
import { askedOf, type FullOptions } from './options.ts';
import { encodePlan, NO_HASH, type WorldPlan } from './plan.ts';
import { playWorld } from './play.ts';
import type { PlayedWorld } from './played-world.ts';
import { isSame, NO_ERROR } from './promises/broken.ts';
import { calmDifferenceOf, differenceOf } from './repeat.ts';
import { ExploreReport } from './report.ts';
import type { ReportData } from './report-data.ts';
import type { Rules } from './run.ts';
import { strategies } from './search/index.ts';
import { ONE_FAULT, singles } from './search/one-fault.ts';
import { Pairs } from './search/pairs.ts';
import { isSameReason, reducible } from './search/same-reason.ts';
import { type Failing, type Reducible, shrink, withAnchors } from './search/shrink.ts';
import { momentsOf, statesOf } from './search/states.ts';
import type { SearchInput, SearchScales } from './search/strategy.ts';
import { survey } from './search/survey.ts';
import type { StageSet } from './stage/controls.ts';
import { NO_FAULT } from './table.ts';
import { WorldCounts } from './world-counts.ts';

/** How many errors of the lab are kept. */
const MOST_ERRORS = 5;

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
  readonly #corpus: WorldPlan[] = [];
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
  readonly #begun = performance.now();

  constructor(options: FullOptions, output: Captured, watch?: ProgressWatch) {
    this.#options = options;
    this.#output = output;
    this.#watch = watch;
    this.#found = new FoundReasons(options.accept);
    this.#counts = new WorldCounts(options.promises);
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
    const { budget, signal } = this.#options;
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
    if (first !== undefined) this.#notRepeatable ??= calmDifferenceOf(world, first);
    const input: SearchInput = {
      seed,
      among: participantsOf(this.#options, world),
      scales: rules.scales,
      faults,
      bounds,
      moments: momentsOf(world, rules.scales.leaseMs),
      span: Math.max(world.span, 1),
      depth,
    };
    const { plans: one, cut } = singles(input);
    const share = this.#share(one);
    this.#singles = { all: one.length, share: share.length, played: 0, cut };
    if (exhaustive === 2) this.#second = new Pairs(input);
    await this.#playAll(rules, share);
    if (exhaustive === undefined) {
      const before = { singles: one, corpus: this.#corpus };
      await this.#playMixed(
        rules,
        strategies.map(({ name, plans }) => [name, plans(input, before)]),
      );
    }
    for (const plan of this.#second?.plans ?? []) {
      if (this.#over) break;
      await this.#take(rules, plan, 'two faults');
    }
  }

  /** The part of the plans that is this shard's. */
  #share<T>(plans: readonly T[]): T[] {
    const { index, of } = this.#options.shard;
    return plans.filter((_, i) => i % of === index - 1);
  }

  async #playAll(rules: Rules, plans: readonly WorldPlan[]): Promise<void> {
    for (const plan of plans) {
      if (this.#over) return;
      await this.#take(rules, plan, ONE_FAULT);
      this.#singles.played++;
    }
  }

  async #playMixed(
    rules: Rules,
    strategies: readonly [string, Generator<WorldPlan | undefined, void>][],
  ): Promise<void> {
    const { index, of } = this.#options.shard;
    let idle = 0;
    for (let turn = 0; !this.#over && idle < strategies.length; turn++) {
      const [name, plans] = strategies[turn % strategies.length] as (typeof strategies)[number];
      let plan: WorldPlan | undefined;
      // Each shard takes its own part of what the strategy draws.
      for (let skip = 0; skip < of; skip++) {
        const next = plans.next();
        if (next.done !== true && skip === index - 1) plan = next.value ?? undefined;
      }
      idle = plan === undefined ? idle + 1 : 0;
      if (plan !== undefined) await this.#take(rules, plan, name);
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
    this.#counts.add(world, this.#worlds === 1);
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
      this.#corpus.push(world.plan);
  }

  /** A promise is broken: for a known reason, or for a new one, whose world is then made smaller. */
  async #broken(rules: Rules, failing: ReasonedFailing, strategy: string): Promise<void> {
    const { fingerprint } = failing;
    if (this.#found.counted(fingerprint)) return;
    const firstIn = this.#worlds;
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
      // After Ctrl-C, or an abort, the story is told as it is.
      if (this.#options.signal?.aborted === true) return undefined;
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
    return judge(world, this.#options.promises, this.#options.own)
      .filter((breach) => isSame(breach, first.breach))
      .map((breach) => reducible({ plan, world, breach }))
      .find((next) => isSameReason(first, next) || (isVague(first) && isVague(next)));
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
      ...(this.#second !== undefined && { pairs: this.#second.plans.length }),
    };
    const interrupted = this.#options.signal?.aborted === true;
    const { name } = this.#options;
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

/** Throws TypeError when a fault is bound to a client or node that no world has. */
function checkParties({ bounds, clients }: FullOptions, { sets }: PlayedWorld): void {
  const names = [...clients, ...sets.flatMap(({ nodes }) => nodes.map(({ name }) => name))];
  for (const { on } of bounds)
    if (on !== undefined && !names.includes(on)) throw badOption('faults.on', on, names.join(', '));
}

/** True when clients ask replicas: by WAIT or WAITAOF, or by reading from them. */
function asksReplicas(clients: readonly string[], { events, sets }: PlayedWorld): boolean {
  const replicas = new Set(sets.flatMap((set) => set.replicas.map(({ name }) => name)));
  if (replicas.size === 0) return false;
  const isCluster = sets.some(({ decides }) => decides === 'a cluster');
  return events.some(({ what, who, detail }) => {
    const [from = '', to = ''] = who.split('>');
    if (what !== 'data' || !clients.includes(from.split(':')[0] as string)) return false;
    // Clients of a cluster ask its replicas for its shape.
    const reads = !isCluster && replicas.has(to.split(':')[0] as string);
    return reads || /\r\n(?:wait|waitaof)\r\n/i.test(detail);
  });
}

/** Throws TypeError for a fault that was named, and that can strike nothing in this topology. */
function checkFaults(options: FullOptions, among: Participants, scales: Scales): void {
  if (!options.named.namesFaults) return;
  const able = options.faults.filter((kind) => faultKinds[kind].variants(among, scales).length > 0);
  for (const kind of options.faults)
    if (!able.includes(kind))
      throw badOption(
        'faults',
        kind,
        `faults that can strike this topology and these clients: ${able.join(', ')}`,
      );
}

/** What faults can strike. Sets in which no client wrote are alike: the first of them stands for all. */
function participantsOf({ clients }: FullOptions, world: PlayedWorld): Participants {
  const writes = historyOf(world).writes.filter(({ client }) => client !== undefined);
  const busy = new Set(writes.map(({ node }) => node));
  const isBusy = ({ nodes }: StageSet): boolean => nodes.some(({ name }) => busy.has(name));
  const idle = world.sets.find((set) => !isBusy(set));
  const sets = world.sets.filter((set) => isBusy(set) || set === idle);
  return {
    clients,
    sets: sets.map(({ nodes }) => nodes.map(({ name }) => name)),
    sentinels: sets.some(({ decides }) => decides === 'Sentinels'),
    cluster: sets.some(({ decides }) => decides === 'a cluster'),
    asksReplicas: asksReplicas(clients, world),
  };
}
