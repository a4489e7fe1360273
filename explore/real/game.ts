/** Plays the world of a finding on real servers, in real time, in the order in which the virtual world went. */

import type { Rules } from '../game.ts';
import { Ledger } from '../ledger.ts';
import { PROBE } from '../names.ts';
import type { PlannedFault } from '../plan.ts';
import { type Failure, failureOf, type PlayedWorld, type StoryLine } from '../played-world.ts';
import type { Player } from '../player.ts';
import { describe } from '../player.ts';
import { type RealScene, strikeReal } from './faults.ts';
import { orderOf, type WorldOrder } from './milestones.ts';
import { networkOf, type RealNodes, readStream, startReal } from './nodes.ts';
import { Order } from './order.ts';
import { RealPlayer, type RealStage } from './player.ts';
import { Streams } from './streams.ts';

/** How long a step waits for what came before it in the virtual world, in milliseconds. Then the order is given up. */
const PATIENCE = 30_000;

/** A world that was played on real servers. */
export interface RealWorld extends PlayedWorld {
  /** True when the clients acted in the order of the virtual world. */
  readonly ordered: boolean;
}

/** Plays the plan of a virtual world on `program`. Rejects when the servers do not start: what goes wrong later is its `failure`. */
export async function playReal(rules: Rules, virtual: PlayedWorld, program: string): Promise<RealWorld> {
  const nodes = await startReal(rules.topology, program);
  const game = new RealGame(rules, virtual, nodes);
  try {
    await game.play().catch((error: unknown) => game.fail(error));
    return game.result();
  } finally {
    game.end();
    await nodes.close();
  }
}

class RealGame implements RealStage {
  readonly nodes: RealNodes;
  readonly ledger: Ledger;
  readonly order: Order;
  readonly #rules: Rules;
  readonly #virtual: PlayedWorld;
  readonly #world: WorldOrder;
  readonly #streams: Streams;
  readonly #players: RealPlayer[];
  readonly #lines: StoryLine[] = [];
  readonly #struck: PlannedFault[] = [];
  #ending = new AbortController();
  readonly #lives = new Set<Promise<void>>();
  #begun = performance.now();
  #startedAt = Date.now();
  #stopped = false;
  #failure: Failure | undefined;
  #span = 0;

