/**
 * Moves the time of one world at a time, in batches of real macrotasks, so that code outside never sees virtual time.
 */
import { beats, CELL } from './beats.ts';
import { hasImmediates, starterOf } from './culprits.ts';
import { countResources, type Inside, present } from './current-world.ts';
import { errorText } from './process-end.ts';

/** The work of moving one world's time until nothing is left to do. */
export interface Drive {
  readonly inside: Inside;
  /** Called once, when it is this drive's turn. An error ends the drive. */
  begin(): void;
  /** Takes one step, after which Node runs all ticks and microtasks. Returns true when nothing is left to do. */
  step(): boolean;
  /** Takes an exception that nothing has caught: it ends the program of the world that threw it. Returns false when it ends none. */
  takes(error: unknown): boolean;
  /** Called when code that ran because of the last step has thrown what nothing caught. */
  blame(): void;
}

/** The usual number of steps in one batch. Real I/O and real timers wait for the batch to end. */
const BATCH = 64;
/**
 * A drive that has taken so many steps goes on in larger batches, of about a millisecond: with a tenth less CPU time. Short
 * drives would only queue more steps than they need.
 */
const LONG = 1000;
const LONG_BATCH = 256;

/**
 * Waits for its turn, then steps until the work is done. Rejects with what `begin` or `step` throws, and when code in
 * the world has started real I/O.
 *
 * One step is one macrotask: after it, every nextTick and promise reaction has run, however deep. The immediates of one
 * check phase run back to back, so neither I/O nor a real timer can run within a batch. `present.inside` is set only
 * during a batch. Worlds take turns because client libraries keep job queues that all worlds share (bluebird's, for
 * example): a drive must leave them empty before the next world runs.
 */
export function drive(work: Drive): Promise<void> {
  const turn = present.turn.then(
    () => new Promise<void>((resolve, reject) => new Batches(work, resolve, reject)),
  );
  present.turn = turn.catch(() => {});
  return turn;
}

class Batches {
  readonly #work: Drive;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  #begun = false;
  #done = false;
  #failed = false;
  #error: unknown;
  /** True when an exception has ended Node's phase early: then the resources of the process say nothing. */
  #interrupted = false;
  /** True when ticks and microtasks of an interrupted step are left. */
  #drains = false;
  #before = new Map<string, number>();
  /** Starts small, because most drives are short. */
  #size = 4;
  #queued = 0;

