/** Runs the resumable form: a stack of frames on the heap, which can pause at any loop or call and continue later. */

import { luaErrorOf } from './library/protected.ts';
import { isFrame, isOperator } from './runtime/frames.ts';
import type { Site } from './runtime/site.ts';
import { raiseAt, refuel, S, where } from './runtime/state.ts';
import {
  type Frame,
  type LuaError,
  type LuaFunction,
  listOf,
  type Result,
  Switch,
  Thread,
} from './runtime/values.ts';

/** The maximum depth of calls in Redis' Lua, including library functions. */
const MAX_CALLS = 19999;

/** `next` of all generators. V8 looks up the method of each generator's own class, and each run of a script makes new ones. */
const { next: NEXT } = Object.getPrototypeOf(Object.getPrototypeOf((function* (): Generator {})())) as Frame;

/** A script that is running or paused. */
export class FrameDriver {
  #thread: Thread;
  readonly #placeOf = (level: number): string => this.#callerPlace(level);
  #calls = 0;
  /** How the next frame continues: with a value, or with an error thrown into it. */
  #input: unknown = undefined;
  #fails = false;

  constructor(main: LuaFunction) {
    this.#thread = new Thread(main);
    this.#thread.status = 'running';
    this.#push(main() as Frame);
  }

  /** Makes this driver the one that library functions ask about callers and coroutines. */
  enter(): void {
    S.thread = this.#thread;
    S.callerPlace = this.#placeOf;
  }

  /** The place at which the script has paused. */
  get site(): Site {
    return S.site;
  }

  /**
   * Runs until the script ends or its fuel is used up.
   * @returns the script's result, or undefined when it has paused
   * @throws LuaError when the script fails
   */
  run(): { readonly result: Result } | undefined {
    for (;;) {
      const { frames } = this.#thread;
      const frame = frames[frames.length - 1];
      if (frame === undefined) {
        const ended = this.#leaveThread();
        if (ended !== undefined) return ended;
        continue;
      }
      let step: IteratorResult<Frame | Switch | undefined, Result>;
      try {
        step = this.#fails ? frame.throw(this.#input) : NEXT.call(frame, this.#input as Result);
      } catch (thrown) {
        this.#pop();
        this.#fail(luaErrorOf(thrown));
        continue;
      }
      this.#fails = false;
      this.#input = undefined;
      const { value } = step;
      if (step.done === true) this.#finish(value as Result);
      else if (value === undefined) {
        if (!refuel()) return undefined;
      } else if (value instanceof Switch) this.#switch(value);
      else this.#call(value as Frame);
    }
  }

  #push(frame: Frame): void {
    this.#calls++;
    const { frames, sites } = this.#thread;
    frames.push(frame);
    sites.push(S.site);
  }

  #pop(): void {
    const { frames, sites, tails } = this.#thread;
    this.#calls--;
    frames.pop();
    sites.pop();
    if (tails.length > frames.length) tails.length = frames.length;
  }

  /** Drops all frames but so many of the outermost ones. */
  #drop(kept: number): void {
    const { frames, sites, tails } = this.#thread;
    this.#calls -= frames.length - kept;
    frames.length = sites.length = kept;
    if (tails.length > kept) tails.length = kept;
  }

  /**
   * Continues with an error in the innermost frame that catches errors, and drops those in it. To throw the error into each
   * of 20,000 generators would take longer than all their calls did.
   */
  #fail(error: unknown): void {
    this.#drop(this.#thread.watchers.at(-1) ?? 0);
    this.#fails = true;
    this.#input = error;
  }

  /** Enters a call, from the current site. */
  #call(frame: Frame): void {
    if (this.#calls < MAX_CALLS) {
      this.#push(frame);
      return;
    }
    try {
      raiseAt(S.site, 'stack overflow');
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A frame has ended, with a result or with a frame that replaces it. */
  #finish(value: Result): void {
    const { frames, sites, tails } = this.#thread;
    const last = frames.length - 1;
    if (isFrame(value)) {
      frames[last] = value;
      tails[last] = (tails[last] ?? 0) + 1;
      return;
    }
    if (last > 0) S.site = sites[last]!;
    this.#pop();
    this.#input = value;
  }

  #switch({ thread, values }: Switch): void {
    const present = this.#thread;
    if (thread === undefined) {
      present.status = 'suspended';
      this.#return([true, ...values]);
      return;
    }
    present.status = 'normal';
    thread.status = 'running';
    thread.resumer = present;
    thread.nested = S.nested;
    this.#thread = thread;
    S.thread = thread;
    if (thread.frames.length > 0) {
      this.#input = values;
      this.#calls += thread.frames.length;
      return;
    }
    this.#push(thread.body(...values) as Frame);
  }

  /** Returns to the thread that resumed the current coroutine. */
  #return(values: Result): void {
    const { resumer, frames, nested } = this.#thread;
    this.#calls -= frames.length;
    this.#thread.resumer = undefined;
    S.nested = nested;
    this.#thread = resumer!;
    this.#thread.status = 'running';
    S.thread = this.#thread;
    this.#input = values;
  }

  /** The current thread has no frame left: the script has ended, or a coroutine is dead. */
  #leaveThread(): { readonly result: Result } | undefined {
    const thread = this.#thread;
    const [fails, input] = [this.#fails, this.#input];
    if (thread.resumer === undefined) {
      if (fails) throw input;
      return { result: input as Result };
    }
    thread.status = 'dead';
    this.#fails = false;
    if (fails) this.#return([false, (input as LuaError).value]);
    else this.#return([true, ...listOf(input as Result)]);
    return undefined;
  }

  /** The place of the caller at this level; level 1 called the library function. */
  #callerPlace(level: number): string {
    const { frames, sites, tails } = this.#thread;
    const last = frames.length - 1;
    let left = level;
    for (let i = last; i >= 0; i--) {
      if (isOperator(frames[i]!)) continue;
      if (--left === 0) return where(i === last ? S.site : sites[i + 1]!);
      left -= tails[i] ?? 0;
      if (left <= 0) return '';
    }
    return '';
  }
}
