/** Real timers and clocks, taken when this module is loaded: test frameworks replace the global ones with fakes. */
import { Socket } from 'node:net';
import { performance as meter } from 'node:perf_hooks';
import timers from 'node:timers';
import { runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import type { Millis } from '../../protocol/bytes.ts';
import type { Timer } from './host.ts';

/** Under this name the lab's routed functions carry the function that they replaced. */
const REPLACED = Symbol.for('lostlock.replaced');

/** The function itself, or the one that the lab's router put it in place of. */
function original<T extends object>(routed: T): T {
  return (routed as { [REPLACED]?: T })[REPLACED] ?? routed;
}

/** True when Node lists what was begun among its own resources, which it does not do for a fake timer. */
function isListed(resource: 'Timeout' | 'Immediate', begin: () => () => void): boolean {
  const count = (): number => process.getActiveResourcesInfo().filter((name) => name === resource).length;
  const before = count();
  try {
    const end = begin();
    const listed = count() > before;
    end();
    return listed;
  } catch {
    return false; // A fake that takes no such call.
  }
}

/** Runs the task after so many milliseconds, at most 2^31 - 1. It does not keep the process alive. */
export type Delay = (task: () => void, ms: number) => Timer;

/** Runs the task after the present turn of the event loop. */
export type Soon = (task: () => void) => Timer;

// Where the globals are fakes already, node:timers may still have the real functions: Jest replaces only the globals.
const sources = [globalThis, timers];

function timeoutsOf({
  setTimeout: set,
  clearTimeout: clear,
}: Pick<typeof globalThis, 'setTimeout' | 'clearTimeout'>): Delay {
  const [realSet, realClear] = [original(set), original(clear)];
  return (task, ms) => {
    const handle = realSet(task, ms).unref();
    return { cancel: () => realClear(handle) };
  };
}

function immediatesOf({
  setImmediate: set,
  clearImmediate: clear,
}: Pick<typeof globalThis, 'setImmediate' | 'clearImmediate'>): Soon {
  const [realSet, realClear] = [original(set), original(clear)];
  return (task) => {
    const handle = realSet(task);
    return { cancel: () => realClear(handle) };
  };
}

function genuineDelay(): Delay {
  for (const source of sources) {
    const { setTimeout: set, clearTimeout: clear } = source;
    const begin = (): (() => void) => {
      const handle = original(set)(() => {}, 1000);
      return () => original(clear)(handle);
    };
    if (isListed('Timeout', begin)) return timeoutsOf(source);
  }
  return socketDelay;
}

/** A socket's idle timer is one of Node's own, which no fake replaces. */
const socketDelay: Delay = (task, ms) => {
  const socket = new Socket();
  socket.setTimeout(ms, () => {
    socket.setTimeout(0);
    task();
  });
  return { cancel: () => void socket.setTimeout(0) };
};

function genuineSoon(): Soon {
  for (const source of sources) {
    const { setImmediate: set, clearImmediate: clear } = source;
    const begin = (): (() => void) => {
      const handle = original(set)(() => {});
      return () => original(clear)(handle);
    };
    if (isListed('Immediate', begin)) return immediatesOf(source);
  }
  return messageSoon();
}

/** Messages between two ports arrive in a later turn of the event loop, and no fake replaces them. */
function messageSoon(): Soon {
  const queue: ((() => void) | undefined)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.on('message', () => {
    const task = queue.shift();
    if (queue.length === 0) port1.unref();
    task?.();
  });
  port1.unref();
  return (task) => {
    queue.push(task);
    port1.ref();
    port2.postMessage(undefined); // One for each task, so that one that throws does not keep the next from running.
    return {
      cancel() {
        const at = queue.indexOf(task);
        if (at >= 0) queue[at] = undefined;
      },
    };
  };
}

/** Node's Date says so where its text is asked for; a fake is written in JavaScript. */
const NATIVE_NOW = 'function now() { [native code] }';

function genuineDate(): DateConstructor {
  const date = original(globalThis.Date);
  const text = Function.prototype.toString.call(date.now);
  return text === NATIVE_NOW ? date : (runInNewContext('Date') as DateConstructor);
}

function genuineTick(): (task: () => void) => void {
  const { nextTick } = process;
  if (nextTick.name === 'nextTick' && !('clock' in nextTick)) return nextTick;
  return (task) => void Promise.resolve().then(task);
}

/** Runs a task after so many milliseconds. */
export const realDelay: Delay = genuineDelay();

/** Runs a task after the present turn of the event loop. */
export const realSoon: Soon = genuineSoon();

/** Runs a task after the present one, before the event loop goes on. */
export const realTick: (task: () => void) => void = genuineTick();

/** Whole milliseconds since the Unix epoch. */
export const realNow: () => Millis = genuineDate().now;

// Fakes and routes lie on the object; what it inherits is Node's own.
const inherited = Object.getPrototypeOf(meter) as typeof meter;
const { timeOrigin } = meter;

/** Milliseconds, with fractions, since the process started. */
export const realElapsed: () => number = inherited.now.bind(meter);

/** Whole microseconds since the Unix epoch. */
export const realMicros = (): number => Math.floor((timeOrigin + realElapsed()) * 1000);
