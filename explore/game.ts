/** Plays one world: the clients' code, the faults of the plan, and the check that the lock can be had again. */
import type { Actor } from '../lab/time/actor.ts';
import { Task } from '../lab/time/task.ts';
import type { LabNode } from '../lab/virtual/node.ts';
import type { World } from '../lab/virtual/world.ts';
import { faultKinds } from './faults/index.ts';
import type { Scales, Scene } from './faults/scene.ts';
import { type Breach, Ledger, type Visit } from './ledger.ts';
import { PROBE } from './names.ts';
import type { NodeSet } from './node-set.ts';
import type { PlannedFault, WorldPlan } from './plan.ts';
import { type Failure, failureOf, type PlayedWorld, type StoryLine } from './played-world.ts';
import { type ClientCode, describe, Player, type PlayerStage } from './player.ts';
import { type Nodes, startNodes, type Topology } from './topology.ts';

/** What all worlds of an exploration have in common. */
export interface Rules {
  readonly topology: Topology;
  readonly code: ClientCode;
  readonly scales: Scales;
  /** The promises that are checked while the world is played. */
  readonly promises: ReadonlySet<string>;
  /** What was left after the run without faults; undefined for that run itself. */
  readonly remains: string | undefined;
  /** The resources that were written to in that run. */
  readonly written: ReadonlySet<string>;
  /** How long clients may go on after the last fault, in virtual milliseconds. */
  readonly patienceMs: number;
  /** The longest lease of a lock, in virtual milliseconds: a dead client may keep the others out for twice as long. */
  readonly holdMs: number;
  /** True to play on after a breach, so that a timeline shows what follows; default false. */
  readonly playOn?: boolean;
}

/** A limit for worlds that would never end, in virtual milliseconds. */
const LONGEST_WORLD = 86_400_000;

/** How long the nodes may take to agree on their roles when the faults are over, in virtual milliseconds. */
const AGREE_WITHIN = 30_000;

/** The reason of every abort. Without one, Node makes an error with a stack for each world. */
const OVER = new Error('the world is about to end');

/**
 * Plays the plan. Rejects only when the world itself cannot be made: whatever goes wrong in it is its `failure`, so that an
 * exploration goes on with the next one.
 */
export async function playWorld(rules: Rules, plan: WorldPlan): Promise<PlayedWorld> {
  const nodes = await startNodes(rules.topology, plan.seed, plan.jitter);
  try {
    const game = new Game(rules, plan, nodes);
    await nodes.world.run(() => game.play(), LONGEST_WORLD).catch((error: unknown) => game.fail(error));
    return game.result();
  } finally {
    await nodes.close();
  }
}

/** A key that is left in a database, and its text with the value. */
interface KeyLeft {
  readonly key: string;
  readonly text: string;
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

class Game implements PlayerStage {
  readonly world: World;
  readonly nodes: Nodes;
  readonly ledger: Ledger;
  readonly players: readonly Player[];
  readonly changing = new Set<NodeSet>();
  readonly #rules: Rules;
  readonly #plan: WorldPlan;
  readonly #lines: StoryLine[] = [];
  readonly #struck: PlannedFault[] = [];
  /** Aborted when the clients should end. The probe, which runs after them, has one of its own. */
  #ending = new AbortController();
  /** The exploration's own process, whose waits no fault stops. */
  readonly #director: Actor;
  #begun = 0;
  #startedAt = 0;
  #span = 0;
  /** What is left in the databases before anybody looks whether the lock can be had. */
  #left: readonly (readonly KeyLeft[])[] = [];
  #contended = false;
  #stopped = false;
  #failure: Failure | undefined;
  #stop: () => void = () => {};
  readonly #stopping: Promise<void>;
  /** The lives that last. */
  readonly #lives = new Set<Promise<void>>();

