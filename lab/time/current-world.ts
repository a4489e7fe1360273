/**
 * Records which world's code is running, if any. There is one record per process, even when it holds several copies of
 * this package.
 */
import type { Duplex } from 'node:stream';
import timers from 'node:timers';
import type { ProcessEnd } from './process-end.ts';

/** What a world offers to the code that runs in it, in place of Node's functions. */
export interface Inside {
  /** Whole milliseconds since the epoch, on the wall clock of the running actor. */
  wallClock(): number;
  /** Microseconds since the world began, on the monotonic clock of the running actor. */
  elapsed(): number;
  /** A number in [0, 1). */
  random(): number;
  fill(bytes: Uint8Array): void;
  setTimeout(callback: Callback, delayMs: number, args: readonly unknown[], repeat: boolean): object;
  setImmediate(callback: Callback, args: readonly unknown[]): object;
  /** Cancels the timer with this numeric id. */
  clearById(id: number): void;
  /** Opens an in-memory connection, as net.createConnection would. */
  dial(host: string, port: number): Duplex;
  /** Keeps the running actor's process busy for so many milliseconds. */
  block(ms: number): void;
  /** The number of the running actor's process. */
  readonly pid: number;
  /** The name of its machine: the actor's. */
  readonly hostname: string;
  /** The program of the running actor ends. Returns false when nobody lets it end: then nothing has happened. */
  end(end: ProcessEnd): boolean;
  /** The code has printed a line. */
  printed(text: string): void;
  /** The answer of dns.lookup. */
  resolve(host: string): { address: string; family: number };
}

/** A callback with any parameters. */
export type Callback = (...args: never[]) => void;

/** Node's own functions, as they were before any was replaced. */
export interface NodeOriginals {
  readonly setImmediate: (task: () => void) => unknown;
}

/**
 * The state that the whole process shares, because Node's modules and the stand-ins for them are the same in all realms.
 */
interface Shared {
  inside: Inside | undefined;
  taken: { readonly error: unknown } | undefined;
  keeper: ((text: string) => void) | undefined;
  usesContexts: boolean;
  hasClients: boolean;
  slept: { readonly ms: number } | undefined;
  turn: Promise<void>;
  readonly excused: Map<string, number>;
  readonly refused: string[];
  readonly began: Map<string, string>;
  /** Every function that is a stand-in. It is not replaced again. */
  readonly standIns: WeakSet<object>;
  /** The record of each realm, by the realm's global object. */
  readonly realms: WeakMap<object, Present>;
}

/**
 * The record of one realm. Jest and vm give each test file its own realm, with its own global object, timers and Date.
 * All realms share the record of the running code, because a stand-in that one realm put into a module serves the others
 * too.
 */
class Present {
  readonly #shared: Shared;
  /** Set once Node's functions are replaced: the functions that this realm's globalThis must have. */
  replaced: Readonly<Record<string, unknown>> | undefined = undefined;
  readonly real: NodeOriginals = {
    // Jest's jsdom has none.
    setImmediate: (globalThis.setImmediate ?? timers.setImmediate) as (task: () => void) => unknown,
  };
  /** Resources that outside code has started on purpose while a world was running. */
  readonly excused: Map<string, number>;
  /** Work for Node's thread pool that code in the world has requested. Node does not list it among its resources. */
  readonly refused: string[];
  /** The places that have called functions which start real I/O in a world, by the kind of function. */
  readonly began: Map<string, string>;
  /** Every function that is a stand-in, in any realm. */
  readonly standIns: WeakSet<object>;

  constructor(shared: Shared) {
    this.#shared = shared;
    this.excused = shared.excused;
    this.refused = shared.refused;
    this.began = shared.began;
    this.standIns = shared.standIns;
  }

  get inside(): Inside | undefined {
    return this.#shared.inside;
  }

  set inside(inside: Inside | undefined) {
    this.#shared.inside = inside;
  }

  /** The exception that Node is about to report, although its world has taken it. */
  get taken(): { readonly error: unknown } | undefined {
    return this.#shared.taken;
  }

  set taken(taken: { readonly error: unknown } | undefined) {
    this.#shared.taken = taken;
  }

  /** Keeps what nothing in a world handles and what ends none of its programs; undefined while it is the process' own matter. */
  get keeper(): ((text: string) => void) | undefined {
    return this.#shared.keeper;
  }

  set keeper(keeper: ((text: string) => void) | undefined) {
    this.#shared.keeper = keeper;
  }

  /** True once code of this process has used an AsyncLocalStorage. */
  get usesContexts(): boolean {
    return this.#shared.usesContexts;
  }

  set usesContexts(used: boolean) {
    this.#shared.usesContexts = used;
  }

  /** True once a client of a world can be used outside of it: then timers outside say that they have waited. */
  get hasClients(): boolean {
    return this.#shared.hasClients;
  }

  set hasClients(has: boolean) {
    this.#shared.hasClients = has;
  }

  /** The milliseconds of real time for which the code that runs outside of worlds has slept; undefined if no timer woke it. */
  get slept(): { readonly ms: number } | undefined {
    return this.#shared.slept;
  }

  set slept(slept: { readonly ms: number } | undefined) {
    this.#shared.slept = slept;
  }

  /** Settles when the world that is being driven has finished. The next world waits for it. */
  get turn(): Promise<void> {
    return this.#shared.turn;
  }

  set turn(turn: Promise<void>) {
    this.#shared.turn = turn;
  }
}

const key = Symbol.for('lostlock.present');
// Kept on one of Node's modules rather than on globalThis: Jest disables what it finds there when a test file ends,
// while the stand-ins in Node's modules live on.
const home = timers as typeof timers & { [key]?: Shared };

function sharedRecord(): Shared {
  const shared: Shared = {
    inside: undefined,
    taken: undefined,
    keeper: undefined,
    usesContexts: false,
    hasClients: false,
    slept: undefined,
    turn: Promise.resolve(),
    excused: new Map(),
    refused: [],
    began: new Map(),
    standIns: new WeakSet(),
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

/** Marks the timer handles of worlds. A symbol, because several copies of the classes may exist. */
export const VIRTUAL: unique symbol = Symbol.for('lostlock.timer') as never;

/**
 * Runs outside code while a world is running: in real time, with real I/O, and exempt from the check for leaks. It must
 * not resolve anything that code in the world waits for.
 */
export function outside<T>(task: () => T): T {
  const back = stepOutside();
  try {
    return task();
  } finally {
    back();
  }
}

/** As `outside`, until the function that it returns is called. */
export function stepOutside(): () => void {
  const inside = present.inside;
  if (inside === undefined) return () => {};
  const before = countResources();
  present.inside = undefined;
  return () => {
    present.inside = inside;
    for (const [name, count] of countResources()) {
      const more = count - (before.get(name) ?? 0);
      if (more > 0) present.excused.set(name, (present.excused.get(name) ?? 0) + more);
    }
  };
}

/** The process' pending requests, handles and timers, counted by their names in Node. */
export function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  let immediates = 0;
  for (const name of process.getActiveResourcesInfo()) {
    // Within a drive, nearly all are its own immediates.
    if (name === 'Immediate') immediates++;
    else counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (immediates > 0) counts.set('Immediate', immediates);
  return counts;
}
