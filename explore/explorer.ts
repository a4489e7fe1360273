/** Explores: plays worlds by one strategy after another, and turns those that break promises into findings. */
import type { Captured } from './capture.ts';
import type { Cast, Scales } from './faults/scene.ts';
import { type PlayedWorld, PROBE, playWorld, type Rules } from './game.ts';
import { historyOf } from './history.ts';
import { judge, type UserPromise } from './judge.ts';
import type { Breach } from './ledger.ts';
import type { FaultName } from './names.ts';
import type { NodeSet } from './node-set.ts';
import type { FullOptions } from './options.ts';
import { encodePlan, type WorldPlan } from './plan.ts';
import { describeDifference } from './repeat.ts';
import { ExploreReport, type Finding } from './report.ts';
import { Pairs } from './search/pairs.ts';
import { type Failing, shrink } from './search/shrink.ts';
import { momentsOf, statesOf } from './search/states.ts';
import { guided, pairs, prioritized, randomPlans, type SearchGround, singles } from './search/strategies.ts';
import { eventsOf, storyText } from './story.ts';

/** Leases that are longer are no scale for faults: nobody waits for them. In milliseconds. */
const LONGEST_LEASE = 60_000;
/** A lock whose lease is longer is taken for one that a dead client keeps closed. In milliseconds. */
const LONGEST_HOLD = 600_000;
/** What a lease is taken to be when no key has one, in milliseconds. */
const NO_LEASE = 1000;
/** How long ioredis needs to be connected again after a failover, with its default retries, in milliseconds. */
const RECONNECT = 250;
/** Every this many worlds, other code of the process gets a turn. */
const BREATHES = 20;

/** One exploration. */
export class Explorer {
  readonly #options: FullOptions;
  readonly #output: Captured;
  readonly #groups: Finding[] = [];
  readonly #faults: Partial<Record<FaultName, number>> = {};
  readonly #states = new Set<string>();
  readonly #strategies: Record<string, number> = {};
  readonly #corpus: WorldPlan[] = [];
  #contended = 0;
  #worlds = 0;
  #singles = { all: 0, played: 0, cut: 0 };
  /** Collects the worlds with two faults, if all of them are to be played. */
  #second: Pairs | undefined;
  readonly #begun = performance.now();

  constructor(options: FullOptions, output: Captured) {
    this.#options = options;
    this.#output = output;
  }

