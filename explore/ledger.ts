/** What the clients of a world say and do at the resources that their locks protect, and which promises that breaks. */
import { promises } from './promises/index.ts';
import { type Entered, EntryTasks } from './tasks.ts';
import type { Breach, EnterOptions, Visit, VisitAct, VisitWrite } from './visit.ts';

/** A client's process, as far as the ledger needs to know it. */
export interface LedgerClient {
  readonly name: string;
  readonly life: number;
  /** True while the process stands still. */
  readonly paused: boolean;
  /** When the process last continued after a pause, in milliseconds; -1 for never. */
  readonly resumedAt: number;
  /** How far its running code is ahead of the world, because it has kept its process busy, in milliseconds; absent for 0. */
  readonly ahead?: number;
  /** Does something when the world has caught up with the running code. */
  whenReached?(act: () => void): void;
}

/** What is known of one resource. */
interface ResourceState {
  readonly permits: number;
  readonly visits: Visit[];
  /** True when what it protects must be done once. */
  once: boolean;
  fence: number;
  /** The idempotency keys of what it has done. */
  readonly keys: Set<string>;
  /** True if the code writes without faults, or a client has written: a visit then ends with its last act before a pause. */
  written: boolean;
}

/** Records the visits of a world, and finds the first one that breaks exclusion. */
export class Ledger {
  readonly visits: Visit[] = [];
  readonly breaches: Breach[] = [];
  /** Called with every breach, as soon as it is there. */
  onBreach: (breach: Breach) => void = () => {};
  /** Called with every event at a resource. */
  onEvent: (client: string, text: string) => void = () => {};
  /** Milliseconds since the clients started. */
  readonly now: () => number;
  readonly #resources = new Map<string, ResourceState>();
  /** The clients of the open visits. */
  readonly #inside = new Map<Visit, LedgerClient>();
  /** The visits that an error ended. */
  readonly #failed = new WeakSet<Visit>();
  /** When each client last left a resource or started, by name. */
  readonly #lastAsked = new Map<string, number>();

  /** The async tasks that enter. */
  readonly tasks = new EntryTasks();
  /** How many writes of a visit are under way, or their answers. */
  readonly #unanswered = new Map<Visit, number>();
  /** When the client last heard of a write of the visit. */
  readonly #answeredAt = new Map<Visit, number>();

  /** The resources that the code writes to when nothing goes wrong. */
  readonly #written: ReadonlySet<string>;

  /**
   * @param now milliseconds since the clients started
   * @param written the resources that the code writes to when nothing goes wrong
   */
  constructor(now: () => number, written: ReadonlySet<string> = new Set()) {
    this.now = now;
    this.#written = written;
  }

