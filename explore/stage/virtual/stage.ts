/** The stage of virtual worlds: exact and fast, and the same plan gives the same trace. */
import type { Actor } from '../../../lab/time/actor.ts';
import { Task } from '../../../lab/time/task.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { GATE_DISK } from '../../../server/gates.ts';
import type { Topology } from '../../topology.ts';
import type { AbilitiesOf } from '../controls.ts';
import type { ClientIdentity, FaultTime, KeyLeft, Stage, StageRun } from '../stage.ts';
import { VirtualClient } from './client.ts';
import { keysIn } from './left.ts';
import { startNodes, type VirtualNodeSet, type VirtualNodes } from './nodes.ts';
import { DistantResources } from './resources.ts';

/** A limit for worlds that would never end, in virtual milliseconds. */
const LONGEST_WORLD = 86_400_000;

/** Starts a world with its nodes. */
export async function startVirtualStage(topology: Topology, seed: number, jitter: number): Promise<Stage> {
  return new VirtualStage(await startNodes(topology, seed, jitter));
}

class VirtualStage implements Stage {
  readonly sets: readonly VirtualNodeSet[];
  readonly network: World['network'];
  readonly abilities: AbilitiesOf<'virtual'>;
  readonly repeats: undefined;
  readonly looksEvery = 50;
  readonly resources: DistantResources;
  readonly #nodes: VirtualNodes;
  readonly #world: World;
  /** The exploration's own process, whose waits no fault stops. */
  readonly #director: Actor;

  constructor(nodes: VirtualNodes) {
    this.#nodes = nodes;
    this.#world = nodes.world;
    this.sets = nodes.sets;
    this.network = nodes.world.network;
    this.resources = new DistantResources(nodes.world);
    this.#director = this.#world.actor('director');
    this.abilities = {
      failSaves: (name, fail) => this.#all.find((node) => node.name === name)?.server.gate(GATE_DISK, fail),
      clockOf: (name) => (this.#all.find((node) => node.name === name) ?? this.#world.actor(name)).clock,
    };
  }

  get #all(): readonly LabNode[] {
    return this.sets.flatMap(({ nodes }) => nodes);
  }

  micros(): number {
    return this.#world.elapsed();
  }

  wallClock(): number {
    return this.#world.now;
  }

  wait(ms: number): Promise<void> {
    const { schedule } = this.#world;
    const goal = schedule.micros + Math.round(ms * 1000);
    return new Promise((resolve) => schedule.arm(new Task(this.#director, false, resolve), goal));
  }

  client(run: StageRun, identity: ClientIdentity): VirtualClient {
    this.#nodes.enroll(identity.name);
    return new VirtualClient(run, this.#nodes, this.#world, this.resources, identity);
  }

  numbersOf(clients: readonly VirtualClient[]): Record<number, string> {
    return Object.fromEntries(clients.map(({ name, actor }) => [actor.number, name]));
  }

  play(work: () => Promise<void>): Promise<void> {
    return this.#world.run(work, LONGEST_WORLD);
  }

  /** Connects the clients. Each has its own latency, so that few events happen at the same instant. */
  async connect(clients: readonly VirtualClient[]): Promise<void> {
    for (const [i, { name }] of clients.entries()) {
      for (const { nodes } of this.sets) {
        for (const [k, node] of nodes.entries())
          this.network.link(name, node.name).pace({ latency: 1 + 0.07 * i + 0.011 * k });
      }
    }
    for (const client of clients) await client.connect();
    while (!clients.every(({ ready }) => ready)) await this.wait(1);
  }

  begin(): void {}

  timeOf(): FaultTime {
    return { struckAfter: 0, wait: (ms) => this.wait(ms), over: () => {} };
  }

  untilStruck(faults: Promise<unknown>): Promise<unknown> {
    return faults;
  }

  acted(): void {}

  async mend(clients: readonly VirtualClient[]): Promise<void> {
    const { network } = this;
    for (const { clock } of [...clients.map(({ actor }) => actor), ...this.#all]) clock.drift(1);
    for (const set of this.sets) {
      for (const node of set.nodes) if (!node.up) await set.restart(node.name);
      for (const replica of set.replicas) for (const { name } of clients) network.reset(name, replica.name);
    }
    const others = [...this.#all.map(({ name }) => name), ...this.resources.hosts];
    for (const { name } of clients) {
      for (const other of others)
        for (const lane of [network.lane(name, other), network.lane(other, name)]) lane.delay(0);
    }
  }

  agree(): boolean {
    return this.#nodes.agree();
  }

  settle(): Promise<void> {
    return this.wait(5);
  }

  keysLeft(): KeyLeft[][] {
    return this.sets.map(({ primary }) => keysIn(primary.server.databases));
  }

  async finish(): Promise<void> {}

  blamed(): string | undefined {
    return (this.#world.schedule.blamed as Actor | undefined)?.name;
  }

  record(): ReturnType<Stage['record']> {
    const { trace, inside } = this.#world;
    return { events: trace.events, world: this.#world, printed: inside.output, hash: () => trace.hash() };
  }

  close(): Promise<void> {
    return this.#nodes.close();
  }
}