  constructor(rules: Rules, virtual: PlayedWorld, nodes: RealNodes) {
    this.#rules = rules;
    this.#virtual = virtual;
    this.nodes = nodes;
    this.#world = orderOf(virtual);
    this.order = new Order(this.#world.milestones, this.#world.losses);
    this.#streams = new Streams(nodes.sets, this.order, this.#world.streams);
    this.ledger = new Ledger(() => this.now(), rules.written);
    this.ledger.onEvent = (client, text) => {
      this.#line(client, text, 'visit');
      if (client !== PROBE) this.order.reached(client, 'act');
    };
    this.ledger.onBreach = ({ promise }) => {
      if (rules.promises.has(promise)) this.#stopped = true;
    };
    this.#players = virtual.plan.clients.map((name) => new RealPlayer(this, name));
    this.order.onChange = () => {
      for (const player of this.#players) player.look();
      this.#streams.look();
    };
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  now(): number {
    return performance.now() - this.#begun;
  }

  /** Ends the play, because something failed in it. */
  fail(error: unknown): void {
    if (this.#stopped) return;
    this.#failure = failureOf(error, this.now());
    this.#stopped = true;
  }

  note(who: string, what: string): void {
    this.#line(who, what, 'trouble');
  }

  #line(who: string, what: string, kind: StoryLine['kind']): void {
    this.#lines.push({ at: this.now(), who, what, kind });
  }

  async play(): Promise<void> {
    await Promise.all(this.#players.map((player) => player.connect()));
    this.#begun = performance.now();
    this.#startedAt = Date.now();
    const faults = this.#virtual.plan.faults.map((fault) => this.#schedule(fault));
    for (const player of this.#players) this.#watch(player.live(this.#rules.code));
    const struck = Promise.all(faults);
    await this.#until(this.#virtual.span + PATIENCE, struck);
    await this.#until(this.#rules.patienceMs, this.#ended());
    this.#ending.abort();
    const { visits, lines } = this.#virtual;
    const probed = visits.some(({ client }) => client === PROBE) || lines.some(({ who }) => who === PROBE);
    if (!this.#stopped && probed) await this.#probe();
    // A promise that is broken is enough.
    if (!this.#stopped) await Promise.all(this.nodes.sets.map(readStream));
  }

  /** Waits for the promise, at most `ms`, and not longer than until a promise of the lock is broken. */
  async #until(ms: number, promise: Promise<unknown>): Promise<boolean> {
    let done = false;
    void promise.then(() => {
      done = true;
    });
    const end = this.now() + ms;
    while (!done && !this.#stopped && this.now() < end) {
      this.#lookForRequest();
      this.#streams.look();
      await pause(1);
    }
    return done;
  }

  /**
   * A reply that waits for the client whose write comes next is the one to it, unless it is about something else. A request
   * waits as soon as the server's machine has it.
   */
  #lookForRequest(): void {
    const { next } = this.order;
    if (next === undefined || next.kind === 'act') return;
    const { client, kind, command } = next;
    if (kind === 'ask') {
      if (this.nodes.isAsking(client)) this.order.reached(client, 'ask');
      return;
    }
    const held = this.nodes.heldFor(client, command);
    if (held === 'awaited') this.order.reached(client, 'write');
    else if (held === 'other') this.#players.find(({ name }) => name === client)?.receive();
  }

  #watch(life: Promise<void>): void {
    const over = (): void => {
      this.#span = Math.max(this.#span, this.now());
      this.#lives.delete(lived);
    };
    const lived = life.then(over, (error: unknown) => {
      over();
      this.fail(error);
    });
    this.#lives.add(lived);
  }

  async #ended(): Promise<void> {
    while (this.#lives.size > 0) await Promise.all(this.#lives);
  }

  async #schedule(fault: PlannedFault): Promise<void> {
    let due = 0;
    let expected = this.order.expect(fault.at);
    /** Waits as long as in the virtual world, and for what had happened there in the meantime. */
    const wait = async (ms: number): Promise<void> => {
      due += ms;
      const earlier = expected;
      expected = this.order.expect(due);
      earlier();
      await pause(ms);
      const patience = this.now() + PATIENCE;
      while (!this.order.hasReached(due) && !this.#stopped) {
        if (this.now() > patience) this.order.giveUp();
        await pause(1);
      }
    };
    try {
      await wait(fault.at);
      if (!this.#stopped) await strikeReal(this.#sceneOf(fault, wait), fault);
    } catch (error) {
      this.#line(fault.on, `${fault.kind} fails: ${describe(error)}`, 'fault');
    }
    expected();
  }

  #sceneOf(fault: PlannedFault, wait: (ms: number) => Promise<void>): RealScene {
    const { sets } = this.nodes;
    const network = {
      lane: (from: string, to: string) => networkOf(sets, from, to).lane(from, to),
      reset: (one: string, other: string) => networkOf(sets, one, other).reset(one, other),
    };
    return {
      ...{ sets, wait, players: this.#players as unknown as readonly Player[] },
      world: { network } as unknown as RealScene['world'],
      struckAfter: this.#world.struckAt(fault) - fault.at,
      restartClient: (player) => this.#restart(player as unknown as RealPlayer),
      tell: (who, what) => {
        if (!this.#struck.includes(fault)) this.#struck.push(fault);
        this.#line(who, what, 'fault');
      },
    };
  }

  #restart(player: RealPlayer): void {
    player.revive();
    this.#watch(player.connect().then(() => player.live(this.#rules.code)));
  }

  /** A new client runs the user's code, and should get the lock. */
  async #probe(): Promise<void> {
    const { holdMs, scales } = this.#rules;
    const boundMs = 2 * holdMs + 2 * scales.reconnectMs;
    const before = this.ledger.visits.length;
    this.#ending = new AbortController();
    const probe = new RealPlayer(this, PROBE);
    const last = this.ledger.visits[before - 1];
    await probe.connect();
    const begun = Math.max(this.now(), last?.ended === undefined ? 0 : last.to);
    const entered = async (): Promise<void> => {
      while (this.ledger.visits.length === before) await pause(2);
    };
    void probe.live(this.#rules.code);
    const got = await this.#until(boundMs, entered());
    const waited = this.now() - begun;
    if (got && waited <= boundMs) return;
    const [breach] = this.#virtual.breaches;
    const what = `a new client does not get the lock within ${Math.round(waited)} ms`;
    this.#line(PROBE, what, 'end');
    this.ledger.breaches.push({ promise: breach?.promise ?? 'progress', at: this.now(), what, visits: [] });
  }

  /** Lets everything go. */
  end(): void {
    this.#stopped = true;
    this.#ending.abort();
    this.order.giveUp();
    for (const player of this.#players) player.kill();
  }

  result(): RealWorld {
    return {
      plan: this.#virtual.plan,
      breaches: this.ledger.breaches.filter(({ promise }) => this.#rules.promises.has(promise)),
      visits: this.ledger.visits,
      lines: this.#lines,
      struck: this.#struck,
      begunAt: 0,
      startedAt: this.#startedAt,
      events: [],
      sets: this.nodes.sets as unknown as PlayedWorld['sets'],
      stopped: this.#stopped,
      ...(this.#failure !== undefined && { failure: this.#failure }),
      contended: false,
      span: this.#span,
      remains: '',
      endedAt: this.now(),
      ordered: this.order.kept,
      hash: () => '',
    };
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, ms));
}
