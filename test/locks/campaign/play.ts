/** Plays a plan in a world of its own, and gives the judge's verdict with the story that led to it. */
import { startServers } from '../../../index.ts';
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { LockLost, OutcomeUnknown } from '../../../locks/index.ts';
import { Chaos } from './chaos.ts';
import { type Client, loadNodeRedis, Names, openClient } from './clients.ts';
import { Judge, type Violation } from './judge.ts';
import { NAMES } from './kinds.ts';
import { FINAL, type Home, type Latch, liveAll, pass } from './lives.ts';
import type { Life, Plan } from './plan.ts';
import { type Plant, plantInWorld } from './plants.ts';
import { checkRemains } from './remains.ts';

/** The result of a world. */
export interface Outcome {
  readonly violations: readonly Violation[];
  readonly story: readonly string[];
  readonly grants: number;
  /** Of the whole trace: the same plan gives the same one. */
  readonly hash: string;
}

export interface PlayOptions {
  /** Whether the trace's hash is wanted, which costs some time. */
  readonly hash?: boolean;
  /** A defect to play it with. */
  readonly plant?: Plant | undefined;
}

/** Plays it. Rejects only when the world itself cannot be made. */
export async function play(plan: Plan, { hash = false, plant }: PlayOptions = {}): Promise<Outcome> {
  const nodeRedis = await loadNodeRedis();
  const { seed, primaries, replicas, latency, jitter } = plan;
  const network = { latency, jitter };
  await using servers = await startServers({
    clock: 'virtual',
    seed,
    primaries,
    replicas,
    patience: 1e9,
    network,
  });
  const { world, sets } = servers;
  plantInWorld(world, plant);
  const judge = new Judge(world, plan);
  const onRejection = (error: unknown): void =>
    judge.report('error', `unhandled rejection: ${String(error)}`);
  process.on('unhandledRejection', onRejection);
  try {
    await servers.run(async () => {
      const names = new Names(world, sets);
      const clients: Client[] = [];
      for (const index of plan.clients.keys()) {
        clients.push(await openClient(world, sets, names, nodeRedis, plan, index, plant));
      }
      await setUp(plan, clients, sets);
      world.schedule.beforeStep = judge.look;
      await new CampaignRun(plan, world, sets, clients, names, judge).play();
      world.schedule.beforeStep = undefined;
      for (const client of clients) if (client.alive) await client.actor.call(() => client.disconnect());
    });
  } catch (error) {
    judge.report('liveness', error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  const { violations, story, grants } = judge;
  return { violations, story, grants, hash: hash ? world.trace.hash() : '' };
}

/** Sets permits, stock and counts, and waits until the replicas have them. */
async function setUp(
  { kind, units }: Plan,
  [first]: readonly Client[],
  sets: readonly ReplicaSet[],
): Promise<void> {
  const { actor, kit } = first as Client;
  const { locks } = kit;
  await actor.call(async () => {
    if (kind === 'semaphore') await locks.semaphore('L').trySetPermits(units);
    if (kind === 'expirable permits') await locks.expirablePermits('L').trySetPermits(units);
    if (kind === 'latch') await locks.latch('L').trySetCount(units);
  });
  while (!sets.every(({ synchronized }) => synchronized)) await pass(1);
}

class CampaignRun {
  readonly #plan: Plan;
  readonly #world: World;
  readonly #sets: readonly ReplicaSet[];
  readonly #clients: readonly Client[];
  readonly #judge: Judge;
  readonly #chaos: Chaos;
  readonly #latch: Latch = { begun: 0, done: 0, unknown: false };
  /** The longest time for which a lock can stay closed without renewal, in milliseconds. */
  readonly #boundMs: number;

  constructor(
    plan: Plan,
    world: World,
    sets: readonly ReplicaSet[],
    clients: readonly Client[],
    names: Names,
    judge: Judge,
  ) {
    this.#plan = plan;
    this.#world = world;
    this.#sets = sets;
    this.#clients = clients;
    this.#judge = judge;
    const replicated = plan.settings.replicas !== undefined;
    const isRoughlyMended = plan.faults.some(({ deed }) => deed.do === 'failover');
    this.#chaos = new Chaos({ world, sets, clients, names, judge, replicated, isRoughlyMended });
    const { lockDelayMs = 0, leaseMs = 30_000 } = plan.settings;
    const jumps = plan.faults.map(({ deed }) => ('byMs' in deed ? Math.abs(deed.byMs) : 0));
    const leases = plan.tasks.flatMap(({ lives }) => lives.flatMap(leasesOf));
    this.#boundMs = Math.max(leaseMs, ...leases) + lockDelayMs + jumps.reduce((a, b) => a + b, 0) + 30_000;
  }

  async play(): Promise<void> {
    const { tasks, faults } = this.#plan;
    const chaos = this.#as('chaos', async () => {
      await this.#chaos.strike(faults);
      await this.#chaos.mend();
    });
    const pending = new Set<string>();
    const living = tasks.map(async ({ client, lives }, index) => {
      const home = this.#home(client, index);
      pending.add(home.name);
      const { actor, death } = this.#clients[client] as Client;
      await Promise.race([actor.call(() => liveAll(home, lives)), death]);
      pending.delete(home.name);
    });
    await chaos;
    const limit = this.#as('umpire', () => pass(this.#boundMs + 4 * this.#lengthMs()));
    await Promise.race([Promise.all(living), limit]);
    if (pending.size > 0) {
      this.#judge.report('liveness', `tasks never ended: ${[...pending].join(', ')}`);
      return;
    }
    await this.#as('umpire', async () => {
      await pass(this.#boundMs);
      await checkRemains(this.#plan, this.#sets, this.#clients, this.#judge);
    });
    for (const client of this.#clients) if (client.alive) await this.#everybodyAgain(client);
  }

  #as<T>(name: string, code: () => Promise<T>): Promise<T> {
    return this.#world.actor(name).call(code);
  }

  #home(client: number, index: number): Home {
    const { actor, kit, name } = this.#clients[client] as Client;
    const latch = this.#latch;
    return { plan: this.#plan, judge: this.#judge, actor, kit, latch, name: `${name}${index}` };
  }

  /** How long all lives together may take when each waits for all others. */
  #lengthMs(): number {
    const lengthOf = ({ after, leaseMs = 0, steps }: Life): number =>
      steps.reduce((sum, step) => {
        if (step.do === 'nest') return sum + lengthOf(step.life) + (step.life.waitMs ?? 0);
        return sum + (step.do === 'work' ? step.ms : 0);
      }, after + leaseMs);
    return this.#plan.tasks.reduce(
      (sum, { lives }) => lives.reduce((own, life) => own + lengthOf(life), sum),
      0,
    );
  }

  /** After all faults, every client gets every lock in time, and no permit or unit is missing. */
  async #everybodyAgain({ actor, kit, name }: Client): Promise<void> {
    const { kind } = this.#plan;
    if (kind === 'latch') return await actor.call(() => this.#openLatch(kit));
    const leaky = this.#judge.promises.excusesLeaks;
    if (kind === 'semaphore' && leaky) return;
    await actor
      .call(async () => {
        for (const [part] of (kind === 'multi' ? NAMES : ['L']).entries()) await this.#getAgain(kit, part);
      })
      .catch((error: unknown) => this.#judge.report('liveness', `${name}, after all: ${String(error)}`));
    if (kind === 'expirable permits') await actor.call(() => this.#countPermits(kit));
  }

  async #getAgain(kit: Client['kit'], part: number): Promise<void> {
    const { kind, units } = this.#plan;
    const deadline = this.#judge.now + this.#boundMs * 1000;
    for (;;) {
      const options = { waitMs: this.#boundMs, ...(kind === 'semaphore' && { permits: units }) };
      try {
        const entries = await kit.acquire({ ...FINAL, part }, options, false);
        return await entries?.[0]?.held.release();
      } catch (error) {
        // The client may still be about to connect, and a session that a fault has ended is noticed at its next renewal.
        const passes = error instanceof OutcomeUnknown || (kind === 'session' && error instanceof LockLost);
        if (!passes || this.#judge.now > deadline) throw error;
        await pass(200);
      }
    }
  }

  async #countPermits({ locks }: Client['kit']): Promise<void> {
    const permits = locks.expirablePermits('L');
    let left = await permits.availablePermits();
    for (let waited = 0; left !== this.#plan.units && waited < this.#boundMs; waited += 500) {
      await pass(500);
      left = await permits.availablePermits();
    }
    if (left !== this.#plan.units)
      this.#judge.report('conservation', `${left} of ${this.#plan.units} permits are left`);
  }

  async #openLatch({ locks }: Client['kit']): Promise<void> {
    const { begun, done, unknown } = this.#latch;
    const latch = locks.latch('L');
    const left = await latch.getCount();
    const expected = Math.max(0, this.#plan.units - begun);
    if (begun === done && !unknown && !this.#judge.promises.excusesLeaks && left !== expected)
      this.#judge.report('latch', `the count is ${left} after ${done} of ${this.#plan.units} count-downs`);
    for (let count = left; count > 0; count--) await latch.countDown();
    await latch.await({ waitMs: 10_000 });
    this.#latch.unknown = true; // From now on the count is this method's own.
  }
}

function leasesOf({ leaseMs = 0, steps }: Life): number[] {
  const more = steps.flatMap((step) => {
    if (step.do === 'nest') return leasesOf(step.life);
    return step.do === 'extend' ? [step.ms ?? 0] : [];
  });
  return [leaseMs, ...more];
}
