/** Judges a world: which holders believe that they hold a lock, resource accesses, fences, permits and unexpected errors. */
import { setMaxListeners } from 'node:events';
import type { Actor } from '../../../lab/time/actor.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { type HeldLock, LockError, LockLost, NotOwner } from '../../../locks/index.ts';
import type { Plan } from './plan.ts';
import { Promises } from './promises.ts';
import { Troubles } from './troubles.ts';

/** A broken promise. */
export interface Violation {
  readonly rule:
    | 'exclusion'
    | 'permits'
    | 'resource'
    | 'fence'
    | 'belief'
    /** A hold ended by itself although enough of its servers could be reached and had it. */
    | 'kept'
    /** A key or a permit is left after everything. */
    | 'returned'
    | 'conservation'
    | 'latch'
    | 'liveness'
    | 'error';
  readonly what: string;
  /** When it showed, in milliseconds of true time since the world began. */
  readonly at: number;
}

/** Which holders of one name exclude each other. */
export interface Rules {
  /** Whether the holds of one owner are compatible. */
  readonly byOwner: boolean;
  /** How many units may be out at a time; a lock has none. */
  readonly units?: number;
}

/** One hold of one name. */
export interface Holder {
  readonly name: string;
  readonly lock: string;
  readonly actor: Actor;
  readonly held: HeldLock;
  readonly shared: boolean;
  readonly units: number;
  readonly rules: Rules;
  /** Whether it is renewed; otherwise it ends with its lease. */
  readonly renewed: boolean;
  /** Microseconds of true time. */
  readonly askedAt: number;
  readonly grantedAt: number;
  over: boolean;
  /** When the first of its owner's holds that share one lease was asked for. */
  leaseSince?: number;
}

/** What one resource has seen. */
interface Resource {
  readonly visits: Holder[];
  /** The highest fence so far, and its owner. */
  fence: number;
  fencedBy: string;
  fencedAt: number;
  /** The last one of each owner. */
  readonly fences: Map<string, number>;
}

/** `validUntil` is told on the wall clock, which shows whole milliseconds. */
const BLUR_MS = 1;

/** A wall clock that was set by less than about 20 ms does not change `validUntil`. */
const STEP_MS = 25;

export class Judge {
  readonly violations: Violation[] = [];
  readonly story: string[] = [];
  readonly promises: Promises;
  readonly troubles: Troubles;
  grants = 0;
  readonly #world: World;
  readonly #holders = new Map<string, Set<Holder>>();
  readonly #resources = new Map<string, Resource>();
  /** Pairs that were reported or excused. */
  readonly #settled = new Set<string>();

  constructor(world: World, plan: Plan) {
    this.#world = world;
    this.promises = new Promises(plan);
    this.troubles = new Troubles(plan);
  }

  /** True time since the world began, in microseconds. */
  get now(): number {
    return this.#world.elapsed();
  }

  /** Adds a line to the story. */
  tell(what: string): void {
    this.story.push(`${(this.now / 1000).toFixed(3).padStart(12)} ms  ${what}`);
  }

  report(rule: Violation['rule'], what: string): void {
    this.tell(`*** ${rule}: ${what}`);
    this.violations.push({ rule, what, at: this.now / 1000 });
  }

  /** Records that a task was granted a lock. */
  granted(holder: Holder): void {
    this.grants++;
    let all = this.#holders.get(holder.lock);
    if (all === undefined) this.#holders.set(holder.lock, (all = new Set()));
    const sharing = [...all].filter(({ held }) => held.signal === holder.held.signal);
    holder.leaseSince = Math.min(holder.askedAt, ...sharing.map(({ leaseSince }) => leaseSince!));
    all.add(holder);
    // A holder that lost its lock no longer believes in it, even if its lease has time left.
    setMaxListeners(0, holder.held.signal); // All holds of one owner share it.
    holder.held.signal.addEventListener('abort', () => this.#lost(holder));
    const until = Math.round(this.#timeLeft(holder));
    this.tell(`${holder.name} is granted, for ${Number.isFinite(until) ? `${until} ms` : 'good'}`);
    if (holder.held.fence !== undefined) this.#checkFence(holder, holder.held.fence);
    this.look(); // It may be released before the next event.
  }

  #lost(holder: Holder): void {
    if (holder.over) return;
    const isEarly = holder.renewed || this.#timeLeft(holder) > STEP_MS;
    if (isEarly && !this.troubles.explain(holder, this.now)) {
      const { reason } = holder.held.signal as { reason: unknown };
      this.report('kept', `${holder.name} was lost for no reason: ${String(reason)}`);
    }
    this.ended(holder, 'was lost');
  }

  /** Records that its task releases it, or has learned that it is lost. */
  ended(holder: Holder, how: string): void {
    if (holder.over) return;
    holder.over = true;
    this.#holders.get(holder.lock)?.delete(holder);
    this.tell(`${holder.name} ${how}`);
  }

  /** Records that a process died: its holders no longer believe. */
  died(actor: Actor): void {
    for (const all of this.#holders.values()) {
      for (const holder of [...all]) if (holder.actor === actor) this.ended(holder, 'died');
    }
  }

  /** For how many milliseconds `assertHeld()` would pass, asked without its side effects, on the clocks of the holder. */
  #timeLeft(holder: Holder): number {
    if (holder.over) return 0;
    const { schedule } = this.#world;
    const { running } = schedule;
    schedule.running = holder.actor;
    try {
      return holder.held.validUntil - Date.now();
    } finally {
      schedule.running = running;
    }
  }

