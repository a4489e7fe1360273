/**
 * The real timers and clocks. They are saved when this module loads, because test frameworks replace the globals. It loads
 * with the package, so the modules of Node that it needs only beside fakes are loaded there.
 */
import { performance as meter } from 'node:perf_hooks';
import timers from 'node:timers';
import type { Millis } from '../../protocol/bytes.ts';
import type { Timer } from './host.ts';

/** The lab's replacements of global functions store the original function under this symbol. */
const REPLACED = Symbol.for('lostlock.replaced');

/** Returns the function itself, or the original if the lab has replaced it. */
function original<T extends object>(routed: T): T {
  return (routed as { [REPLACED]?: T })[REPLACED] ?? routed;
}

/** Bun, whose timers are native code, lists no timers. A fake is written in JavaScript. */
function isNative(name: string, timer: object): boolean {
  return Function.prototype.toString.call(timer) === `function ${name}() { [native code] }`;
}

/** Returns whether Node lists the new timer among its active resources, which it does not do for a fake. */
function isListed(resource: 'Timeout' | 'Immediate', begin: () => () => void): boolean {
  const count = (): number => process.getActiveResourcesInfo().filter((name) => name === resource).length;
  const before = count();
  try {
    const end = begin();
    const listed = count() > before;
    end();
    return listed;
  } catch {
    return false; // The fake does not accept such a call.
  }
}

/** Runs the task after a delay in milliseconds, at most 2^31 - 1. Does not keep the process alive. */
export type Delay = (task: () => void, ms: number) => Timer;

/** Runs the task after the current turn of the event loop. */
export type Soon = (task: () => void) => Timer;

// If the globals are already fakes, node:timers may still have the real functions: Jest replaces only the globals.
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
      const end = (): void => original(clear)(handle);
      if (typeof handle === 'object') return end;
      // Jest's jsdom gives numbers, as browsers do. Such a timer would keep the process alive.
      end();
      throw new TypeError('not a timer of Node');
    };
    if (isNative('setTimeout', original(set)) || isListed('Timeout', begin)) return timeoutsOf(source);
  }
  return socketDelay;
}

/** A socket's idle timer is internal to Node, so no fake replaces it. */
const socketDelay: Delay = (task, ms) => {
  const { Socket } = process.getBuiltinModule('node:net');
  const socket = new Socket();
  socket.setTimeout(ms, () => {
    socket.setTimeout(0);
    task();
  });
  return { cancel: () => void socket.setTimeout(0) };
};

function genuineSoon(): Soon {
  for (const source of sources) {
    const { setImmediate: set, clearImmediate: clear } = source as Partial<typeof timers>;
    if (set === undefined || clear === undefined) continue; // Jest's jsdom has the browser's functions only.
    const begin = (): (() => void) => {
      const handle = original(set)(() => {});
      return () => original(clear)(handle);
    };
    if (isNative('setImmediate', original(set)) || isListed('Immediate', begin)) return immediatesOf(source);
  }
  return messageSoon();
}

/** Messages between two ports arrive in a later turn of the event loop, and no fake replaces them. */
function messageSoon(): Soon {
  const queue: ((() => void) | undefined)[] = [];
  const { MessageChannel } = process.getBuiltinModule('node:worker_threads');
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
    port2.postMessage(undefined); // One message for each task: if a task throws, the next one still runs.
    return {
      cancel() {
        const at = queue.indexOf(task);
        if (at >= 0) queue[at] = undefined;
      },
    };
  };
}

/** The source text of Node's own Date.now. A fake is written in JavaScript and has another. */
const NATIVE_NOW = 'function now() { [native code] }';

function genuineDate(): DateConstructor {
  const date = original(globalThis.Date);
  const text = Function.prototype.toString.call(date.now);
  if (text === NATIVE_NOW) return date;
  return process.getBuiltinModule('node:vm').runInNewContext('Date') as DateConstructor;
}

function genuineTick(): (task: () => void) => void {
  const { nextTick } = process;
  if (nextTick.name === 'nextTick' && !('clock' in nextTick)) return nextTick;
  return (task) => void Promise.resolve().then(task);
}

/** Runs a task after a delay in milliseconds. */
export const realDelay: Delay = genuineDelay();

/** Runs a task after the current turn of the event loop. */
export const realSoon: Soon = genuineSoon();

/** Runs a task after the current one, before the event loop continues. */
export const realTick: (task: () => void) => void = genuineTick();

/** Returns whole milliseconds since the Unix epoch. */
export const realNow: () => Millis = genuineDate().now;

// Fakes and the lab's replacements are own properties of the object; the inherited method is Node's. On Bun the genuine one
// is an own property too.
const inherited = Object.getPrototypeOf(meter) as Partial<typeof meter>;
const { timeOrigin } = meter;

/** Returns a random number in [0, 1). node:crypto's would cost each process 3 ms, and the ids of servers need not be secret. */
export const realRandom: () => number = original(Math.random);

/** Returns milliseconds, with fractions, since the process started. */
export const realElapsed: () => number = (inherited.now ?? original(meter.now)).bind(meter);

/** Returns whole microseconds since the Unix epoch. */
export const realMicros = (): number => Math.floor((timeOrigin + realElapsed()) * 1000);
