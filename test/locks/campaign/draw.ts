/** Draws a world of the campaign from a seed: every choice is random and none is aimed at a known failure. */
import { Random } from '../../../lab/time/random.ts';
import type { LocksOptions } from '../../../locks/index.ts';
import { formsIn, kinds, kindsIn, type LockKind, titlesOf } from '../../../locks/kinds/index.ts';
import {
  ALL_REPLICAS,
  type Deed,
  type Fault,
  type KindName,
  type Life,
  type Plan,
  type Step,
  type TaskPlan,
  type Way,
  type Who,
} from './plan.ts';

/** The kinds of the campaign, in the order of the registry: seeds choose by it. */
export const KINDS: readonly KindName[] = withBothFences(kindsIn('campaign'));

/** The number of the first fault that was drawn apart from the others. */
export const LATER = 101;

/** Re-entrant kinds. */
export const REENTRANT: readonly KindName[] = withBothFences(
  kindsIn('campaign').filter((kind) => kinds[kind].reentrant),
);
/** Kinds that a multi may have as its parts. */
const PARTS: readonly KindName[] = titlesOf(formsIn('conformance').map(({ kind }) => kind));

function withBothFences(names: readonly LockKind[]): KindName[] {
  return titlesOf(names).flatMap((title) => (title === 'fenced' ? [title, 'fenced by the clock'] : [title]));
}

/** The plan of a seed; `only`: of one kind. */
export function draw(seed: number, only?: KindName): Plan {
  return new Drawing(seed, only).plan();
}

class Drawing {
  readonly #seed: number;
  readonly #random: Random;
  readonly #kind: KindName;
  readonly #leaseMs: number;
  readonly #units: number;
  /** The shortest lease that can be granted on this network. */
  readonly #leastMs: number;
  readonly #latency: number;
  readonly #jitter: number;
  /** Of the faults that were added later, so that the worlds of older seeds keep the rest. */
  readonly #later: Random;
  #lives = 0;

