/** Plays one plan on a stage: the clients' code, the faults of the plan, and the check that the lock can be had again. */

import type { PrintedLine } from '../lab/virtual/inside.ts';
import type { ClientCode, StageClient } from './client.ts';
import { twinOf } from './deployments.ts';
import { describe, lineOf } from './describe.ts';
import { type PlannedFault, strike } from './faults/index.ts';
import { Ledger } from './ledger.ts';
import type { CalmWorld, ClientLife } from './lives.ts';
import { OperationLog } from './operations/operation.ts';
import { encodePlan, NO_HASH, type WorldPlan } from './plan.ts';
import { type Failure, failureOf, LONGEST, type PlayedWorld, type StoryLine } from './played-world.ts';
import { NO_ERROR, OF_PROGRAM } from './promises/broken.ts';
import { promises } from './promises/index.ts';
import type { SearchScales } from './search/strategy.ts';
import type { StageSet } from './stage/controls.ts';
import type { KeyLeft, Stage, StageRun } from './stage/stage.ts';
import type { Topology } from './topology.ts';
import { type Breach, PROBE, type Visit } from './visit.ts';
import { watchNothing, watchWorld } from './watched.ts';

/** What all worlds of an exploration have in common. */
export interface Rules {
  readonly topology: Topology;
  readonly code: ClientCode;
  readonly scales: SearchScales;
  /** The promises that are checked while the world is played. */
  readonly promises: ReadonlySet<string>;
  /** What was left after the run without faults; undefined for that run itself. */
  readonly remains: string | undefined;
  /** The resources that were written to in that run. */
  readonly written: ReadonlySet<string>;
  /** Those among them to which clients sent: links lead to them from the start. */
  readonly distant: ReadonlySet<string>;
  /** How long clients may go on after the last fault, in milliseconds. */
  readonly patienceMs: number;
  /** The longest lease of a lock, in milliseconds: a dead client may keep the others out for twice as long. */
  readonly holdMs: number;
  /** The keys whose leases are too long to be waited for in real time: while one of them stands, nobody knows whether a lock is closed. */
  readonly unwaited: ReadonlySet<string>;
  /**
   * For the run without faults, in real time: how long a newcomer tries to get the lock, in milliseconds. It stops as soon as its code has
   * returned twice, because then it has nothing to do.
   */
  readonly probeMs?: number;
  /** How clients fare without faults; undefined for that run itself. */
  readonly calm: CalmWorld | undefined;
  /** True to play on after a breach, so that a timeline shows what follows; default false. */
  readonly playOn?: boolean;
}

/** How long the nodes may take to agree on their roles when the faults are over, in milliseconds. */
const AGREE_WITHIN = 30_000;

/** In milliseconds. */
const A_MICROSECOND = 0.001;

/** How long a client that ended without entering waits before it tries again, in milliseconds. */
const TRIES_AGAIN_AFTER = 50;

/** The reason of every abort. Without one, Node makes an error with a stack for each world. */
const OVER = new Error('the world is about to end');

/** Plays the plan on a stage, and closes the stage. What goes wrong in the world is its `failure`, so that an exploration goes on. */
export async function playOn(stage: Stage, rules: Rules, plan: WorldPlan): Promise<PlayedWorld> {
  try {
    const run = new WorldRun(stage, rules, plan);
    run.watch();
    await stage.play(() => run.play()).catch((error: unknown) => run.fail(error));
    return run.result();
  } finally {
    watchNothing();
    await stage.close();
  }
}

/** What is left, in one line. */
function textOf(left: readonly (readonly KeyLeft[])[]): string {
  const lists = left.map((keys) =>
    keys
      .map(({ text }) => text)
      .sort()
      .join(' '),
  );
  return lists.join(' | ');
}

