/** What the clients of a world say and do at the resources that their locks protect, and whether that breaks exclusion. */

/** How a client enters a resource. */
export interface EnterOptions {
  /** The fencing token of the grant. The resource refuses tokens that are smaller than one that it has seen. */
  readonly fence?: number;
  /** True for a reader: readers may be inside together. Refused for a resource with several permits. */
  readonly shared?: boolean;
  /** How many permits the client uses; default 1. Only a resource with several permits takes more. */
  readonly permits?: number;
}

/** One visit of a client. Times are in milliseconds since the clients started, on a clock that no fault touches. */
export interface Visit {
  /** The number of the visit, in order of entry through the whole world. */
  readonly id: number;
  /** The client's name. */
  readonly client: string;
  /** The number of the client's life: it grows when the client is killed and started again. */
  readonly life: number;
  /** The resource's name. */
  readonly resource: string;
  /** When it entered. */
  readonly from: number;
  /** When it left, or died; Infinity while it is inside. */
  to: number;
  /** The fence that it entered with. */
  readonly fence: number | undefined;
  /** True for a reader. */
  readonly shared: boolean;
  /** How many permits it uses. */
  readonly permits: number;
  /** When the client wrote to the resource, and whether the resource took it. */
  readonly writes: { readonly at: number; readonly taken: boolean }[];
  /** How the visit ended; undefined while it lasts. */
  ended: 'left' | 'died' | undefined;
  /** True when the resource refused the client's fence at the entry. */
  readonly refused: boolean;
  /** When the client had last asked for anything that it could have got this entry by: its start, or its last exit. */
  readonly askedAfter: number;
}

/** A promise that a world has broken. */
export interface Breach {
  /** The promise, or the name of the user's function. */
  readonly promise: string;
  /** When, in milliseconds since the clients started; for a promise of the user, when the world ended. */
  readonly at: number;
  /** What was observed. */
  readonly what: string;
  /** The numbers of the visits that show it. */
  readonly visits: readonly number[];
}

/** A client's process, as far as the ledger needs to know it. */
export interface LedgerClient {
  readonly name: string;
  readonly life: number;
  /** True while the process stands still. */
  readonly paused: boolean;
  /** When the process last continued after a pause, in milliseconds; -1 for never. */
  readonly resumedAt: number;
}

/** What a client does at a resource. */
type Act = 'enters' | 'writes' | 'leaves';

/** What is known of one resource. */
interface ResourceState {
  readonly permits: number;
  readonly visits: Visit[];
  fence: number;
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
  readonly #now: () => number;
  readonly #resources = new Map<string, ResourceState>();
  /** The clients of the visits that last. */
  readonly #inside = new Map<Visit, LedgerClient>();
  /** When each client last left a resource or started, by name. */
  readonly #lastAsked = new Map<string, number>();

  /** The resources that the code writes to when nothing goes wrong. */
  readonly #written: ReadonlySet<string>;

  /**
   * @param now milliseconds since the clients started
   * @param written the resources that the code writes to when nothing goes wrong
   */
  constructor(now: () => number, written: ReadonlySet<string> = new Set()) {
    this.#now = now;
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

  /** The visits that last. */
  get inside(): Visit[] {
    return [...this.#inside.keys()];
  }

  /** A client's life begins. */
  started(client: string): void {
    this.#lastAsked.set(client, this.#now());
  }

  /** A client enters. */
  enter(
    client: LedgerClient,
    resource: string,
    permits: number,
    { fence, shared = false, permits: used = 1 }: EnterOptions,
  ): Visit {
    const state = this.#state(resource, permits);
    const refused = fence !== undefined && fence < state.fence;
    const visit: Visit = {
      id: this.visits.length,
      client: client.name,
      life: client.life,
      resource,
      from: this.#now(),
      to: Infinity,
      fence,
      shared,
      permits: used,
      writes: [],
      ended: undefined,
      refused,
      askedAfter: this.#lastAsked.get(client.name) ?? 0,
    };
    this.visits.push(visit);
    state.visits.push(visit);
    this.#inside.set(visit, client);
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
    const taken = visit.ended === undefined && (visit.fence === undefined || visit.fence >= state.fence);
    visit.writes.push({ at: this.#now(), taken });
    this.onEvent(client.name, `writes to ${visit.resource}${taken ? '' : ' and is refused'}`);
    state.written = true;
    if (taken) this.#check(state, visit, 'writes');
    return taken;
  }

  /** A client leaves. Its stall counts as part of the visit only if it did something afterwards. */
  leave(visit: Visit, client: LedgerClient): void {
    if (visit.ended !== undefined) return;
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
    visit.to = this.#now();
    this.#inside.delete(visit);
    this.#lastAsked.set(visit.client, visit.to);
  }

  #state(resource: string, permits: number): ResourceState {
    let state = this.#resources.get(resource);
    if (state === undefined) {
      state = { permits, visits: [], fence: -Infinity, written: this.#written.has(resource) };
      this.#resources.set(resource, state);
    }
    return state;
  }

  /** Looks for visits that may not be beside this one, which acts now. */
  #check(state: ResourceState, visit: Visit, act: Act): void {
    if (state.permits > 1) {
      this.#checkPermits(state, visit);
      return;
    }
    for (const other of state.visits) {
      if (other === visit || other.refused || !conflict(visit, other)) continue;
      if (other.id < visit.id && !this.#isActive(other)) continue;
      const [first, second] = other.id < visit.id ? [other, visit] : [visit, other];
      this.#report({
        promise: 'mutual-exclusion',
        at: this.#now(),
        what: meetingText(first, second, visit, act),
        visits: [first.id, second.id],
      });
    }
  }

  /** True when the client is inside and knows what it does: its process runs, and did not continue at this very moment. */
  #isActive(visit: Visit): boolean {
    const client = this.#inside.get(visit);
    if (client === undefined || client.paused) return false;
    return client.resumedAt < visit.from || client.resumedAt < this.#now();
  }

  #checkPermits(state: ResourceState, visit: Visit): void {
    const active = state.visits.filter((each) => each === visit || (!each.refused && this.#isActive(each)));
    const used = active.reduce((sum, { permits }) => sum + permits, 0);
    if (used <= state.permits) return;
    this.#report({
      promise: 'permits',
      at: this.#now(),
      what: `${used} permits of ${visit.resource} are in use, but there are only ${state.permits}`,
      visits: active.map(({ id }) => id),
    });
  }

  #report(breach: Breach): void {
    this.breaches.push(breach);
    this.onBreach(breach);
  }
}

/** Two clients that were inside together, in words. @param acting the visit whose client acts now, which shows it */
function meetingText(first: Visit, second: Visit, acting: Visit, act: Act): string {
  const differ = first.shared !== second.shared;
  const nameOf = ({ client, shared }: Visit): string =>
    differ ? `the ${shared ? 'reader' : 'writer'} ${client}` : client;
  const [one, other] = [nameOf(first), nameOf(second)];
  const { resource } = first;
  if (act === 'writes' && acting === second)
    return `${other} wrote to ${resource} while ${one} was still inside`;
  const entered = `${other} entered ${resource} while ${one} was still inside`;
  return act === 'writes' ? `${entered}, and then ${first.client} wrote to it` : entered;
}

/** True when the two may not be inside together. With different fences, the resource itself keeps them apart. */
function conflict(one: Visit, other: Visit): boolean {
  if (one.client === other.client && one.life === other.life) return false;
  if (one.shared && other.shared) return false;
  return one.fence === undefined || other.fence === undefined || one.fence === other.fence;
}
