/** Whose code is running: that of a world, or nobody's (real time). One record per process, however many copies of us it holds. */
import type { Duplex } from 'node:stream';

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

/** The record that all copies share. */
interface Present {
  inside: Inside | undefined;
  /** Set while routes are laid: the functions that globalThis must show. */
  routed: Readonly<Record<string, unknown>> | undefined;
  real: Real;
  /** Settles when the world that is being driven has finished; the next one waits for it. */
  turn: Promise<void>;
  /** Resources that code of the outside began from within, on purpose. */
  excused: Map<string, number>;
  /** Work for Node's thread pool that code in the world has asked for; Node does not list it among its resources. */
  refused: string[];
}

const key = Symbol.for('lostlock.present');
const shared = globalThis as typeof globalThis & { [key]?: Present };

/** The process-wide record. */
export const present: Present = (shared[key] ??= {
  inside: undefined,
  routed: undefined,
  real: {
    setImmediate: globalThis.setImmediate as (task: () => void) => unknown,
  },
  turn: Promise.resolve(),
  excused: new Map(),
  refused: [],
});

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
