/**
 * Notices code outside of a world that mixes the world's clock with the real one: a lock library that is given `pair.client()`, or a
 * loop that sleeps in real time between its commands. Nothing fails then, but leases hardly pass while the code sleeps.
 */
import { callerOf, packageOf } from './caller.ts';
import { type Callback, present } from './current-world.ts';

/** Packages whose calls are those of a test: test runners, and what passes a command on. */
const OWN = /^(lostlock|ioredis|vitest|@vitest\/.*|@?jest.*|mocha|chai|@sinonjs\/.*)$/;
/** How many calls of a client are looked at. A library makes one of the first. */
const LOOKS = 50;
/** So many commands after a sleep are a loop, and no accident. */
const WAKES = 2;

/** The worlds that a warning was printed about: there is one for each. */
const told = new WeakSet<object>();

/** Counts the calls of a client from outside of its world, and warns once. */
export class OutsideUse {
  readonly #world: object;
  readonly #name: string;
  #looks = 0;
  #wakes = 0;

  /** @param name the client's */
  constructor(world: object, name: string) {
    present.hasClients = true;
    this.#world = world;
    this.#name = name;
  }

  /** A method of the client is called outside of its world. @param called the function that the caller called */
  note(method: string, called: (...args: never[]) => unknown): void {
    if (told.has(this.#world)) return;
    const { slept } = present;
    if (slept !== undefined && ++this.#wakes === WAKES) {
      this.#tell(`code that had slept for ${slept.ms} ms of real time called ${method}()`);
    } else if (this.#looks++ < LOOKS) {
      const library = libraryOf(called);
      if (library !== undefined) this.#tell(`the package ${library} called ${method}()`);
    }
  }

  #tell(what: string): void {
    told.add(this.#world);
    console.warn(
      `lostlock: two clocks (LOSTLOCK_TWO_CLOCKS): ${what} of client('${this.#name}') outside of its world, where timers and ` +
        'Date.now() are real. Such a command moves the clock of the world by its own travel time only, so leases and delays of the ' +
        `world do not pass while the code waits. Make the library and call it inside: await pair.actor('${this.#name}').run(async () => { … })`,
    );
  }
}

/** A real timer's callback that says for how long it has slept. */
export function sleeper(callback: Callback, ms: number): Callback {
  return function (this: unknown, ...args: unknown[]): void {
    hasSlept(ms);
    Reflect.apply(callback, this, args);
  };
}

/** The code that runs now has slept, and so has what it wakes, such as the reactions of promises. @param ms of real time */
export function hasSlept(ms: number): void {
  const slept = { ms };
  present.slept = slept;
  // The reactions of promises run before this.
  present.real.setImmediate(() => {
    if (present.slept === slept) present.slept = undefined;
  });
}

/** The package that calls a function; undefined for the project's own code and for test runners. */
function libraryOf(called: (...args: never[]) => unknown): string | undefined {
  const place = callerOf(called, 1);
  const name = place && packageOf(place.file)?.name;
  return name === undefined || OWN.test(name) ? undefined : name;
}