/** True when a client that is not inside and has not ended waits in vain for the lock. @param held whether somebody else is inside */
function isInVain(
  { entries, idle }: CalmWorld,
  client: string,
  visits: readonly Visit[],
  since: number,
  held: boolean,
): boolean {
  if (idle === 'for no lock' || (idle === 'behind a holder' && held)) return false;
  return visits.length < (entries.get(client) ?? 1) && visits.every(({ from }) => from < since);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

class WorldRun implements StageRun {
  readonly ledger: Ledger;
  readonly operations: OperationLog;
  readonly store = new Map<string, unknown>();
  readonly #stage: Stage;
  readonly #rules: Rules;
  readonly #plan: WorldPlan;
  /** Those of the plan first, and then those that second deployments have started. */
  readonly #clients: StageClient[];
  readonly #changing = new Set<StageSet>();
  readonly #lines: StoryLine[] = [];
  readonly #struck: PlannedFault[] = [];
  /** Aborted when the clients should end. The probe, which runs after them, has one of its own. */
  #ending = new AbortController();
  #begun = 0;
  #startedAt = 0;
  #span = 0;
  /** What is left in the databases before anybody looks whether the lock can be had. */
  #left: readonly (readonly KeyLeft[])[] = [];
  #stopped = false;
  #failure: Failure | undefined;
  /** What ended a client's process first. */
  #crash: { readonly error: unknown } | undefined;
  #stop: () => void = () => {};
  readonly #stopping: Promise<void>;
  /** Unfinished lives. */
  readonly #running = new Set<Promise<void>>();
  /** All lives of the clients, and of the probe. */
  readonly #lives: Writable<ClientLife>[] = [];
  readonly #probeLives: Writable<ClientLife>[] = [];
  /** When the clients were told to end. */
  #toldAt = Infinity;

  constructor(stage: Stage, rules: Rules, plan: WorldPlan) {
    this.#stage = stage;
    this.#rules = rules;
    this.#plan = plan;
    this.ledger = new Ledger(() => this.now(), rules.written);
    this.operations = new OperationLog(() => this.now());
    this.#stopping = new Promise((resolve) => {
      this.#stop = resolve;
    });
    const tell = (client: string, text: string): void => {
      this.#line(client, text, 'visit');
      stage.acted(client);
    };
    const judge = ({ promise }: Breach): void => {
      if (rules.promises.has(promise) && rules.playOn !== true) this.#end();
    };
    this.ledger.onEvent = tell;
    this.ledger.onBreach = judge;
    this.#clients = plan.clients.map((name) => stage.client(this, { name }));
  }

  /** Lets the watchdog know the world, and those whose code may never return. */
  watch(...more: readonly StageClient[]): void {
    const clients = this.#stage.numbersOf([...this.#clients, ...more]);
    if (clients !== undefined) watchWorld({ replay: encodePlan(this.#plan, NO_HASH), clients });
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  now(): number {
    return (this.#stage.micros() - this.#begun) / 1000;
  }

  abort(): void {
    this.#ending.abort(OVER);
  }

  #end(): void {
    this.#stopped = true;
    this.#stop();
  }

  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    const blamed = this.#stage.blamed();
    if (blamed !== undefined) this.#line(blamed, 'throws what nothing catches', 'trouble');
    this.#failure = failureOf(error, this.now());
    this.#end();
  }

  ended(who: string, what: string, thrown?: { readonly error: unknown }): void {
    this.#line(who, `its process ends: ${what}`, 'trouble');
    if (thrown === undefined) return;
    this.#crash ??= thrown;
    const told = lineOf(`a client's process ended: ${what}`, LONGEST);
    this.ledger.breaches.push({ promise: NO_ERROR, at: this.now(), what: told, visits: [] });
  }

  note(who: string, what: string): void {
    this.#line(who, what, 'trouble');
  }

  told(client: string, what: string): void {
    this.#line(client, `says that a promise is broken: ${what}`, 'trouble');
    const breach = { promise: OF_PROGRAM, at: this.now(), what, visits: [], clients: [client] };
    this.ledger.breaches.push(breach);
    if (this.#rules.playOn !== true) this.#end();
  }

  #line(who: string, what: string, kind: StoryLine['kind']): void {
    this.#lines.push({ at: this.now(), who, what, kind });
  }

  /** Waits for the end of a life. */
  #watch(life: Promise<void>): void {
    this.#running.add(life);
    const over = (): void => void this.#running.delete(life);
    void life.then(over, (error: unknown) => {
      over();
      this.fail(error);
    });
  }

  async #live(client: StageClient, lives = this.#lives): Promise<void> {
    const done = client.live(this.#rules.code);
    const life: Writable<ClientLife> = {
      client: client.name,
      life: client.life,
      from: this.now(),
      to: Infinity,
      ended: undefined,
    };
    lives.push(life);
    await done;
    // A client that returns at once when it is told to end did not end by itself.
    life.to = this.#toldAt === Infinity ? this.now() : Math.max(this.now(), this.#toldAt + A_MICROSECOND);
    // The probe is told to end when it has had its time: what it does then says nothing.
    const isTold = lives === this.#probeLives && this.signal.aborted && client.end === 'returned';
    life.ended = isTold ? undefined : client.end;
    if (client.error !== undefined) life.error = client.error;
    if (lives === this.#lives) this.#span = Math.max(this.#span, this.now());
  }

  /** A client starts when the plan says, and again if the plan says so, as long as it is refused. */
  async #arrive(client: StageClient): Promise<void> {
    const planned = (kind: PlannedFault['kind']): number =>
      this.#plan.faults.find((fault) => fault.kind === kind && fault.on === client.name)?.ms ?? 0;
    const [later, again] = [planned('arrival'), planned('again')];
    if (later > 0) await this.#stage.wait(later);
    if (this.#stopped || !client.alive || client.life > 0) return;
    await this.#live(client);
    if (again === 0) return;
    const { calm, holdMs } = this.#rules;
    const end = this.now() + 2 * (calm?.span ?? 0) + 2 * holdMs;
    for (let life = 1; client.life === life && client.end === 'returned' && this.now() < end; life++) {
      if (this.ledger.visits.some((visit) => visit.client === client.name)) return;
      await this.#stage.wait(again);
      if (this.#stopped || this.signal.aborted || !client.alive || client.life !== life) return;
      await this.#live(client);
    }
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    await stage.connect(this.#clients);
    this.#begun = stage.micros();
    this.#startedAt = stage.wallClock();
    stage.begin(this);
    for (const name of this.#rules.distant) stage.resources?.add(name);
    const faults = this.#plan.faults.map((fault) => this.#schedule(fault));
    for (const client of this.#clients) this.#watch(this.#arrive(client));
    await Promise.race([this.#playOn(faults), this.#stopping]);
  }

  async #playOn(faults: readonly Promise<void>[]): Promise<void> {
    const stage = this.#stage;
    await stage.untilStruck(Promise.all(faults), this);
    await stage.mend(this.#clients);
    await this.#within(AGREE_WITHIN, () => stage.agree());
    await this.#serve();
    this.#toldAt = this.now();
    this.abort();
    if (this.#stopped) return;
    await stage.settle();
    this.#left = await this.#keysLeft();
    if (this.#isProbed()) await this.#probe();
    // A promise that is broken is enough.
    if (!this.#stopped) await stage.finish();
  }

  /** Waits until all clients are done, at most as long as the slowest of them may need. Notes the clients that wait in vain. */
  async #serve(): Promise<void> {
    const { patienceMs, calm, holdMs, scales } = this.#rules;
    const since = this.now();
    const slowest = calm === undefined ? 0 : calm.span + 2 * holdMs + 4 * scales.reconnectMs;
    const all = await this.#within(Math.max(patienceMs, slowest), () => this.#running.size === 0);
    if (all || this.#stopped || calm === undefined || (await this.#isUnwaited())) return;
    const inside = new Set(this.ledger.inside.map(({ client }) => client));
    for (const life of this.#lives) {
      const { client: name, ended, from } = life;
      const client = this.#clients.find((each) => each.name === name);
      if (ended !== undefined || client?.alive !== true || client.life !== life.life || inside.has(name))
        continue;
      if (!isInVain(calm, client.known, this.#visitsOf(life), since, inside.size > 0)) continue;
      life.waitedSince = Math.max(from, since);
    }
  }

  #visitsOf({ client, life }: ClientLife): Visit[] {
    return this.ledger.visits.filter((visit) => visit.client === client && visit.life === life);
  }

  /** True when a new client should look whether the lock can be had. */
  #isProbed(): boolean {
    const { repeats } = this.#stage;
    if (repeats === undefined) return textOf(this.#left) !== this.#rules.remains;
    return (
      repeats.visits.some(({ client }) => client === PROBE) || repeats.lines.some(({ who }) => who === PROBE)
    );
  }

  async #schedule(fault: PlannedFault): Promise<void> {
    const time = this.#stage.timeOf(fault, this);
    try {
      await time.wait(fault.at);
      if (!this.#stopped) await this.#strike(fault, time);
    } catch (error) {
      this.#line(fault.on, `${fault.kind} fails: ${describe(error)}`, 'fault');
    }
    time.over();
  }

  /** The fault has struck as soon as it tells something. */
  #strike(fault: PlannedFault, time: ReturnType<Stage['timeOf']>): Promise<void> {
    const { sets, network, abilities } = this.#stage;
    const context = {
      ...{ sets, network, ...abilities, clients: this.#clients, changing: this.#changing },
      ...{ wait: time.wait, struckAfter: time.struckAfter, resources: this.#stage.resources?.hosts ?? [] },
      restartClient: (name: string) => this.#restartClient(name),
      deploy: (name: string, samePid: boolean) => this.#deploy(name, samePid),
      tell: (who: string, what: string) => {
        if (!this.#struck.includes(fault)) this.#struck.push(fault);
        this.#line(who, what, 'fault');
      },
    };
    return strike(context, fault);
  }

  #restartClient(name: string): void {
    const client = this.#clients.find((each) => each.name === name) as StageClient;
    client.revive();
    this.#watch(client.connect().then(() => this.#live(client)));
  }

  #deploy(name: string, samePid: boolean): string | undefined {
    const of = this.#clients.find((each) => each.name === name) as StageClient;
    const twin = twinOf(name, this.#plan.clients);
    if (this.#clients.some((each) => each.name === twin)) return undefined;
    const client = this.#stage.client(this, { name: twin, twin: { of, samePid } });
    this.#clients.push(client);
    this.watch();
    this.#watch(client.connect().then(() => this.#live(client)));
    return twin;
  }

  /** Waits until the condition holds, at most `ms`. */
  async #within(ms: number, condition: () => boolean): Promise<boolean> {
    const { looksEvery } = this.#stage;
    const end = this.now() + ms;
    for (let step = 1; !condition(); step = Math.min(looksEvery, step * 2)) {
      if (this.now() >= end || this.#stopped) return false;
      await this.#stage.wait(step);
    }
    return true;
  }

  async #keysLeft(): Promise<KeyLeft[][]> {
    return (await this.#stage.keysLeft()) ?? [];
  }

  /** What was left behind when the clients were done, and is there still. */
  async #stillLeft(): Promise<KeyLeft[][]> {
    const now = await this.#keysLeft();
    return now.map((keys, i) =>
      keys.filter(({ key }) => this.#left[i]?.some((before) => before.key === key)),
    );
  }

  /** True while a key stands whose lease is too long to be waited for. */
  async #isUnwaited(): Promise<boolean> {
    const { unwaited } = this.#rules;
    return unwaited.size > 0 && (await this.#keysLeft()).flat().some(({ key }) => unwaited.has(key));
  }

  /** A new client runs the user's code, again and again until it gets the lock. */
  async #probe(): Promise<void> {
    const before = this.ledger.visits.length;
    // Clients that only record operations never enter.
    if (before === 0 && (this.#plan.faults.length === 0 || this.#rules.calm?.entries.size === 0)) return;
    const { patienceMs, holdMs, scales, probeMs } = this.#rules;
    const bound = 2 * holdMs + 2 * scales.reconnectMs;
    // In virtual time it costs nothing to see whether it ever gets the lock.
    const patience = probeMs ?? (this.#stage.repeats === undefined ? patienceMs : bound);
    this.#ending = new AbortController();
    const probe = this.#stage.client(this, { name: PROBE });
    this.watch(probe);
    await probe.connect();
    const begun = this.now();
    const entered = (): boolean => this.ledger.visits.length > before;
    const lives = async (): Promise<void> => {
      while (!entered() && !this.#stopped && this.now() - begun < patience) {
        await this.#live(probe, this.#probeLives);
        if (!entered()) await this.#stage.wait(TRIES_AGAIN_AFTER);
      }
    };
    void lives();
    const isIdle = (): boolean =>
      probeMs !== undefined && this.#probeLives.filter(({ ended }) => ended === 'returned').length > 1;
    await this.#within(patience, () => entered() || isIdle());
    const got = entered();
    this.abort();
    const last = this.ledger.visits[before - 1];
    const waited = this.now() - Math.max(last?.ended === undefined ? 0 : last.to, begun, this.#askedSince());
    if (got && waited <= bound) return;
    if (!got && (!this.#isShutOut() || (await this.#isUnwaited()))) return;
    // A key whose lease has ended meanwhile does not keep the lock closed; if the probe got in at last, it did until then.
    this.#reportClosed(
      last,
      textOf(got ? this.#left : await this.#stillLeft()),
      `${got ? 'gets the lock only after' : 'does not get the lock within'} ${Math.round(waited)} ms`,
    );
  }

  /**
   * Since when the probe has wanted to enter. Where a new client finds nothing to do without faults either, a life that has returned
   * wanted nothing: the value was in a cache, or the job was done.
   */
  #askedSince(): number {
    const earlier = this.#probeLives.slice(0, -1);
    const isContent =
      this.#rules.calm?.probe === 'returns' && earlier.every(({ ended }) => ended === 'returned');
    return isContent ? (this.#probeLives.at(-1)?.from ?? 0) : 0;
  }

  /** True when the probe, which did not enter, wanted to. */
  #isShutOut(): boolean {
    const { calm } = this.#rules;
    const hasReturned = this.#probeLives.some(({ ended }) => ended === 'returned');
    const hasThrown = this.#probeLives.some(({ ended }) => ended === 'threw');
    if (hasThrown) return true;
    // Without faults a new client finds nothing to do either: the job is done, or there is none.
    if (hasReturned) return calm?.probe === 'enters';
    return calm?.probe !== 'waits';
  }

  /** Nobody gets the lock, or much too late: because it is left behind, or for another reason. */
  #reportClosed(last: Visit | undefined, held: string, how: string): void {
    const inside = this.ledger.inside.filter(({ client }) => client !== PROBE);
    const isOrphan = inside.length === 0 && held.replaceAll(' | ', '') !== '' && held !== this.#rules.remains;
    const visits = last === undefined ? [] : [last.id];
    const [known] = this.#stage.repeats?.breaches ?? [];
    for (const { name, ofClosed } of promises) {
      const what = ofClosed?.({ how, orphan: isOrphan ? held : '' });
      if (what === undefined) continue;
      this.#line(PROBE, what, 'end');
      // Where the order of a world is kept, what it broke is what is looked for.
      this.ledger.breaches.push({ promise: known?.promise ?? name, at: this.now(), what, visits });
    }
  }

  result(): PlayedWorld {
    const { visits } = this.ledger;
    const { printed = [], ...record } = this.#stage.record();
    const resources = visits.map(({ resource }) => resource);
    return {
      plan: this.#plan,
      breaches: this.ledger.breaches.filter(
        ({ promise }) => promise === NO_ERROR || promise === OF_PROGRAM || this.#rules.promises.has(promise),
      ),
      visits,
      pools: new Set(resources.filter((name) => this.ledger.permitsOf(name) !== 1)),
      once: new Set(resources.filter((name) => this.ledger.isOnce(name))),
      distant: new Set(this.#stage.resources?.hosts),
      lines: this.#lines,
      struck: this.#struck,
      begunAt: this.#begun,
      startedAt: this.#startedAt,
      sets: this.#stage.sets,
      stopped: this.#stopped,
      ...(this.#failure !== undefined && { failure: this.#failure }),
      ...(this.#crash !== undefined && { crash: this.#crash }),
      span: this.#span,
      lives: this.#lives,
      operations: this.operations.all,
      probeLives: this.#probeLives,
      toldAt: this.#toldAt,
      remains: textOf(this.#left),
      endedAt: this.now(),
      ...record,
      ...(printed.length > 0 && { output: printed.map((line) => this.#printed(line)) }),
    };
  }

  #printed({ at, who, text }: PrintedLine): StoryLine {
    return { at: (at - this.#begun) / 1000, who, what: text, kind: 'output' };
  }
}