  constructor(rules: Rules, plan: WorldPlan, nodes: Nodes) {
    this.#rules = rules;
    this.#plan = plan;
    this.nodes = nodes;
    this.world = nodes.world;
    this.#director = this.world.actor('director');
    this.ledger = new Ledger(() => this.now(), rules.written);
    this.#stopping = new Promise((resolve) => {
      this.#stop = resolve;
    });
    const tell = (client: string, text: string): void => this.#line(client, text, 'visit');
    const judge = ({ promise }: Breach): void => {
      if (!rules.promises.has(promise) || rules.playOn === true) return;
      this.#stopped = true;
      this.#stop();
    };
    this.ledger.onEvent = tell;
    this.ledger.onBreach = judge;
    this.players = plan.clients.map((name) => new Player(this, name));
  }

  get sets(): readonly NodeSet[] {
    return this.nodes.sets;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  now(): number {
    return (this.world.elapsed() - this.#begun) / 1000;
  }

  /** Ends the world, because something failed in it. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    const { blamed } = this.world.schedule;
    if (blamed !== undefined) this.#line((blamed as Actor).name, 'throws what nothing catches', 'trouble');
    this.#failure = failureOf(error, this.now());
    this.#stopped = true;
    this.#stop();
  }

  note(who: string, what: string, kind: 'client' | 'trouble'): void {
    this.#line(who, what, kind);
  }

  #line(who: string, what: string, kind: StoryLine['kind']): void {
    this.#lines.push({ at: this.now(), who, what, kind });
  }

  wait(ms: number): Promise<void> {
    const { schedule } = this.world;
    const goal = schedule.micros + Math.round(ms * 1000);
    return new Promise((resolve) => schedule.arm(new Task(this.#director, false, resolve), goal));
  }

  restartClient(player: Player): void {
    player.revive();
    this.#begin(player);
  }

  /** Starts a life of the user's code, when the client is connected. */
  #begin(player: Player): void {
    const life = player.actor.call(() => player.connect()).then(() => this.#live(player));
    this.#watch(life);
  }

  #watch(life: Promise<void>): void {
    this.#lives.add(life);
    const over = (): void => void this.#lives.delete(life);
    void life.then(over, (error: unknown) => {
      over();
      this.fail(error);
    });
  }

  async #live(player: Player): Promise<void> {
    await player.live(this.#rules.code);
    this.#span = Math.max(this.#span, this.now());
  }

  async play(): Promise<void> {
    const { world } = this;
    await this.#connect();
    this.#begun = world.elapsed();
    this.#startedAt = world.now;
    const faults = this.#plan.faults.map((fault) => this.#schedule(fault));
    for (const player of this.players) this.#watch(this.#live(player));
    const all = this.#playOn(faults);
    await Promise.race([all, this.#stopping]);
    this.#contended = this.#wasContended();
  }

  async #playOn(faults: readonly Promise<void>[]): Promise<void> {
    await Promise.all(faults);
    await this.#mend();
    await this.#within(this.#rules.patienceMs, () => this.#allEnded());
    this.#ending.abort(OVER);
    if (this.#stopped) return;
    await this.#settle();
    this.#left = this.#keysLeft();
    if (textOf(this.#left) !== this.#rules.remains) await this.#probe();
  }

  /** Connects the clients. Each has its own latency, so that few events happen at the same instant. */
  async #connect(): Promise<void> {
    const { network } = this.world;
    for (const [i, { name }] of this.players.entries()) {
      for (const set of this.sets) {
        for (const [k, node] of set.nodes.entries()) {
          network.link(name, node.name).pace({ latency: 1 + 0.07 * i + 0.011 * k });
        }
      }
    }
    for (const player of this.players) await player.actor.call(() => player.connect());
    while (!this.players.every(({ ready }) => ready)) await this.wait(1);
  }

  async #schedule(fault: PlannedFault): Promise<void> {
    await this.wait(fault.at);
    try {
      await faultKinds[fault.kind].strike(this.#sceneOf(fault), fault);
    } catch (error) {
      this.#line(fault.on, `${fault.kind} fails: ${describe(error)}`, 'fault');
    }
  }

  /** What a fault reaches. The fault has struck as soon as it tells something. */
  #sceneOf(fault: PlannedFault): Scene {
    const { world, sets, players, changing } = this;
    return {
      ...{ world, sets, players, changing },
      wait: (ms) => this.wait(ms),
      restartClient: (player) => this.restartClient(player),
      tell: (who, what) => {
        if (!this.#struck.includes(fault)) this.#struck.push(fault);
        this.#line(who, what, 'fault');
      },
    };
  }

  /** Ends every fault that lasts: clocks, roles and links are as they should be. */
  async #mend(): Promise<void> {
    const { network } = this.world;
    for (const { clock } of [...this.players.map(({ actor }) => actor), ...this.#nodes()]) clock.drift(1);
    for (const set of this.sets) {
      for (const node of set.nodes) if (!node.up) set.restart(node.name);
      for (const { name } of set.replicas)
        for (const player of this.players) network.reset(player.name, name);
    }
    for (const { name } of this.players) {
      for (const node of this.#nodes())
        for (const lane of [network.lane(name, node.name), network.lane(node.name, name)]) lane.delay(0);
    }
    await this.#within(AGREE_WITHIN, () => this.nodes.agree());
  }

  #nodes(): LabNode[] {
    return this.sets.flatMap(({ nodes }) => [...nodes]);
  }

  #allEnded(): boolean {
    return this.#lives.size === 0;
  }

  /** Waits until the condition holds, at most `ms`. */
  async #within(ms: number, condition: () => boolean): Promise<boolean> {
    const end = this.now() + ms;
    for (let step = 1; !condition(); step = Math.min(50, step * 2)) {
      if (this.now() >= end || this.#stopped) return false;
      await this.wait(step);
    }
    return true;
  }

  /** Gives the last releases time to arrive. */
  async #settle(): Promise<void> {
    await this.wait(5);
  }

  /** What is left in the databases of the primaries. */
  #keysLeft(): KeyLeft[][] {
    return this.sets.map(({ primary }) =>
      [...primary.server.db(0).entries].map(([key, { held }]) => {
        const text = `${key}=${typeof held === 'string' ? held : held.type}`;
        return { key, text };
      }),
    );
  }

  /** What was left behind when the clients were done, and is there still. */
  #stillLeft(): KeyLeft[][] {
    return this.#keysLeft().map((keys, i) =>
      keys.filter(({ key }) => this.#left[i]?.some((before) => before.key === key)),
    );
  }

  /** A new client runs the user's code, again and again until it gets the lock. */
  async #probe(): Promise<void> {
    const before = this.ledger.visits.length;
    if (before === 0 && this.#plan.faults.length === 0) return;
    this.#ending = new AbortController();
    const probe = new Player(this, PROBE);
    const begun = this.now();
    await probe.actor.call(() => probe.connect());
    const entered = (): boolean => this.ledger.visits.length > before;
    const lives = async (): Promise<void> => {
      while (!entered() && this.now() - begun < this.#rules.patienceMs) {
        await probe.live(this.#rules.code);
        if (!entered()) await this.wait(50);
      }
    };
    void lives();
    const got = await this.#within(this.#rules.patienceMs, entered);
    this.#ending.abort(OVER);
    const last = this.ledger.visits[before - 1];
    const since = Math.max(last?.ended === undefined ? 0 : last.to, begun);
    const waited = this.now() - since;
    const bound = 2 * this.#rules.holdMs + 2 * this.#rules.scales.reconnectMs;
    if (got && waited <= bound) return;
    // A key whose lease has ended meanwhile does not keep the lock closed; if the probe got in at last, it did until then.
    this.#reportClosed(
      last,
      textOf(got ? this.#left : this.#stillLeft()),
      `${got ? 'gets the lock only after' : 'does not get the lock within'} ${Math.round(waited)} ms`,
    );
  }

  /** Nobody gets the lock, or much too late: because it is left behind, or for another reason. */
  #reportClosed(last: Visit | undefined, held: string, how: string): void {
    const inside = this.ledger.inside.filter(({ client }) => client !== PROBE);
    const orphan = inside.length === 0 && held.replaceAll(' | ', '') !== '' && held !== this.#rules.remains;
    const promise = orphan ? 'no-orphan' : 'progress';
    const what = orphan
      ? `nobody is inside, but a new client ${how}; left behind: ${held.length > 80 ? `${held.slice(0, 77)}...` : held}`
      : `a new client ${how}`;
    this.#line(PROBE, what, 'end');
    this.ledger.breaches.push({ promise, at: this.now(), what, visits: last === undefined ? [] : [last.id] });
  }

  #wasContended(): boolean {
    const { visits } = this.ledger;
    return visits.some((visit) =>
      visits.some(
        (other) =>
          other.client !== visit.client &&
          other.from < other.to &&
          other.from >= visit.askedAfter &&
          other.to <= visit.from,
      ),
    );
  }

  result(): PlayedWorld {
    const { trace } = this.world;
    return {
      plan: this.#plan,
      breaches: this.ledger.breaches.filter(({ promise }) => this.#rules.promises.has(promise)),
      visits: this.ledger.visits,
      pools: new Set(
        this.ledger.visits
          .map(({ resource }) => resource)
          .filter((name) => this.ledger.permitsOf(name) !== 1),
      ),
      lines: this.#lines,
      struck: this.#struck,
      begunAt: this.#begun,
      startedAt: this.#startedAt,
      events: trace.events,
      sets: this.sets,
      world: this.world,
      stopped: this.#stopped,
      ...(this.#failure !== undefined && { failure: this.#failure }),
      contended: this.#contended,
      span: this.#span,
      remains: textOf(this.#left),
      endedAt: this.now(),
      hash: () => trace.hash(),
    };
  }
}