  #believes(holder: Holder): boolean {
    return this.#timeLeft(holder) > BLUR_MS;
  }

  /** Checks everybody who believes at this moment. Called after every event of the world. */
  readonly look = (): void => {
    for (const all of this.#holders.values()) {
      if (all.size < 2) continue;
      const holders = [...all];
      const first = holders[0] as Holder;
      if (first.rules.units !== undefined) this.#lookAtPermits(holders, first.rules.units);
      else this.#lookAtPairs(holders);
    }
  };

  #lookAtPairs(holders: readonly Holder[]): void {
    for (const [index, one] of holders.entries()) {
      for (let other = index + 1; other < holders.length; other++) {
        const two = holders[other] as Holder;
        if (areCompatible(one, two)) continue;
        const pair = `${one.name}|${two.name}`;
        if (this.#settled.has(pair) || !this.#believes(one) || !this.#believes(two)) continue;
        this.#settled.add(pair);
        const [from, to] = span([one, two]);
        if (this.promises.excuses(from, to)) this.tell(`(${one.name} and ${two.name} both believe: excused)`);
        else this.report('exclusion', `${one.name} and ${two.name} both believe that they hold ${one.lock}`);
      }
    }
  }

  #lookAtPermits(holders: readonly Holder[], units: number): void {
    const believers = holders.filter((holder) => this.#believes(holder));
    const out = believers.reduce((sum, holder) => sum + holder.units, 0);
    if (out <= units) return;
    const names = believers.map(({ name }) => name).join(', ');
    if (this.#settled.has(names)) return;
    this.#settled.add(names);
    const [from, to] = span(believers);
    if (this.promises.excuses(from, to)) this.tell(`(${out} of ${units} permits are out: excused)`);
    else this.report('permits', `${out} of ${units} permits are believed in: ${names}`);
  }

  /** The holder does something to the resource, after assertHeld(); false when that threw, and nothing was done. */
  visit(holder: Holder): boolean {
    const left = this.#timeLeft(holder);
    try {
      holder.held.assertHeld();
    } catch (error) {
      if (!(error instanceof LockLost || error instanceof NotOwner)) throw error;
      if (left > BLUR_MS)
        this.report('belief', `${holder.name} had time left, but assertHeld() threw: ${error.message}`);
      this.ended(holder, 'finds the lock lost');
      return false;
    }
    if (left < -BLUR_MS)
      this.report('belief', `assertHeld() passed for ${holder.name}, which has no time left`);
    this.#enter(holder);
    return true;
  }

  /** No other holder may visit the resource between the first and the last visit of one hold. */
  #enter(holder: Holder): void {
    const { visits } = this.#resource(holder.lock);
    const since = visits.indexOf(holder);
    if (since >= 0 && holder.rules.units === undefined) {
      for (let index = since + 1; index < visits.length; index++) {
        const other = visits[index] as Holder;
        if (areCompatible(holder, other)) continue;
        const pair = `${holder.name}/${other.name}`;
        if (this.#settled.has(pair)) continue;
        this.#settled.add(pair);
        const [from, to] = span([holder, other]);
        if (this.promises.excuses(from, to)) continue;
        this.report('resource', `${other.name} was in ${holder.lock} between two visits of ${holder.name}`);
      }
    }
    visits.push(holder);
  }

  #resource(lock: string): Resource {
    let resource = this.#resources.get(lock);
    if (resource === undefined) {
      resource = { visits: [], fence: -1, fencedBy: '', fencedAt: 0, fences: new Map() };
      this.#resources.set(lock, resource);
    }
    return resource;
  }

  /** Grants carry growing fences; an owner that enters again keeps its own. */
  #checkFence(holder: Holder, fence: number): void {
    const resource = this.#resource(holder.lock);
    const { owner } = holder.held;
    const grows = fence > resource.fence || (fence === resource.fence && owner === resource.fencedBy);
    const again = resource.fences.get(owner) === fence;
    resource.fences.set(owner, fence);
    if (!grows && !this.promises.excusesFence(resource.fencedAt, this.now, again)) {
      this.report('fence', `${holder.name} was granted fence ${fence} after ${resource.fence}`);
    }
    resource.fence = fence;
    resource.fencedBy = owner;
    resource.fencedAt = holder.askedAt;
  }

  /** Judges a thrown error: LockErrors are documented, everything else is reported. */
  threw(what: string, error: unknown): void {
    const text = error instanceof Error ? `${error.constructor.name}: ${error.message}` : String(error);
    this.tell(`${what} threw ${text}`);
    if (!(error instanceof LockError)) this.report('error', `${what} threw ${text}`);
  }
}

function areCompatible(one: Holder, two: Holder): boolean {
  if (one === two || (one.shared && two.shared)) return true;
  return one.rules.byOwner && one.held.owner === two.held.owner;
}

/** The span from the first request among them to the last grant. */
function span(holders: readonly Holder[]): [from: number, to: number] {
  const asked = Math.min(...holders.map(({ askedAt, leaseSince }) => leaseSince ?? askedAt));
  return [asked, Math.max(...holders.map(({ grantedAt }) => grantedAt))];
}