  constructor(work: Drive, resolve: () => void, reject: (error: unknown) => void) {
    this.#work = work;
    this.#resolve = resolve;
    this.#reject = reject;
    process.on('uncaughtExceptionMonitor', this.#interrupt);
    this.#queue();
  }

  #queue(): void {
    const { setImmediate } = present.real;
    setImmediate(this.#enter);
    for (let i = 0; i < this.#size; i++) setImmediate(this.#step);
    setImmediate(this.#leave);
  }

  readonly #enter = (): void => {
    this.#interrupted = false;
    this.#before = countResources();
    present.excused.clear();
    present.began.clear();
  };

  readonly #step = (): void => {
    if (this.#done) return;
    present.inside = this.#work.inside;
    if (beats.cells !== undefined) {
      beats.cells[CELL.beat]!++;
      beats.cells[CELL.inside] = 1;
    }
    if (this.#drains) {
      // Node runs what is left behind this function.
      this.#drains = false;
      return;
    }
    try {
      if (this.#begun) this.#done = this.#work.step();
      else {
        this.#begun = true;
        checkReplaced();
        this.#work.begin();
      }
    } catch (error) {
      this.#fail(error);
    }
  };

  /** An exception in a tick or microtask ends Node's phase early. What follows must not run in the world. */
  readonly #interrupt = (error: unknown): void => {
    const isOurs = present.inside === this.#work.inside;
    present.inside = undefined;
    if (!isOurs) return;
    this.#interrupted = true;
    const taken = this.#work.takes(error);
    if (taken || present.keeper !== undefined) present.taken = { error };
    if (taken) {
      this.#drains = true;
      return;
    }
    this.#work.blame();
    this.#fail(new Uncaught(error));
  };

  readonly #leave = (): void => {
    present.inside = undefined;
    if (beats.cells !== undefined) beats.cells[CELL.inside] = 0;
    const leaks = this.#interrupted ? [] : this.#leaks();
    // Reported first, because any other error, such as a wait that could not end, may be a consequence of it.
    if (leaks.length > 0) this.#breakDown(new RealInputOutput(leaks));
    if (!this.#done) {
      this.#queued += this.#size;
      this.#size = this.#queued < LONG ? Math.min(BATCH, this.#size * 2) : LONG_BATCH;
      this.#queue();
      return;
    }
    process.off('uncaughtExceptionMonitor', this.#interrupt);
    if (this.#failed) this.#reject(this.#error);
    else this.#resolve();
  };

  #fail(error: unknown): void {
    if (!this.#failed) this.#error = error;
    this.#failed = true;
    this.#done = true;
  }

  #breakDown(error: RealInputOutput): void {
    if (this.#failed) error.cause = this.#error;
    this.#failed = false;
    this.#fail(error);
  }

  /**
   * The resources that code in the world has started: everything new, because nothing else has run since the batch
   * began.
   */
  #leaks(): string[] {
    const leaks = [...new Set(present.refused.splice(0))];
    for (const [name, count] of countResources()) {
      // The batch's own immediates, counted at its beginning: those of the steps, and this one.
      const ours = name === 'Immediate' ? this.#size + 1 : 0;
      const before = (this.#before.get(name) ?? 0) - ours + (present.excused.get(name) ?? 0);
      if (count > before && (name !== 'Immediate' || hasImmediates())) leaks.push(name);
    }
    return leaks.sort();
  }
}

/** An exception in a world that nothing caught. It would have ended a real process. */
export class Uncaught extends Error {
  constructor(cause: unknown) {
    super(
      `nothing in the world caught ${errorText(cause)}. ` +
        "If a client emitted it as 'error', the client needs a listener: client.on('error', () => {})",
      { cause },
    );
    this.name = 'Uncaught';
  }
}

/** Thrown when code in a world starts something that virtual time cannot finish. */
export class RealInputOutput extends Error {
  /** Node's names of the resources that were started. */
  readonly resources: readonly string[];

  constructor(resources: readonly string[]) {
    const isTimer = (name: string): boolean => name === 'Timeout' || name === 'Immediate';
    const named = resources.map((name) => {
      const by = starterOf(name);
      return by === undefined ? name : `${name} by ${by}`;
    });
    const cures = [
      resources.some(isTimer) &&
        "A real timer comes from a module that was loaded before lostlock and kept Node's own functions: import 'lostlock/router', or the " +
          'entry of your test runner such as lostlock/vitest, in the first line of the file',
      !resources.every(isTimer) &&
        'Do it before the world starts, or between two calls that move time (advance, run, until); or let a stand-in of the test do it',
    ];
    super(
      `code in a world began real I/O, which virtual time cannot finish: ${named.join(', ')}. ${cures.filter(Boolean).join('. ')}`,
    );
    this.name = 'RealInputOutput';
    this.resources = resources;
  }
}

/** Throws unless code in the world will use the virtual clock. */
function checkReplaced(): void {
  if (present.replaced === undefined) {
    throw new Error(
      "the virtual clock needs its stand-ins for Node's functions: import 'lostlock/router' before any client",
    );
  }
  for (const [name, replaced] of Object.entries(present.replaced)) {
    if (Reflect.get(globalThis, name) !== replaced) {
      throw new Error(
        `globalThis.${name} is not the router's: fake timers (vi.useFakeTimers, jest, sinon) are active; ` +
          'uninstall them before you use the virtual clock',
      );
    }
  }
}
