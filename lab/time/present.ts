/** Whose code is running: that of a world, or nobody's (real time). One record per process, however many copies of us it holds. */
import type { Duplex } from 'node:stream';
import timers from 'node:timers';

/** What a world offers to the code that runs in it, in place of Node's own. */
export interface Inside {
  /** Whole milliseconds since the epoch, on the wall clock of whoever is running. */
  wallClock(): number;
  /** Microseconds since the world began, on the monotonic clock of whoever is running. */
  elapsed(): number;
  /** A number in [0, 1). */
  random(): number;
  fill(bytes: Uint8Array): void;
  setTimeout(callback: Callback, delayMs: number, args: readonly unknown[], repeat: boolean): object;
  setImmediate(callback: Callback, args: readonly unknown[]): object;
  /** Cancels a timer that is named by the number it was converted to. */
  clearById(id: number): void;
  /** Opens an in-memory connection, as net.createConnection would. */
  dial(host: string, port: number): Duplex;
  /** What dns.lookup answers. */
  resolve(host: string): { address: string; family: number };
}

export type Callback = (...args: never[]) => void;

/** Node's own functions, as they were before anything was routed. */
export interface Real {
  readonly setImmediate: (task: () => void) => unknown;
}

/** What the whole process shares: Node's modules are the same in all of its realms, and so are the routes over them. */
interface Shared {
  inside: Inside | undefined;
  turn: Promise<void>;
  readonly excused: Map<string, number>;
  readonly refused: string[];
  /** Every function that is a route, so that none is laid over another. */
  readonly routes: WeakSet<object>;
  /** The record of each realm, by its global object. */
  readonly realms: WeakMap<object, Present>;
}

/**
 * The record of one realm. Jest and vm give each test file a realm: a global object, timers and a Date of its own. All
 * realms share the code that is running, because a route that was laid over a module in one realm serves the others.
 */
class Present {
  readonly #shared: Shared;
  /** Set while routes are laid: the functions that this realm's globalThis must show. */
  routed: Readonly<Record<string, unknown>> | undefined = undefined;
  readonly real: Real = { setImmediate: globalThis.setImmediate as (task: () => void) => unknown };
  /** Resources that code of the outside began from within, on purpose. */
  readonly excused: Map<string, number>;
  /** Work for Node's thread pool that code in the world has asked for; Node does not list it among its resources. */
  readonly refused: string[];
  /** Every function that is a route, of whatever realm. */
  readonly routes: WeakSet<object>;

  constructor(shared: Shared) {
    this.#shared = shared;
    this.excused = shared.excused;
    this.refused = shared.refused;
    this.routes = shared.routes;
  }

  get inside(): Inside | undefined {
    return this.#shared.inside;
  }

  set inside(inside: Inside | undefined) {
    this.#shared.inside = inside;
  }

  /** Settles when the world that is being driven has finished; the next one waits for it. */
  get turn(): Promise<void> {
    return this.#shared.turn;
  }

  set turn(turn: Promise<void>) {
    this.#shared.turn = turn;
  }
}

const key = Symbol.for('lostlock.present');
// On a module of Node, not on globalThis: Jest disables what it finds there when a test file ends, and the routes over
// Node's modules live on.
const home = timers as typeof timers & { [key]?: Shared };

function sharedRecord(): Shared {
  const shared: Shared = {
    inside: undefined,
    turn: Promise.resolve(),
    excused: new Map(),
    refused: [],
    routes: new WeakSet(),
    realms: new WeakMap(),
  };
  Object.defineProperty(home, key, { value: shared });
  return shared;
}

function presentHere(): Present {
  const shared = home[key] ?? sharedRecord();
  const known = shared.realms.get(globalThis);
  if (known !== undefined) return known;
  const present = new Present(shared);
  shared.realms.set(globalThis, present);
  return present;
}

/** The record of this realm. */
export const present: Present = presentHere();

/** Marks the timer handles of worlds; a symbol, because several copies of our classes may exist. */
export const VIRTUAL: unique symbol = Symbol.for('lostlock.timer') as never;

/**
 * Runs code of the outside world from within a world: on real time, with real I/O, unseen by the check for leaks.
 * What it begins must not resolve anything that code in the world waits for.
 */
export function outside<T>(task: () => T): T {
  const inside = present.inside;
  if (inside === undefined) return task();
  const before = countResources();
  present.inside = undefined;
  try {
    return task();
  } finally {
    present.inside = inside;
    for (const [name, count] of countResources()) {
      const more = count - (before.get(name) ?? 0);
      if (more > 0) present.excused.set(name, (present.excused.get(name) ?? 0) + more);
    }
  }
}

/** The process' pending requests, handles and timers, counted by Node's names for them. */
export function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