  /** The names of the resources that were entered. */
  get resources(): string[] {
    return [...this.#resources.keys()];
  }

  /** The number of permits of a resource, 1 for a lock; undefined before it is entered. */
  permitsOf(resource: string): number | undefined {
    return this.#resources.get(resource)?.permits;
  }

  /** True for a resource that must be used once. */
  isOnce(resource: string): boolean {
    return this.#resources.get(resource)?.once === true;
  }

  /** The open visits. */
  get inside(): Visit[] {
    return [...this.#inside.keys()];
  }

  /** A client's life begins. */
  started(client: string): void {
    this.#lastAsked.set(client, this.now());
  }

  /** True when the resource would refuse this fence now. */
  refuses(resource: string, fence: number | undefined): boolean {
    return fence !== undefined && fence < (this.#resources.get(resource)?.fence ?? -Infinity);
  }

  /** A client enters. @param entered the async task that does */
  enter(
    client: LedgerClient,
    resource: string,
    permits: number,
    { fence, shared = false, permits: used = 1, owner, key }: EnterOptions,
    once = false,
    entered: Entered = this.tasks.begin(),
  ): Visit {
    const state = this.#state(resource, permits);
    if (once) state.once = true;
    const refused = fence !== undefined && fence < state.fence;
    const visit: Visit = {
      id: this.visits.length,
      client: client.name,
      life: client.life,
      resource,
      from: this.now(),
      to: Infinity,
      fence,
      shared,
      permits: used,
      ...(owner !== undefined && { owner }),
      ...(key !== undefined && { key }),
      writes: [],
      ended: undefined,
      refused,
      askedAfter: this.#lastAsked.get(client.name) ?? 0,
    };
    this.visits.push(visit);
    state.visits.push(visit);
    this.#inside.set(visit, client);
    this.tasks.enter(entered, visit);
    const how = `${shared ? ' as a reader' : ''}${fence === undefined ? '' : ` with fence ${fence}`}`;
    this.onEvent(client.name, `enters ${resource}${how}${refused ? ' and is refused' : ''}`);
    if (refused) return visit;
    if (fence !== undefined) state.fence = fence;
    this.#check(state, visit, 'enters');
    return visit;
  }

  /** A client writes to the resource. Returns false when the resource refuses its fence. */
  write(visit: Visit, client: LedgerClient): boolean {
    const state = this.#state(visit.resource, 1);
    const allowed = visit.ended === undefined && (visit.fence === undefined || visit.fence >= state.fence);
    state.written = true;
    this.#take(state, visit, client.name, allowed, 'writes', { at: this.now() });
    return allowed;
  }

  /** A client sends a write to a resource at a distance. Returns false when it has left already, and sends nothing. */
  send(visit: Visit, client: LedgerClient): boolean {
    if (visit.ended !== undefined) return false;
    this.onEvent(client.name, `sends a write to ${visit.resource}`);
    this.#state(visit.resource, 1).written = true;
    this.#unanswered.set(visit, (this.#unanswered.get(visit) ?? 0) + 1);
    return true;
  }

  /** The client has heard what became of a write that it has sent. */
  answered(visit: Visit): void {
    this.#unanswered.set(visit, (this.#unanswered.get(visit) ?? 1) - 1);
    this.#answeredAt.set(visit, this.now());
  }

  /**
   * A write arrives that a client has sent, whatever the client does by now. Returns false when the resource refuses its fence.
   * @param sent when it was sent
   */
  arrive(visit: Visit, sent: number): boolean {
    const state = this.#state(visit.resource, 1);
    const allowed = visit.fence === undefined || visit.fence >= state.fence;
    this.#take(state, visit, visit.client, allowed, 'arrives', { at: this.now(), sent });
    return allowed;
  }

  /** A write is there. It changes nothing when it is refused, or when it was done already under its key. */
  #take(
    state: ResourceState,
    visit: Visit,
    client: string,
    allowed: boolean,
    act: 'writes' | 'arrives',
    write: Omit<VisitWrite, 'taken'>,
  ): void {
    const { resource, key } = visit;
    const isRepeated = key !== undefined && state.keys.has(key);
    const taken = allowed && !isRepeated;
    visit.writes.push({ ...write, taken });
    const end = !allowed ? ' and is refused' : isRepeated ? `, which has done it under the key ${key}` : '';
    this.onEvent(client, `${act === 'writes' ? 'writes to' : 'its write arrives at'} ${resource}${end}`);
    if (!taken) return;
    if (key !== undefined) state.keys.add(key);
    this.#check(state, visit, act);
  }

  /**
   * A client leaves. Its stall counts as part of the visit only if it did something afterwards.
   * @param failed true when an error ended its code: what it came for is not done
   */
  leave(visit: Visit, client: LedgerClient, failed = false): void {
    if (visit.ended !== undefined) return;
    if (failed) this.#failed.add(visit);
    this.#end(visit, 'left');
    this.onEvent(client.name, `leaves ${visit.resource}`);
    const state = this.#state(visit.resource, 1);
    // On a resource without writes, a client is inside until it leaves, even if it was paused.
    if (!state.written && !visit.refused) this.#check(state, visit, 'leaves');
  }

  /** The visits of a client's process end with it. */
  died(name: string): void {
    for (const [visit, client] of this.#inside) if (client.name === name) this.#end(visit, 'died');
  }

  #end(visit: Visit, how: 'left' | 'died'): void {
    visit.ended = how;
    visit.to = this.now();
    this.#inside.delete(visit);
    this.#lastAsked.set(visit.client, visit.to);
  }

  #state(resource: string, permits: number): ResourceState {
    let state = this.#resources.get(resource);
    if (state === undefined) {
      state = {
        ...{ permits, visits: [], once: false, fence: -Infinity },
        ...{ keys: new Set(), written: this.#written.has(resource) },
      };
      this.#resources.set(resource, state);
    }
    return state;
  }

  /** Looks which promises this act breaks. */
  #check({ permits, visits, once, written }: ResourceState, visit: Visit, act: VisitAct): void {
    const isActive = (each: Visit): boolean => this.#isActive(each);
    const areOneOwner = (one: Visit, other: Visit): boolean => this.tasks.isOne(one, other);
    const isDone = (each: Visit): boolean =>
      !each.refused &&
      (written ? each.writes.some(({ taken }) => taken) : each.ended === 'left' && !this.#failed.has(each));
    const acted = { visit, act, permits, once, visits, isActive, areOneOwner, isDone };
    for (const { name, atAct } of promises)
      for (const found of atAct?.(acted) ?? []) this.#report({ promise: name, at: this.now(), ...found });
  }

  /**
   * True when the client is inside and knows what it does: its process runs, and did not continue at this very moment. A client
   * that waits for the answer to a write does nothing else: the write counts when it arrives.
   */
  #isActive(visit: Visit): boolean {
    const client = this.#inside.get(visit);
    if (client === undefined || client.paused) return false;
    if ((this.#unanswered.get(visit) ?? 0) > 0 || this.#answeredAt.get(visit) === this.now()) return false;
    return client.resumedAt < visit.from || client.resumedAt < this.now();
  }

  #report(breach: Breach): void {
    this.breaches.push(breach);
    this.onBreach(breach);
  }
}
