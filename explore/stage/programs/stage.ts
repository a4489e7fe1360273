/** The stage of programs: their processes on the real clock, and nodes whose links the lab controls. */

import { pass } from '../../../lab/real-clock/wait.ts';
import type { PrintedLine } from '../../../lab/virtual/inside.ts';
import { nodeClock } from '../../../server/host/node.ts';
import { realMicros } from '../../../server/host/real-time.ts';
import type { Entrances } from '../../client.ts';
import { clientsOf } from '../../deployments.ts';
import type { PlannedFault } from '../../faults/index.ts';
import type { WorldPlan } from '../../plan.ts';
import type { Topology } from '../../topology.ts';
import type { AbilitiesOf, StageNetwork } from '../controls.ts';
import { networkOf } from '../real-servers/nodes.ts';
import type { ClientIdentity, FaultTime, KeyLeft, Stage, StageRun } from '../stage.ts';
import { LiveAnchors } from './anchors.ts';
import { ProgramClient, type ProgramWorld } from './client.ts';
import type { Crew, WorldDesk } from './crew.ts';
import type { LateTimers, StallWatch } from './late-timers.ts';
import { type ProgramNodes, recordOfNodes, startProgramNodes } from './nodes.ts';
import { startServerNodes } from './server-nodes.ts';

/** How many lines of what programs print a world keeps. */
const MOST_PRINTED = 200;

/** What the worlds of an exploration of programs have in common. */
export interface ProgramStageOptions {
  readonly topology: Topology;
  readonly desk: WorldDesk;
  readonly machine: LateTimers;
  /** A real server that takes redis-server's arguments; undefined for lostlock's own nodes. */
  readonly on: string | undefined;
  /** The lease that programs are told to use, in milliseconds. */
  readonly lease: number;
  /** How long a client's turn to start may take, in milliseconds. */
  readonly turnMs: number;
  /** Ends the world at once. */
  readonly signal: AbortSignal | undefined;
  /** How long faults are waited for that have not struck, in milliseconds since the clients started. */
  readonly patienceMs: number;
}

/** How long after an entry the client is at work, in milliseconds. */
const AT_WORK = 5;

let worlds = 0;

/** Starts the nodes of a world. Rejects when they cannot start. */
export async function startProgramStage(
  options: ProgramStageOptions,
  crew: Crew,
  plan: WorldPlan,
): Promise<ProgramStage> {
  const { topology, on } = options;
  const sets = on === undefined ? await startProgramNodes(topology) : await startServerNodes(topology, on);
  return new ProgramStage(sets, options, crew, plan);
}

/** One fault of a plan, as far as it has come. */
interface AwaitedFault {
  readonly fault: PlannedFault;
  begun: boolean;
  over: boolean;
}

/** The stage. */
export class ProgramStage implements Stage, ProgramWorld {
  readonly sets: readonly ProgramNodes[];
  readonly network: StageNetwork;
  readonly abilities: AbilitiesOf<'programs'> = {};
  readonly repeats: undefined;
  readonly looksEvery = 4;
  readonly desk: WorldDesk;
  readonly crew: Crew;
  readonly seed: number;
  readonly lease: number;
  readonly anchors: LiveAnchors;
  /** How late timers were, those of clients among them. */
  readonly watch: StallWatch;
  readonly #options: ProgramStageOptions;
  readonly #order: readonly string[];
  readonly #number = ++worlds;
  readonly #base: number;
  readonly #clients: ProgramClient[] = [];
  readonly #hosts = new Map<string, string>();
  readonly #faults: AwaitedFault[] = [];
  /** The pauses that wait for an entry of another client. */
  readonly #entries = new Set<{ readonly on: string; readonly resolve: () => void }>();
  readonly #printed: PrintedLine[] = [];
  readonly #moved = new Map<string, () => void>();
  readonly #turns = new Map<string, Promise<void>>();
  #run: StageRun | undefined;
  #tokens = 0;

