/** The stage of real servers: processes behind the lab's links, in real time, in the order in which a virtual world went. */
import type { PlannedFault } from '../../faults/index.ts';
import type { PlayedWorld } from '../../played-world.ts';
import type { Topology } from '../../topology.ts';
import { PROBE } from '../../visit.ts';
import type { AbilitiesOf, StageNetwork } from '../controls.ts';
import type { ClientIdentity, FaultTime, Stage, StageRun } from '../stage.ts';
import { ServersClient } from './client.ts';
import { orderOf, type WorldOrder } from './milestones.ts';
import { heldFor, isAsking, networkOf, type ServersNodes, startRealServerNodes } from './nodes.ts';
import { Order } from './order.ts';
import type { ServersSet } from './sets.ts';
import { Streams } from './streams.ts';

/** How long a step waits for what came before it in the virtual world, in milliseconds. Then the order is given up. */
const PATIENCE = 30_000;

/** Starts the servers. Rejects when they do not start. @param virtual the world whose order is kept */
export async function startServersStage(
  topology: Topology,
  virtual: PlayedWorld,
  program: string,
): Promise<Stage> {
  return new ServersStage(await startRealServerNodes(topology, program), virtual);
}

class ServersStage implements Stage {
  readonly sets: readonly ServersSet[];
  readonly network: StageNetwork;
  readonly abilities: AbilitiesOf<'real servers'> = {};
  readonly repeats: PlayedWorld;
  readonly resources: undefined;
  readonly looksEvery = 1;
  readonly #nodes: ServersNodes;
  readonly #world: WorldOrder;
  readonly #order: Order;
  readonly #streams: Streams;
  readonly #clients: ServersClient[] = [];
  readonly #begun = performance.now();
  #run: StageRun | undefined;
  #closed = false;

  constructor(nodes: ServersNodes, virtual: PlayedWorld) {
    const { sets } = nodes;
    this.#nodes = nodes;
    this.sets = sets;
    this.repeats = virtual;
    this.network = {
      lane: (from, to) => networkOf(sets, from, to).lane(from, to),
      reset: (one, other) => networkOf(sets, one, other).reset(one, other),
    };
    this.#world = orderOf(virtual);
    this.#order = new Order(this.#world.milestones, this.#world.losses);
    this.#streams = new Streams(sets, this.#order, this.#world.streams);
    const look = (): void => {
      for (const client of this.#clients) client.look();
      this.#streams.look();
    };
    this.#order.onChange = look;
  }

  micros(): number {
    return (performance.now() - this.#begun) * 1000;
  }

  wallClock(): number {
    return Date.now();
  }

  wait(ms: number): Promise<void> {
    return new Promise((wake) => setTimeout(wake, ms));
  }

  client(run: StageRun, { name, twin }: ClientIdentity): ServersClient {
    const client = new ServersClient(run, this.#nodes, this.#order, name, twin?.of.known);
    // Nobody waits for the probe.
    if (name !== PROBE) this.#clients.push(client);
    return client;
  }

  numbersOf(): undefined {}

  play(work: () => Promise<void>): Promise<void> {
    return work();
  }

  async connect(clients: readonly ServersClient[]): Promise<void> {
    await Promise.all(clients.map((client) => client.connect()));
  }

  begin(run: StageRun): void {
    this.#run = run;
    this.#watch(run).catch((error: unknown) => run.fail(error));
  }

  async #watch(run: StageRun): Promise<void> {
    while (!this.#closed && !run.stopped) {
      this.#lookForRequest();
      this.#streams.look();
      await this.wait(1);
    }
  }

  /**
   * A reply that waits for the client whose write comes next is the one to it, unless it is about something else. A request
   * waits as soon as the server's machine has it.
   */
  #lookForRequest(): void {
    const { next } = this.#order;
    if (next === undefined || next.kind === 'act') return;
    const { client, kind, command } = next;
    if (kind === 'ask') {
      if (isAsking(this.sets, client)) this.#order.reached(client, 'ask');
      return;
    }
    const held = heldFor(this.sets, client, command);
    if (held === 'awaited') this.#order.reached(client, 'write');
    else if (held === 'other') this.#clients.find(({ name }) => name === client)?.receive();
  }

  timeOf(fault: PlannedFault, run: StageRun): FaultTime {
    let due = 0;
    let over = this.#order.expect(fault.at);
    const reached = async (at: number): Promise<void> => {
      const patience = run.now() + PATIENCE;
      while (!this.#order.hasReached(at) && !run.stopped) {
        if (run.now() > patience) this.#order.giveUp();
        await this.wait(1);
      }
    };
    /**
     * Waits as long as in the virtual world, and for what had happened there in the meantime. At first a fault that follows an event
     * waits for that, however long it takes here.
     */
    const wait = async (ms: number): Promise<void> => {
      const { after } = due === 0 ? fault : {};
      due += ms;
      const earlier = over;
      over = this.#order.expect(due);
      earlier();
      if (after !== undefined) await reached(due - after.later);
      await this.wait(after?.later ?? ms);
      await reached(due);
    };
    return { wait, struckAfter: this.#world.struckAt(fault) - fault.at, over: () => over() };
  }

  async untilStruck(faults: Promise<unknown>, run: StageRun): Promise<void> {
    let done = false;
    void faults.then(() => {
      done = true;
    });
    const end = run.now() + this.repeats.span + PATIENCE;
    while (!done && !run.stopped && run.now() < end) await this.wait(1);
  }

  acted(client: string): void {
    if (client !== PROBE) this.#order.reached(client, 'act');
  }

  async mend(): Promise<void> {}

  agree(): boolean {
    return true;
  }

  async settle(): Promise<void> {}

  keysLeft(): undefined {
    return undefined;
  }

  async finish(): Promise<void> {
    await Promise.all(this.sets.map((set) => set.readStream()));
  }

  blamed(): undefined {
    return undefined;
  }

  record(): Pick<PlayedWorld, 'events' | 'ordered' | 'hash'> {
    return { events: [], ordered: this.#order.kept, hash: () => '' };
  }

  /** Lets everything go. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#run?.abort();
    this.#order.giveUp();
    for (const client of this.#clients) client.kill();
    await this.#nodes.close();
  }
}
