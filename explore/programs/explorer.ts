/** Explores programs: plays worlds side by side in real time, and turns those that break promises into findings. */
import { LOSTLOCK_VERSION } from '../../base/version.ts';
import { comesTrue, pass } from '../../lab/real-clock/wait.ts';
import type { ProgramPort } from '../../lab/remote/programs/port.ts';
import { describe } from '../describe.ts';
import { firstOfEach, reasoned, sorted } from '../findings.ts';
import { FoundReasons } from '../found.ts';
import { judge } from '../judge.ts';
import { askedOf } from '../options.ts';
import { encodePlan, NO_HASH, type WorldPlan } from '../plan.ts';
import type { PlayedWorld } from '../played-world.ts';
import { ExploreReport } from '../report.ts';
import type { ProgramCoverage } from '../report-data.ts';
import { playOn, type Rules } from '../run.ts';
import { ONE_FAULT } from '../search/one-fault.ts';
import type { SearchInput } from '../search/strategy.ts';
import { type ClockedSurvey, learnt, roughRules } from '../search/survey.ts';
import { Crew, WorldDesk } from '../stage/programs/crew.ts';
import { LateTimers } from '../stage/programs/late-timers.ts';
import type { ProgramProcess } from '../stage/programs/process.ts';
import { type ProgramStageOptions, startProgramStage } from '../stage/programs/stage.ts';
import { type Breach, PROBE } from '../visit.ts';
import { Judges } from './judges.ts';
import type { FullProgramOptions } from './options.ts';
import { type DrawnPlan, MOST_TRIALS, momentsIn, PlanQueue, singlesAt } from './plans.ts';
import { SideBySide } from './side-by-side.ts';
import { type PlayedAgain, type Sighting, Sightings } from './sightings.ts';
import { WorldTally } from './tally.ts';

/** How long clients may go on after the last fault at least, in milliseconds. */
const LEAST_PATIENCE = 1500;
/** The part of a lease for which the machine may stand still in a world that counts. */
const STALL = 0.1;
/** How often the world without faults is tried. */
const CALM_TRIALS = 12;
/**
 * From the second half of these on, the machine may stand still so many times as long: the acts and the leases of a calm world are the
 * same then, and it is played once more as a world that counts.
 */
const CALM_STALLS = 3;
/** The longest lease that faults follow and that is waited for, in leases that the program was told. */
const LONGEST_LEASE = 10;
/** How often the progress is shown at most, in milliseconds: the time of all processors is read for it. */
const SHOWS_EVERY = 250;
/** How many errors of the lab are kept. */
const MOST_ERRORS = 5;

/** A played world, and what the machine did meanwhile. */
export interface PlayedProgramWorld {
  readonly world: PlayedWorld;
  /** How late timers were at most, and whose, when that is too late for the world to count. */
  readonly stalled: string | undefined;
}

/** One exploration of programs. */
export class ProgramExplorer {
  readonly #options: FullProgramOptions;
  readonly #judges: Judges;
  readonly #desk: WorldDesk;
  readonly #machine = new LateTimers();
  readonly #crews = new Set<Crew>();
  /** The time of the processor that crews have used that are gone, in milliseconds. */
  #usedMs = 0;
  readonly #found: FoundReasons;
  readonly #sightings: Sightings;
  readonly #beside: SideBySide;
  #tally: WorldTally;
  readonly #labErrors: string[] = [];
  readonly #output: string[] = [];
  #lines = 0;
  #attached: ProgramProcess | undefined;
  #worlds = 0;
  #discarded = 0;
  #outlived: string | undefined;
  #rules: Rules | undefined;
  #begun = performance.now();
  #cpuBegun = 0;
  /** When the progress was shown last. */
  #shown = -Infinity;