  get #time(): number {
    return performance.now() - this.#begun;
  }

  get #over(): boolean {
    const { budget, signal } = this.#options;
    return this.#worlds >= budget.worlds || this.#time >= budget.ms || signal?.aborted === true;
  }

  /** Explores until the budget is used up. */
  async explore(): Promise<ExploreReport> {
    const { clients, seed, faults, depth, exhaustive } = this.#options;
    const calm: WorldPlan = { seed, clients, jitter: 0, faults: [] };
    const { rules, world } = await survey(this.#options);
    // Played again: the survey did not know yet how long clients may take, and what is left behind.
    await this.#take(rules, calm, 'without faults');
    const ground: SearchGround = {
      seed,
      cast: castOf(this.#options, world),
      scales: rules.scales,
      faults,
      moments: momentsOf(world, rules.scales.leaseMs),
      span: Math.max(world.span, 1),
    };
    const { plans: one, cut } = singles(ground);
    this.#singles = { all: one.length, played: 0, cut };
    if (exhaustive === 2) this.#second = new Pairs(ground);
    await this.#playAll(rules, this.#share(one));
    if (exhaustive === undefined) {
      await this.#playMixed(rules, [
        ['two faults', pairs(ground, one)],
        ['random', randomPlans(ground)],
        ['priorities', prioritized(ground, depth)],
        ['guided', guided(ground, this.#corpus)],
      ]);
    }
    for (const plan of this.#second?.plans ?? []) {
      if (this.#over) break;
      await this.#take(rules, plan, 'two faults');
    }
    this.#addContended();
    return this.#report();
  }

  /** The part of the plans that is this shard's. */
  #share<T>(plans: readonly T[]): T[] {
    const { index, of } = this.#options.shard;
    return plans.filter((_, i) => i % of === index - 1);
  }

  async #playAll(rules: Rules, plans: readonly WorldPlan[]): Promise<void> {
    for (const plan of plans) {
      if (this.#over) return;
      await this.#take(rules, plan, 'one fault');
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

  /** Plays a plan, and notes what it covered and broke. */
  async #take(rules: Rules, plan: WorldPlan, strategy: string): Promise<void> {
    const { own, promises, progress, name, budget } = this.#options;
    const world = await playWorld(rules, plan);
    this.#worlds++;
    this.#strategies[strategy] = (this.#strategies[strategy] ?? 0) + 1;
    for (const kind of new Set(world.struck.map((fault) => fault.kind as FaultName))) {
      this.#faults[kind] = (this.#faults[kind] ?? 0) + 1;
    }
    if (world.contended) this.#contended++;
    this.#cover(world, rules.scales);
    if (strategy === 'one fault') this.#second?.add(world);
    const breaches = firstOfEach(judge(world, promises, own), own);
    for (const breach of breaches) await this.#found(rules, { plan, world, breach });
    progress({
      ...{ name, worlds: this.#worlds, of: budget.worlds, findings: this.#groups.length },
      ...{ perSecond: this.#worlds / (this.#time / 1000), states: this.#states.size, strategy },
      struck: Object.keys(this.#faults).length,
    });
    if (this.#worlds % BREATHES === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  #cover(world: PlayedWorld, { leaseMs }: Scales): void {
    const before = this.#states.size;
    for (const state of statesOf(world, leaseMs)) this.#states.add(state);
    if (this.#states.size > before && world.plan.faults.length > 0 && world.breaches.length === 0)
      this.#corpus.push(world.plan);
  }

  /** A promise is broken: by a known cause, or by a new one, of which the shortest story is sought. */
  async #found(rules: Rules, failing: Failing): Promise<void> {
    const kinds = kindsOf(failing.world);
    const known = this.#groups.find(
      ({ promise, cause }) => promise === failing.breach.promise && isPartOf(cause, kinds),
    );
    if (known !== undefined) {
      known.worlds++;
      return;
    }
    const firstIn = this.#worlds;
    const again = await playWorld(rules, failing.plan);
    const difference =
      again.hash() === failing.world.hash() ? undefined : describeDifference(failing.world, again);
    const attempt = (plan: WorldPlan): Promise<Failing | undefined> =>
      this.#attempt(rules, plan, failing.breach.promise);
    const smallest = await shrink(failing, attempt);
    const cause = kindsOf(smallest.world).join(' + ') || 'no fault';
    const same = this.#groups.find(
      (group) => group.promise === failing.breach.promise && group.cause === cause,
    );
    if (same !== undefined) same.worlds++;
    else this.#groups.push(findingOf(this.#options.name, smallest, cause, firstIn, difference));
  }

  async #attempt(rules: Rules, plan: WorldPlan, promise: string): Promise<Failing | undefined> {
    // After Ctrl-C, or an abort, the story is told as it is.
    if (this.#options.signal?.aborted === true) return undefined;
    const world = await playWorld(rules, plan);
    const breach = judge(world, this.#options.promises, this.#options.own).find(
      (each) => each.promise === promise,
    );
    return breach === undefined ? undefined : { plan, world, breach };
  }

  /** Worlds in which nobody waited, or no fault struck, prove nothing. */
  #addContended(): void {
    const { promises, faults, clients, name } = this.#options;
    if (!promises.has('contended')) return;
    const add = (cause: string, what: string): void => {
      const story = `${name}: contended is broken: ${what}`;
      this.#groups.push({
        promise: 'contended',
        cause,
        what,
        events: [],
        story,
        replay: '',
        worlds: this.#worlds,
        firstIn: 0,
        notRepeatable: undefined,
      });
    };
    if (this.#contended === 0 && clients.length > 1)
      add('no contention', 'no client ever waited for another, so that nothing is proved');
    if (faults.length > 0 && Object.keys(this.#faults).length === 0)
      add('no fault struck', 'no fault ever struck, so that nothing is proved');
  }

  #report(): ExploreReport {
    const coverage = {
      faults: this.#faults,
      states: this.#states.size,
      contended: this.#contended,
      strategies: this.#strategies,
      singles: this.#singles,
      ...(this.#second !== undefined && { pairs: this.#second.plans.length }),
    };
    const interrupted = this.#options.signal?.aborted === true;
    const { name } = this.#options;
    return new ExploreReport({
      name,
      findings: this.#groups,
      worlds: this.#worlds,
      coverage,
      ms: this.#time,
      interrupted,
      output: this.#output,
    });
  }
}

/** Plays the world without faults, and learns from it how long things take. Rejects when nobody enters a resource. */
export async function survey(options: FullOptions): Promise<{ rules: Rules; world: PlayedWorld }> {
  const { topology, client, promises, clients, seed } = options;
  const scales = { leaseMs: NO_LEASE, reconnectMs: RECONNECT };
  const rough: Rules = {
    topology,
    code: client,
    scales,
    promises,
    remains: undefined,
    written: new Set(),
    patienceMs: LONGEST_LEASE,
    holdMs: LONGEST_LEASE,
  };
  const world = await playWorld(rough, { seed, clients, jitter: 0, faults: [] });
  if (world.visits.length === 0) {
    const trouble = world.lines
      .map(({ who, what }) => `${who} ${what}`)
      .slice(0, 3)
      .join('; ');
    const what = 'without any fault, no client entered a resource with resource(name).enter()';
    // The cause first: a mistake in the code, mostly.
    const error = new TypeError(`${options.name}: ${trouble === '' ? what : `${trouble}; ${what}`}`);
    throw Object.assign(error, { code: 'LOSTLOCK_NO_WORLD' });
  }
  const leases = leasesOf(world);
  const scale = leases.map(({ ms }) => ms).filter((ms) => ms <= LONGEST_LEASE);
  const leaseMs = scale.length === 0 ? NO_LEASE : Math.min(...scale);
  // A key that a client deletes may be what others wait for.
  const holds = leases.filter(({ isReleased, ms }) => isReleased && ms <= LONGEST_HOLD).map(({ ms }) => ms);
  const holdMs = Math.max(leaseMs, ...holds);
  const patienceMs = Math.max(10_000, 4 * leaseMs, 2 * holdMs + 4 * RECONNECT);
  // If the lock stayed closed, what was left behind is wrong.
  const closed = world.breaches.some(({ promise }) => promise === 'no-orphan' || promise === 'progress');
  const written = new Set(
    world.visits.filter(({ writes }) => writes.length > 0).map(({ resource }) => resource),
  );
  const remains = closed ? undefined : world.remains;
  const rules = { ...rough, scales: { ...scales, leaseMs }, holdMs, remains, written, patienceMs };
  return { rules, world };
}

/** The leases that keys were given, in milliseconds, and whether a client has deleted the key. */
function leasesOf(world: PlayedWorld): { readonly ms: number; readonly isReleased: boolean }[] {
  const deleted = new Set(
    world.world?.writes.flatMap(({ write: { client, type, key } }) =>
      client !== undefined && client !== PROBE && type === 'none' ? [key] : [],
    ),
  );
  return historyOf(world).writes.flatMap(({ command, at }) => {
    const words = command.map((word) => word.toUpperCase());
    const px = words.indexOf('PXAT');
    const deadline = px > 0 ? command[px + 1] : words[0] === 'PEXPIREAT' ? command[2] : undefined;
    const lease = deadline === undefined ? Number.NaN : Number(deadline) - world.startedAt - at;
    return lease >= 10 ? [{ ms: Math.round(lease), isReleased: deleted.has(command[1] as string) }] : [];
  });
}

/** What faults can strike. Sets in which no client wrote are alike: the first of them stands for all. */
function castOf({ clients }: FullOptions, world: PlayedWorld): Cast {
  const writes = historyOf(world).writes.filter(({ client }) => client !== undefined);
  const busy = new Set(writes.map(({ node }) => node));
  const isBusy = ({ nodes }: NodeSet): boolean => nodes.some(({ name }) => busy.has(name));
  const idle = world.sets.find((set) => !isBusy(set));
  const sets = world.sets.filter((set) => isBusy(set) || set === idle);
  return {
    clients,
    sets: sets.map(({ nodes }) => nodes.map(({ name }) => name)),
    sentinels: sets.some(({ sentinels }) => sentinels.length > 0),
    cluster: sets.some(({ cluster }) => cluster !== undefined),
  };
}

/** The first breach of the known promises, of which others may be consequences, and of each promise of the user. */
function firstOfEach(breaches: readonly Breach[], own: readonly UserPromise[]): Breach[] {
  const owned = new Set(own.map(({ name }) => name));
  const seen = new Set<string>();
  return breaches.filter(({ promise }) => {
    const which = owned.has(promise) ? `own ${promise}` : '';
    return !seen.has(which) && seen.add(which);
  });
}

/** The kinds of the faults that struck. */
function kindsOf(world: PlayedWorld): string[] {
  return [...new Set(world.struck.map(({ kind }) => kind))].sort();
}

/** True when all kinds of the cause are among those that struck. */
function isPartOf(cause: string, kinds: readonly string[]): boolean {
  return cause === 'no fault' || cause.split(' + ').every((kind) => kinds.includes(kind));
}

function findingOf(
  name: string,
  { plan, world, breach }: Failing,
  cause: string,
  firstIn: number,
  difference: string | undefined,
): Finding {
  const events = eventsOf(world, breach);
  const title = `${name}: ${breach.promise} is broken (${cause})`;
  const unstable = difference === undefined ? '' : `\nThis world did not repeat: ${difference}`;
  return {
    promise: breach.promise,
    cause,
    what: breach.what,
    events,
    story: storyText(title, events) + unstable,
    replay: encodePlan(plan, world.hash()),
    worlds: 1,
    firstIn,
    notRepeatable: difference,
  };
}