  constructor(seed: number, only: KindName | undefined) {
    this.#seed = seed;
    this.#random = new Random(seed, 'campaign');
    this.#later = new Random(seed, 'later faults');
    const kind = this.#random.pick(KINDS);
    this.#kind = only ?? kind;
    this.#latency = this.#random.pick([0.2, 1, 1, 5]);
    this.#jitter = this.#random.pick([0, 0.5, 1, 5]);
    const roundTrip = 2 * (this.#latency + this.#jitter);
    // A Redlock waits for each of its five servers for at most a tenth of the lease.
    this.#leastMs = Math.ceil(this.#kind === 'redlock' ? 60 + 15 * roundTrip : 40 + 5 * roundTrip);
    const short = this.#between(Math.max(200, this.#leastMs), 600);
    this.#leaseMs = this.#random.pick([short, short, this.#between(600, 2500), 30_000]);
    this.#units = this.#between(1, 4);
  }

  plan(): Plan {
    const kind = this.#kind;
    const independent = kind === 'redlock';
    const replicas = independent ? 0 : this.#random.pick([0, 1, 1, 2, 2]);
    const clients = Array.from({ length: this.#between(2, 4) }, () =>
      this.#chance(0.3) ? ('node-redis' as const) : ('ioredis' as const),
    );
    // As long as a few leases; the default one is left unharmed most of the time.
    const spanMs = this.#leaseMs * this.#random.pick([0.3, 1.5, 3, 5]) + 500;
    const tasks: TaskPlan[] = [];
    for (const client of clients.keys()) {
      for (let left = this.#between(1, 2); left > 0; left--) {
        const lives = Array.from({ length: this.#between(2, 6) }, () => this.#life(spanMs, 0));
        tasks.push({ client, lives });
      }
    }
    const plan: Plan = {
      seed: this.#seed,
      kind,
      parts: kind === 'multi' ? [this.#random.pick(PARTS), this.#random.pick(PARTS)] : [],
      primaries: independent ? this.#random.pick([3, 3, 5]) : 1,
      replicas,
      latency: this.#latency,
      jitter: this.#jitter,
      settings: this.#settings(replicas),
      clients,
      units: this.#units,
      tasks,
      faults: this.#faults(spanMs, replicas),
    };
    const faults = [...plan.faults, ...this.#laterFaults(plan, spanMs)].sort((a, b) => a.at - b.at);
    return { ...plan, faults, tasks: this.#withLeasesFor(plan) };
  }

  /**
   * The lease of a multi's first lock must last until the second one is granted too and both are extended. With `replicas`
   * each of these three requests takes up to three round trips: INFO, the script, and the way to the replicas.
   */
  #withLeasesFor({ kind, settings, tasks }: Plan): readonly TaskPlan[] {
    if (kind !== 'multi' || settings.replicas === undefined) return tasks;
    const leastMs = 40 + 9 * 2 * (this.#latency + this.#jitter);
    return tasks.map((task) => ({
      ...task,
      lives: task.lives.map((life) => ({
        ...life,
        leaseMs: life.leaseMs === undefined ? undefined : Math.ceil(Math.max(life.leaseMs, leastMs)),
      })),
    }));
  }

  #settings(replicas: number): LocksOptions {
    const leaseMs = this.#leaseMs;
    const waits = replicas > 0 && this.#chance(0.65);
    return {
      ...(leaseMs !== 30_000 && { leaseMs }),
      ...(this.#chance(0.5) && { requestTimeoutMs: this.#between(100, 800) }),
      ...(this.#chance(0.3) && { maxSleepMs: this.#between(200, 2000) }),
      ...(this.#chance(0.1) && { lockDelayMs: this.#between(20, 400) }),
      ...(this.#chance(0.1) && { maxHoldMs: this.#between(leaseMs, 4 * leaseMs) }),
      ...(this.#chance(0.4) && { placeMs: this.#between(300, 3000) }),
      ...(waits && { replicas: this.#random.pick([replicas, 1, 1, 'all' as const]) }),
      ...(waits && this.#chance(0.5) && { replicaTimeoutMs: this.#between(100, 600) }),
    };
  }

  #life(spanMs: number, depth: number, outer?: Life['owner']): Life {
    const leaseMs = this.#chance(0.45) ? this.#lease() : undefined;
    const anew = this.#chance(0.6) ? this.#random.pick(['client', 'client', 'task'] as const) : undefined;
    const owner = outer !== undefined && this.#chance(0.8) ? outer : anew;
    const forEver = depth === 0 && this.#kind !== 'semaphore' && this.#chance(0.3);
    const patience = this.#chance(0.15) ? 0 : this.#spell(4 * this.#leaseMs);
    return {
      id: ++this.#lives,
      after: depth > 0 ? 0 : this.#spell(spanMs / 3),
      mode: this.#chance(0.65) ? 'read' : 'write',
      part: this.#chance(0.4) ? this.#between(0, 1) : 'all',
      owner,
      leaseMs,
      waitMs: forEver ? undefined : patience,
      abortAfter: this.#chance(0.07) ? this.#spell(this.#leaseMs) : undefined,
      permits: this.#chance(0.3) ? this.#between(1, this.#units) : 1,
      using: this.#chance(0.2),
      steps: Array.from({ length: this.#between(0, depth > 0 ? 2 : 4) }, () =>
        this.#step(spanMs, depth, owner),
      ),
      end: this.#end(depth === 0 && owner === undefined ? leaseMs : undefined),
    };
  }

  /** @param leaseMs after which the lock must be lost: another hold of the owner could keep it */
  #end(leaseMs: number | undefined): Life['end'] {
    const immortal = this.#kind === 'semaphore' || this.#kind === 'session';
    const mayLapse = leaseMs !== undefined && leaseMs < 5000 && !immortal;
    if (mayLapse && this.#chance(0.2)) return this.#random.pick(['lapse', 'leave'] as const);
    return this.#chance(0.05) ? 'twice' : 'release';
  }

  #step(spanMs: number, depth: number, owner: Life['owner']): Step {
    const inner = this.#kind === 'multi' ? [] : REENTRANT;
    if (depth < 2 && inner.includes(this.#kind) && this.#chance(0.25)) {
      return { do: 'nest', life: this.#life(spanMs, depth + 1, owner) };
    }
    if (this.#chance(0.15)) {
      const ms = this.#kind === 'semaphore' || this.#chance(0.6) ? this.#lease() : undefined;
      return { do: 'extend', ms };
    }
    return { do: 'work', ms: this.#time(1.5 * this.#leaseMs) };
  }

  /** An explicit lease, from a few round trips to a few of the usual ones. */
  #lease(): number {
    return Math.max(this.#leastMs, this.#time(3 * this.#leaseMs));
  }

  #faults(spanMs: number, replicas: number): Fault[] {
    const count = this.#chance(0.08) ? 0 : this.#between(1, 10);
    const faults = Array.from({ length: count }, (_, id) => ({
      id: id + 1,
      at: this.#between(0, Math.ceil(spanMs)),
      deed: this.#deed(replicas),
    }));
    return faults.sort((a, b) => a.at - b.at);
  }

  #deed(replicas: number): Deed {
    const client = this.#random.pick([
      () => ({ do: 'hold client', ms: this.#fault(), who: this.#who(), way: this.#way() }) as const,
      () => ({ do: 'lose messages', ms: this.#fault(), who: this.#who(), way: this.#way() }) as const,
      () => ({ do: 'delay client', ms: this.#fault(), who: this.#who(), byMs: this.#spell(500) }) as const,
      () => ({ do: 'reset client', who: this.#who() }) as const,
      () => ({ do: 'stall client', ms: this.#fault(), who: this.#who() }) as const,
      () => ({ do: 'step client clock', byMs: this.#stepMs(), who: this.#who() }) as const,
      () =>
        ({
          do: 'drift client clock',
          rate: this.#random.pick([0.992, 0.996, 1.008]),
          who: this.#who(),
        }) as const,
      () => ({ do: 'client dies', who: this.#who() }) as const,
      () => ({ do: 'kill subscribers' }) as const,
    ]);
    const node = this.#random.pick([
      () => ({ do: 'stall node', ms: this.#fault(), node: this.#node() }) as const,
      () => ({ do: 'restart primary', ms: this.#fault(), node: this.#node() }) as const,
      () =>
        ({
          do: 'step node clocks',
          byMs: this.#chance(0.8) ? -this.#spell(20_000) : this.#spell(20_000),
        }) as const,
      () => ({ do: 'flush scripts' }) as const,
    ]);
    const pair = this.#random.pick([
      () => this.#failover(),
      () => this.#failover(),
      () =>
        ({
          do: 'delay replication',
          ms: this.#time(5 * this.#leaseMs),
          node: this.#node(),
          way: this.#way(),
          byMs: this.#spell(500),
        }) as const,
      () => ({ do: 'hold replication', ms: this.#fault(), node: this.#node(), way: this.#way() }) as const,
      () => ({ do: 'hold replication', ms: this.#fault(), node: this.#node(), way: this.#way() }) as const,
      () =>
        ({ do: 'restart replica', ms: this.#fault(), node: this.#node(), keep: this.#chance(0.5) }) as const,
    ]);
    const groups = replicas > 0 ? [client, node, pair, pair] : [client, client, node];
    return this.#random.pick(groups)();
  }

  /** Faults that a client must survive while it holds or releases a lock. */
  #laterFaults(plan: Plan, spanMs: number): Fault[] {
    const random = this.#later;
    const count = random.pick([0, 0, 1, 2, 3, 4]);
    const ms = (): number => random.between(1, Math.ceil(random.pick([0.5, 2, 5]) * this.#leaseMs) + 1);
    const node = (): number => random.between(0, ALL_REPLICAS + 1);
    const slowMs = this.#slowMs(plan);
    const deeds: (() => Deed)[] = [
      () => ({
        do: 'refuse releases',
        ms: ms(),
        node: node(),
        error: random.pick(['OOM', 'MISCONF', 'BUSY', 'READONLY'] as const),
      }),
    ];
    if (slowMs >= 1) {
      const who = (): Who => ({ client: random.between(0, 4), node: node() });
      const byMs = (): number => random.between(random.pick([1, Math.ceil(slowMs / 2)]), slowMs + 1);
      deeds.push(() => ({ do: 'slow client', ms: 2 * ms(), who: who(), byMs: byMs() }));
    }
    if (plan.primaries > 1) {
      const empty = (): Deed => ({ do: 'restart empty', ms: random.between(1, 200), node: node() });
      deeds.push(empty, empty);
    }
    return Array.from({ length: count }, (_, index) => ({
      id: LATER + index,
      at: random.between(0, Math.ceil(spanMs) + 1),
      deed: random.pick(deeds)(),
    }));
  }

  /** By how much messages may be late, one way, so that a holder bears it. */
  #slowMs({ primaries, settings }: Plan): number {
    const { requestTimeoutMs = 3000 } = settings;
    const ofServer = Math.max(50, 0.01 * this.#leaseMs);
    const ofRedlock = Math.min(ofServer, this.#leaseMs / primaries / 2);
    const most = Math.min(0.4 * this.#leaseMs, requestTimeoutMs, primaries > 1 ? ofRedlock : Infinity);
    return Math.floor(0.95 * (most / 2 - this.#latency - this.#jitter));
  }

  #failover(): Deed {
    return {
      do: 'failover',
      crash: this.#random.pick(['no', 'no', 'nothing', 'everything', 'silent'] as const),
      after: this.#chance(0.5) ? 0 : this.#spell(2000),
      // A supervisor restarts it soon, an operator much later.
      backAfter: this.#random.pick([() => 0, () => this.#spell(1000), () => this.#fault()])(),
    };
  }

  /** How long a fault lasts: from a moment to longer than two leases. */
  #fault(): number {
    return this.#time(2.5 * this.#leaseMs);
  }

  #stepMs(): number {
    return this.#chance(0.6) ? -this.#spell(20_000) : this.#spell(20_000);
  }

  #who(): Who {
    return { client: this.#between(0, 3), node: this.#node() };
  }

  #node(): number {
    return this.#between(0, ALL_REPLICAS);
  }

  #way(): Way {
    return this.#random.pick(['there', 'back', 'both'] as const);
  }

  #between(low: number, high: number): number {
    return this.#random.between(low, high + 1);
  }

  #chance(of: number): boolean {
    return this.#random.next() < of;
  }

  /** Milliseconds up to `most`: evenly spread or mostly short, by chance. */
  #time(most: number): number {
    return this.#chance(0.5) ? this.#between(1, Math.ceil(most)) : this.#spell(most);
  }

  /** Milliseconds up to `most`; a short span is as likely as one ten times as long. */
  #spell(most: number): number {
    return Math.round(3 * (Math.max(10, most) / 3) ** this.#random.next());
  }
}