  constructor(options: FullProgramOptions) {
    const { full } = options;
    this.#options = options;
    this.#judges = new Judges(options.judged);
    this.#desk = new WorldDesk(this.#judges);
    this.#found = new FoundReasons(full.accept);
    this.#sightings = new Sightings(full.name, this.#found, () => this.#over);
    this.#tally = new WorldTally(full, 0);
    this.#beside = new SideBySide(options.sideBySide);
  }

  get #over(): boolean {
    const { budget, signal, stopAtFirst } = this.#options.full;
    if (stopAtFirst && this.#found.findings.length > 0) return true;
    return this.#worlds >= budget.worlds || this.#time >= budget.ms || signal?.aborted === true;
  }

  get #time(): number {
    return performance.now() - this.#begun;
  }

  /** Explores until the budget is used up. Rejects only when the world without faults is of no use. */
  async explore(): Promise<ExploreReport> {
    return await this.#withProcesses(async (crew) => {
      const { rules, moments } = await this.#survey(crew);
      this.#rules = rules;
      const input = this.#input(rules);
      const singles = singlesAt(input, moments);
      this.#tally = new WorldTally(this.#options.full, singles.length);
      this.#begun = performance.now();
      this.#cpuBegun = this.#cpu();
      await this.#playAll(rules, crew, new PlanQueue(input, singles));
      return this.#report();
    });
  }

  /** Plays a plan once, and returns the world; again while the machine stands still in it. */
  async replay(plan: WorldPlan): Promise<PlayedProgramWorld & { readonly rules: Rules }> {
    return await this.#withProcesses(async (crew) => {
      const { rules } = await this.#survey(crew);
      for (let trial = 1; ; trial++) {
        const played = await this.#playAnew(rules, plan);
        if (played.stalled === undefined || trial === MOST_TRIALS) return { ...played, rules };
      }
    });
  }

  get #aborted(): boolean {
    return this.#options.full.signal?.aborted === true;
  }

  /** Ends every process. */
  async #endProcesses(): Promise<void> {
    this.#desk.shut();
    await Promise.all([...this.#crews].map((crew) => crew.close()));
    if (this.#attached !== undefined) await this.#desk.end(this.#attached);
  }

  async #withProcesses<T>(work: (crew: Crew) => Promise<T>): Promise<T> {
    const { signal } = this.#options.full;
    let ending: Promise<void> | undefined;
    let judges: ProgramPort | undefined;
    const end = (): void => {
      this.#judges.close();
      ending = this.#endProcesses();
    };
    signal?.addEventListener('abort', end);
    try {
      const { attached, judged, judge } = this.#options;
      if (judged.length > 0) {
        judges = await this.#desk.ports.open();
        judge(`redis://127.0.0.1:${judges.port}`);
      }
      if (attached !== undefined) {
        this.#attached = await this.#desk.start({ command: [] });
        attached(`redis://127.0.0.1:${this.#attached.port.port}`);
      }
      return await work(this.#crew());
    } finally {
      signal?.removeEventListener('abort', end);
      this.#judges.close();
      await ending;
      if (judges !== undefined) {
        // First the judges get the answer that there are no more worlds.
        await pass(20);
        await judges.close();
      }
      await this.#endProcesses();
      this.#desk.close();
    }
  }

  #crew(): Crew {
    const { program, env, threads } = this.#options;
    const crew = new Crew(this.#desk, { command: program, env }, this.#attached ?? (threads || undefined));
    this.#crews.add(crew);
    return crew;
  }

  /** Ends the processes of a crew, and keeps how much they have used. */
  async #dismiss(crew: Crew): Promise<void> {
    await crew.close();
    this.#crews.delete(crew);
    this.#usedMs += crew.usedMs;
  }

  /** Plays the world without faults until the machine keeps up. Rejects with what is wrong with the program. */
  async #survey(crew: Crew) {
    const { full } = this.#options;
    const { clients, seed } = full;
    const rough = { ...roughRules(full), probeMs: this.#clocked.longest };
    let last = '';
    for (let trial = 1; trial <= CALM_TRIALS; trial++) {
      const stageOptions = this.#stageOptions(rough, 60_000, true);
      const stage = await startProgramStage(stageOptions, crew, { seed, clients, jitter: 0, faults: [] });
      const world = await playOn(stage, rough, { seed, clients, jitter: 0, faults: [] });
      await crew.back(this.#options.fresh);
      this.#hear(world);
      if (this.#aborted) break;
      const rules = learnt(full, roughRules(full), world, this.#clocked);
      const stalls = trial > CALM_TRIALS / 2 ? CALM_STALLS : 1;
      if (stage.watch.late <= stalls * this.#mostLate(rules)) {
        const moments = momentsIn(stage.anchors.seen.filter(({ client }) => client !== PROBE));
        return { rules: await this.#onServers(crew, rules), moments };
      }
      last = `${stage.watch.who} was ${Math.round(stage.watch.late)} ms late`;
    }
    if (this.#aborted) throw noWorld('ended before the world without faults was played');
    const text = `this machine is too busy: the world without faults was played ${CALM_TRIALS} times, and ${last} in the last one. Longer leases (--lease) make it matter less`;
    throw noWorld(text);
  }

  /** The rules with what is left on real servers after the world without faults. Rejects when the program does not work there. */
  async #onServers(crew: Crew, rules: Rules): Promise<Rules> {
    const { full, on } = this.#options;
    if (on === undefined) return rules;
    const { clients, seed } = full;
    const { world } = await this.#play(crew, rules, { seed, clients, jitter: 0, faults: [] });
    learnt(full, rules, world, this.#clocked);
    return { ...rules, remains: rules.remains === undefined ? undefined : world.remains };
  }

  get #clocked(): ClockedSurvey {
    const { lease: told } = this.#options;
    return { leastPatience: LEAST_PATIENCE, longest: LONGEST_LEASE * told, told };
  }

  #mostLate({ scales }: Rules): number {
    return STALL * scales.leaseMs;
  }

  /** @param isCalm true for the world without faults that is played first: lostlock's own nodes tell more about it */
  #stageOptions({ scales, calm }: Rules, patienceMs: number, isCalm = false): ProgramStageOptions {
    const { full, lease } = this.#options;
    return {
      ...{
        topology: full.topology,
        on: isCalm ? undefined : this.#options.on,
        desk: this.#desk,
        machine: this.#machine,
        lease,
        signal: full.signal,
      },
      turnMs: Math.max(300, scales.leaseMs),
      patienceMs: calm === undefined ? patienceMs : 2 * calm.span + 3 * scales.leaseMs + 500,
    };
  }

  #input(rules: Rules): SearchInput {
    const { seed, clients, faults, bounds, topology } = this.#options.full;
    const { primaries = 1, replicas = primaries > 1 ? 0 : 1 } = topology;
    const sets = Array.from({ length: primaries }, (_, i) =>
      Array.from({ length: replicas + 1 }, (_each, k) => `redis-${i * (replicas + 1) + k + 1}`),
    );
    return {
      ...{ seed, faults, bounds, moments: [], span: rules.calm?.span ?? 1, depth: 1, scales: rules.scales },
      among: { clients, sets, sentinels: false, cluster: false, asksReplicas: false },
    };
  }

  /** Players take plans until the budget is used up; how many of them play follows the machine. */
  async #playAll(rules: Rules, first: Crew, plans: PlanQueue): Promise<void> {
    const { sideBySide } = this.#options;
    const player = async (index: number): Promise<void> => {
      let crew: Crew | undefined = index === 0 ? first : undefined;
      while (!this.#over) {
        // A player beyond what the machine bears waits. Its processes wait too, because new ones start slowly.
        if (index >= this.#beside.now) {
          await comesTrue(() => index < this.#beside.now || this.#over, 2 ** 31, 50);
          continue;
        }
        crew ??= this.#crew();
        const drawn = plans.next();
        if (drawn === undefined) return;
        this.#worlds++;
        try {
          if (!(await this.#take(crew, rules, drawn))) {
            this.#worlds--;
            plans.putBack(drawn);
          }
        } catch (error) {
          this.#worlds--;
          if (this.#aborted) return;
          if (this.#labErrors.length < MOST_ERRORS)
            this.#labErrors.push(
              `${encodePlan(drawn.plan, NO_HASH)} cannot be played: ${describe(error, 400)}`,
            );
          await crew.close();
        }
        this.#showProgress();
      }
    };
    await Promise.all(Array.from({ length: sideBySide }, (_, i) => player(i)));
  }

  /** Plays a plan once in new processes. Those of the other worlds live on. */
  async #playAnew(rules: Rules, plan: WorldPlan): Promise<PlayedProgramWorld> {
    const crew = this.#crew();
    try {
      return await this.#play(crew, rules, plan, true);
    } finally {
      await this.#dismiss(crew);
    }
  }

  /** Plays a plan once. @param last true to end the processes after it */
  async #play(
    crew: Crew,
    rules: Rules,
    plan: WorldPlan,
    last: boolean = this.#options.fresh,
  ): Promise<PlayedProgramWorld> {
    const stage = await startProgramStage(this.#stageOptions(rules, 0), crew, plan);
    const world = await playOn(stage, rules, plan);
    await crew.back(last);
    this.#hear(world);
    const { late, who } = stage.watch;
    const stalled = late > this.#mostLate(rules) ? `${who} was ${Math.round(late)} ms late` : undefined;
    return { world, stalled };
  }

  /** Keeps what the program printed. */
  #hear({ output = [] }: PlayedWorld): void {
    this.#lines += output.length;
    for (const { who, what } of output) if (this.#output.length < 200) this.#output.push(`${who}: ${what}`);
  }

  /** Plays a plan, and notes what it covered and broke. Resolves to false when the world does not count. */
  async #take(crew: Crew, rules: Rules, drawn: DrawnPlan): Promise<boolean> {
    const { plan, strategy } = drawn;
    const { own, accept } = this.#options.full;
    const begun = performance.now();
    const { world, stalled } = await this.#play(crew, rules, plan);
    if (this.#aborted) return false;
    if (stalled !== undefined) {
      this.#discarded++;
      this.#beside.stalled(begun);
      return false;
    }
    this.#beside.keptUp();
    const number = this.#worlds;
    this.#tally.add(world, drawn, rules);
    const all = await this.#judge(world);
    const { accepted, others } = sorted(world, all, accept);
    const broken = firstOfEach(others, own);
    this.#tally.addBroken(world, new Set(broken.map(({ breach }) => breach.promise)));
    const known = new Map(accepted.map((each) => [each.fingerprint, each]));
    const reasons = [...known.values(), ...broken.map(({ breach }) => reasoned({ plan, world, breach }))];
    for (const failing of reasons) await this.#broken(rules, { failing, strategy, firstIn: number });
    if (all.length === 0 && !this.#options.fresh && isSampled(number))
      await this.#sample(rules, world, number);
    return true;
  }

  /** A promise is broken: the world is played again in new processes, to make it smaller, and to see how often it repeats. */
  #broken(rules: Rules, sighting: Sighting): Promise<void> {
    return this.#sightings.add(sighting, (plan) => this.#playAgain(rules, plan));
  }

  /**
   * Plays a plan again, and says what it breaks. A world in which the machine stood still does not tell. Resolves to undefined when none
   * does, or the exploration has ended.
   */
  async #playAgain(rules: Rules, plan: WorldPlan): Promise<PlayedAgain | undefined> {
    for (let trial = 0; trial < MOST_TRIALS && !this.#aborted; trial++) {
      const { world, stalled } = await this.#playAnew(rules, plan);
      if (this.#aborted) break;
      if (stalled === undefined) return { world, breaches: await this.#judge(world) };
      this.#discarded++;
    }
    return undefined;
  }

  /** A world that broke nothing is played again in new processes: state may outlive a world. */
  async #sample(rules: Rules, first: PlayedWorld, number: number): Promise<void> {
    const { accept } = this.#options.full;
    const { world, stalled } = await this.#playAnew(rules, first.plan);
    if (stalled !== undefined) return void this.#discarded++;
    const [broken] = sorted(world, await this.#judge(world), accept).others;
    if (broken === undefined) return;
    this.#outlived ??= `world ${number} broke nothing, and in new processes ${broken.breach.promise} is broken`;
    const failing = reasoned({ plan: first.plan, world, breach: broken.breach });
    await this.#broken(rules, { failing, strategy: ONE_FAULT, firstIn: number });
  }

  /** Every broken promise of the world, with those that another process judges. */
  async #judge(world: PlayedWorld): Promise<Breach[]> {
    const { promises, own } = this.#options.full;
    const judged = new Set(this.#options.judged);
    const others = own.filter(({ name }) => !judged.has(name));
    return judge(world, promises, [...others, ...(await this.#judges.of(world))]);
  }

  #cpu(): number {
    const { user, system } = process.cpuUsage();
    const crews = [...this.#crews].reduce((sum, { usedMs }) => sum + usedMs, this.#usedMs);
    return (user + system) / 1000 + crews;
  }

  #showProgress(): void {
    const { full, progress } = this.#options;
    const now = performance.now();
    if (now - this.#shown < SHOWS_EVERY) return;
    this.#shown = now;
    progress({
      ...{ name: full.name, worlds: this.#worlds, findings: this.#found.findings.length },
      ...{ perSecond: this.#perSecond, discarded: this.#discarded, missed: this.#tally.missed },
      ...{ sideBySide: this.#beside.now, cpuMs: this.#cpuMs },
    });
  }

  get #perSecond(): number {
    return this.#tally.struck / Math.max(0.001, this.#time / 1000);
  }

  get #cpuMs(): number | undefined {
    if (process.platform !== 'linux') return undefined;
    return Math.round((this.#cpu() - this.#cpuBegun) / Math.max(1, this.#worlds));
  }

  #report(): ExploreReport {
    const { full, unable } = this.#options;
    const programs: ProgramCoverage = {
      ...{
        discarded: this.#discarded,
        missed: this.#tally.missed,
        struck: this.#tally.struck,
        perSecond: this.#perSecond,
      },
      ...{ sideBySide: this.#beside.now, unable, unrepeated: this.#sightings.unrepeated },
      ...(this.#cpuMs !== undefined && { cpuMs: this.#cpuMs }),
      ...(this.#outlived !== undefined && { outlived: this.#outlived }),
    };
    const coverage = {
      ...this.#tally.counted(),
      labErrors: this.#labErrors,
      modules: full.modules,
      leases: this.#rules?.scales.leases ?? [],
      scale: this.#rules?.scales.leaseMs ?? 0,
      programs,
    };
    return new ExploreReport({
      versions: { lostlock: LOSTLOCK_VERSION, node: process.version },
      ...{ name: full.name, asked: askedOf(full), coverage, worlds: this.#worlds, ms: this.#time },
      findings: this.#found.findings,
      accepted: this.#found.accepted,
      interrupted: this.#aborted,
      output: { lines: this.#output, count: this.#lines },
    });
  }
}

/** An error whose message is all that the user has to see. */
function noWorld(text: string): Error {
  return Object.assign(new Error(text), { code: 'LOSTLOCK_NO_WORLD' });
}

/** True for the worlds that are played twice although they break nothing: the 4th, 8th, 16th and so on. */
function isSampled(world: number): boolean {
  return world > 2 && (world & (world - 1)) === 0;
}
