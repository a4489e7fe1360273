/** Runs the resumable form: a stack of frames on the heap, which can pause at any loop or call and continue later. */

import { luaErrorOf } from './library/protected.ts';
import { isFrame, isOperator } from './runtime/frames.ts';
import { NATIVE, type Site } from './runtime/site.ts';
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

/** How the next frame continues: with a value, or with an error thrown into it. */
type Input = { readonly value: Result } | { readonly error: unknown };

/** A script that is running or paused. */
export class FrameDriver {
  #thread: Thread;
  readonly #placeOf = (level: number): string => this.#callerPlace(level);
  #calls = 0;
  #input: Input = { value: undefined };

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
      const { stack } = this.#thread;
      const entry = stack[stack.length - 1];
      if (entry === undefined) {
        const ended = this.#leaveThread();
        if (ended !== undefined) return ended;
        continue;
      }
      const input = this.#input;
      let step: IteratorResult<Frame | Switch | undefined, Result>;
      try {
        step = 'error' in input ? entry.frame.throw(input.error) : entry.frame.next(input.value);
      } catch (thrown) {
        this.#pop();
        this.#input = { error: luaErrorOf(thrown) };
        continue;
      }
      if (step.done === true) this.#finish(step.value);
      else if (step.value === undefined) {
        this.#input = { value: undefined };
        if (!refuel()) return undefined;
      } else if (step.value instanceof Switch) this.#switch(step.value);
      else this.#call(step.value);
    }
  }

  #push(frame: Frame): void {
    this.#calls++;
    this.#thread.stack.push({ frame, site: NATIVE, tails: 0 });
  }

  #pop(): void {
    this.#calls--;
    this.#thread.stack.pop();
  }

  /** Enters a call. Its caller waits at the current site. */
  #call(frame: Frame): void {
    const { stack } = this.#thread;
    stack[stack.length - 1]!.site = S.site;
    if (this.#calls >= MAX_CALLS) {
      try {
        raiseAt(S.site, 'stack overflow');
      } catch (error) {
        this.#input = { error };
      }
      return;
    }
    this.#push(frame);
    this.#input = { value: undefined };
  }

  /** A frame has ended, with a result or with a frame that replaces it. */
  #finish(value: Result): void {
    const { stack } = this.#thread;
    if (isFrame(value)) {
      const entry = stack[stack.length - 1]!;
      entry.frame = value;
      entry.tails++;
      this.#input = { value: undefined };
      return;
    }
    this.#pop();
    const caller = stack[stack.length - 1];
    if (caller !== undefined) S.site = caller.site;
    this.#input = { value };
  }

  #switch({ thread, values }: Switch): void {
    const present = this.#thread;
    present.stack[present.stack.length - 1]!.site = S.site;
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
    this.#input = { value: values };
    if (thread.stack.length > 0) {
      this.#calls += thread.stack.length;
      return;
    }
    this.#push(thread.body(...values) as Frame);
    this.#input = { value: undefined };
  }

  /** Returns to the thread that resumed the current coroutine. */
  #return(values: Result): void {
    const { resumer, stack, nested } = this.#thread;
    this.#calls -= stack.length;
    this.#thread.resumer = undefined;
    S.nested = nested;
    this.#thread = resumer!;
    this.#thread.status = 'running';
    S.thread = this.#thread;
    this.#input = { value: values };
  }

  /** The current thread has no frame left: the script has ended, or a coroutine is dead. */
  #leaveThread(): { readonly result: Result } | undefined {
    const input = this.#input;
    const thread = this.#thread;
    if (thread.resumer === undefined) {
      if ('error' in input) throw input.error;
      return { result: input.value };
    }
    thread.status = 'dead';
    if ('error' in input) this.#return([false, (input.error as LuaError).value]);
    else this.#return([true, ...listOf(input.value)]);
    return undefined;
  }

  /** The place of the caller at this level; level 1 called the library function. */
  #callerPlace(level: number): string {
    const { stack } = this.#thread;
    let left = level;
    for (let i = stack.length - 1; i >= 0; i--) {
      const { frame, site, tails } = stack[i]!;
      if (isOperator(frame)) continue;
      if (--left === 0) return where(i === stack.length - 1 ? S.site : site);
      left -= tails;
      if (left <= 0) return '';
    }
    return '';
  }
}