  constructor(sets: readonly ProgramNodes[], options: ProgramStageOptions, crew: Crew, plan: WorldPlan) {
    this.sets = sets;
    this.#options = options;
    this.desk = options.desk;
    this.crew = crew;
    this.seed = plan.seed;
    this.lease = options.lease;
    // Jitter stands for a free start: then clients start together, in whatever order they come.
    this.#order = plan.jitter === 0 ? plan.clients : [];
    this.#base = Math.min(...sets.map(({ network }) => network.trace.begun));
    this.network = {
      lane: (from, to) => networkOf(sets as never, from, to).lane(from, to),
      reset: (one, other) => networkOf(sets as never, one, other).reset(one, other),
    };
    this.anchors = new LiveAnchors((name) => clientsOf(plan).includes(name));
    for (const { network } of sets) network.holderFor = (connection) => this.anchors.holder(connection);
    this.watch = options.machine.watch();
  }

  get resources(): { readonly hosts: readonly string[]; add(resource: string): string } {
    return { hosts: [...this.#hosts.values()], add: (resource) => this.#host(resource) };
  }

  #host(resource: string): string {
    let host = this.#hosts.get(resource);
    if (host === undefined) this.#hosts.set(resource, (host = resource.replace(/[^\w.-]+/g, '-')));
    return host;
  }

  micros(): number {
    return realMicros() - this.#base;
  }

  wallClock(): number {
    return nodeClock.now();
  }

  wait(ms: number): Promise<void> {
    return pass(ms);
  }

  client(run: StageRun, { name, twin }: ClientIdentity): ProgramClient {
    const entrances: Entrances = { entrances: this.sets.length, open: () => undefined as never };
    const client = new ProgramClient(run, entrances, this, name, twin?.of.known);
    this.#clients.push(client);
    return client;
  }

  numbersOf(): undefined {}

  play(work: () => Promise<void>): Promise<void> {
    return work();
  }

  async connect(clients: readonly ProgramClient[]): Promise<void> {
    await Promise.all(clients.map((client) => client.connect()));
  }

  begin(run: StageRun): void {
    this.#run = run;
    this.watch.late = 0;
    const { signal } = this.#options;
    signal?.addEventListener('abort', this.#interrupt);
    if (signal?.aborted === true) this.#interrupt();
  }

  readonly #interrupt = (): void => this.#run?.fail(new Error('interrupted'));

  urls(client: string): Promise<string[]> {
    return Promise.all(this.sets.map((set) => set.urlFor(client)));
  }

  token(client: string): string {
    const random = Math.floor(Math.random() * 2 ** 40).toString(36);
    return `w:${this.#number}:${client}:${++this.#tokens}${random}`;
  }

  turn(client: string): Promise<void> {
    const known = this.#turns.get(client);
    if (known !== undefined) return known;
    const before = this.#order[this.#order.indexOf(client) - 1];
    const turn =
      before === undefined
        ? Promise.resolve()
        : this.turn(before).then(() => Promise.race([this.#until(before), pass(this.#options.turnMs)]));
    this.#turns.set(client, turn);
    return turn;
  }

  /** Waits until a client has acted, or ended. */
  #until(client: string): Promise<void> {
    const found = this.#clients.find(({ name }) => name === client);
    if (found?.end !== undefined || this.#moved.get(client) === HAS_MOVED) return Promise.resolve();
    return new Promise((moved) => {
      const others = this.#moved.get(client);
      this.#moved.set(client, () => {
        others?.();
        moved();
      });
    });
  }

  moved(client: string): void {
    const waiting = this.#moved.get(client);
    this.#moved.set(client, HAS_MOVED);
    waiting?.();
  }

  /** Called for each act by the run as well; the messages themselves say which act it is. */
  acted(client: string): void;
  acted(client: string, what: string, resource: string): Promise<void>;
  acted(client: string, what?: string, resource = ''): Promise<void> | void {
    if (what === undefined) return undefined;
    if (what === 'enters')
      for (const entry of [...this.#entries])
        if (entry.on !== client && this.#entries.delete(entry)) entry.resolve();
    return this.anchors.acted(client, what, resource);
  }

  /** A write travels on the client's link to the resource, and its answer back. */
  readonly carry = async (client: string, resource: string, arrive: () => boolean): Promise<boolean> => {
    const host = this.#host(resource);
    const { network } = this.sets[0] as ProgramNodes;
    const carrier = {};
    await new Promise<void>((arrived) =>
      network.lane(client, host).pass(carrier, undefined, () => arrived()),
    );
    const taken = arrive();
    await new Promise<void>((back) => network.lane(host, client).pass(carrier, undefined, () => back()));
    return taken;
  };

  printed(client: string, text: string): void {
    if (this.#printed.length < MOST_PRINTED) this.#printed.push({ at: this.micros(), who: client, text });
  }

  broken(client: string, text: string): void {
    this.#run?.told(client, text);
  }

  beat(client: string, late: number, isOurs: boolean): void {
    if (!isOurs) this.watch.note(late, client);
  }

  holdLinks(client: string, hold: boolean): void {
    const others = [
      ...this.sets.flatMap(({ nodes }) => nodes.map(({ name }) => name)),
      ...this.#hosts.values(),
    ];
    for (const other of others)
      for (const lane of [this.#lane(client, other), this.#lane(other, client)])
        hold ? lane.suspend() : lane.proceed();
  }

  #lane(from: string, to: string) {
    return networkOf(this.sets as never, from, to).lane(from, to);
  }

  /** A pause that ends when another client enters ends while that one is at work. */
  async #lasting({ kind, how, on }: PlannedFault, ms: number): Promise<void> {
    if (kind !== 'client-pause' || how !== 'entered') return await pass(ms);
    const entered = new Promise<void>((resolve) => this.#entries.add({ on, resolve }));
    await Promise.race([pass(ms), entered.then(() => pass(AT_WORK))]);
  }

  timeOf(fault: PlannedFault): FaultTime {
    const awaited: AwaitedFault = { fault, begun: false, over: false };
    this.#faults.push(awaited);
    const wait = async (ms: number): Promise<void> => {
      if (awaited.begun) return this.#lasting(fault, ms);
      const { after } = fault;
      if (after === undefined) await pass(ms);
      else {
        await this.anchors.wait(after);
        if (after.later > 0) await pass(after.later);
      }
      awaited.begun = true;
    };
    return {
      struckAfter: 0,
      wait,
      over: () => {
        awaited.over = true;
      },
    };
  }

  /** Waits for the faults that have begun, and for the others as long as clients may still come to where they strike. */
  async untilStruck(_faults: Promise<unknown>, run: StageRun): Promise<void> {
    const isOver = (): boolean => this.#clients.every(({ end, alive }) => end !== undefined || !alive);
    for (;;) {
      const open = this.#faults.filter(({ over }) => !over);
      if (open.length === 0 || run.stopped) return;
      const isLate = run.now() > this.#options.patienceMs;
      if (open.every(({ begun }) => !begun) && (isOver() || isLate)) return;
      await pass(this.looksEvery);
    }
  }

  async mend(clients: readonly ProgramClient[]): Promise<void> {
    for (const client of clients) if (client.stopped) client.resume();
    for (const set of this.sets) {
      for (const node of set.nodes) {
        if (node.paused) node.resume();
        if (!node.up) await set.restart(node.name);
      }
      for (const replica of set.replicas)
        for (const { name } of clients) set.network.reset(name, replica.name);
    }
    const others = [
      ...this.sets.flatMap(({ nodes }) => nodes.map(({ name }) => name)),
      ...this.#hosts.values(),
    ];
    for (const { name } of clients)
      for (const other of others)
        for (const lane of [this.#lane(name, other), this.#lane(other, name)]) {
          lane.delay(0);
          lane.heal();
          lane.release();
        }
  }

  agree(): boolean {
    return true;
  }

  settle(): Promise<void> {
    return pass(5);
  }

  keysLeft(): Promise<KeyLeft[][]> {
    return Promise.all(this.sets.map((set) => set.keysLeft()));
  }

  async finish(): Promise<void> {
    await Promise.all(this.sets.map((set) => set.finish()));
  }

  blamed(): undefined {}

  record(): ReturnType<Stage['record']> {
    const world = recordOfNodes(this.sets, this.seed);
    return { events: world.trace.events, world, clock: 'real', printed: this.#printed, hash: () => NO_TRACE };
  }

  /** Ends the nodes. The processes live on. */
  async close(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#interrupt);
    this.#run?.abort();
    for (const client of this.#clients) client.leave();
    this.watch.end();
    await Promise.all(this.sets.map((set) => set.close()));
  }
}

const HAS_MOVED = (): void => {};

/** Stands for the hash of a trace: no two runs in real time have the same one. */
const NO_TRACE = '0'.repeat(64);
