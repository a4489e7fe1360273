/** Replaces Node's timers, clocks and randomness by functions that ask which world's code is running. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { type Callback, present, VIRTUAL } from '../time/current-world.ts';
import { sleeper } from '../time/two-clocks.ts';
import { replaceConsole } from './console.ts';
import { replaceModules } from './modules.ts';
import { replaceOtherRuntimes } from './other-runtimes.ts';
import { replaceProcess } from './process.ts';
import { replaceTimerPromises } from './promises.ts';
import { replaceByRefusals } from './refusals.ts';
import { replaceMethod, standInFor } from './replace.ts';
import { replaceSockets } from './sockets.ts';

/**
 * Replaces the functions: the globals of this realm, and those of Node's modules unless another realm has replaced them.
 * The stand-ins serve the world whose code is running, and Node otherwise. Further calls have no effect. They cannot be
 * removed, because libraries keep the functions that they have seen. Modules that were loaded earlier may have kept the
 * originals.
 */
export function replaceNodeFunctions(): void {
  if (present.replaced !== undefined) return;
  const replaced = { ...timerStandIns(globalThis), Date: dateStandIn() };
  present.replaced = replaced;
  for (const [name, standIn] of Object.entries(replaced)) {
    // On Deno, the timers are accessors.
    const { enumerable = false } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
    Object.defineProperty(globalThis, name, {
      value: standIn,
      writable: true,
      configurable: true,
      enumerable,
    });
  }
  // node:timers gets functions of its own, because Jest disables those of a realm's globalThis when its test file ends.
  if (!present.standIns.has(timers.setTimeout)) Object.assign(timers, timerStandIns(timers));
  replaceMeters();
  replaceTimerPromises();
  replaceModules();
  replaceByRefusals();
  replaceSockets();
  replaceProcess();
  replaceConsole();
  replaceOtherRuntimes();
  syncBuiltinESMExports();
}

/** Stand-ins for the six timer functions of globalThis or of node:timers. Jest's jsdom has no global immediates, as browsers have none. */
function timerStandIns(owner: typeof timers | typeof globalThis): Record<string, unknown> {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = owner;
  const schedule = (real: typeof setTimeout, repeat: boolean) => {
    const standIn = (callback: Callback, delay?: unknown, ...args: unknown[]): unknown => {
      const { inside } = present;
      if (inside === undefined) {
        const isWatched = present.hasClients && typeof callback === 'function' && !repeat;
        const own = isWatched ? sleeper(callback, Number(delay ?? 0)) : callback;
        return (real as (...all: unknown[]) => unknown)(own, delay, ...args);
      }
      assertCallback(callback);
      return inside.setTimeout(callback, Number(delay), args, repeat);
    };
    return standInFor(standIn, real);
  };
  const later = (real: typeof setImmediate) =>
    standInFor((callback: Callback, ...args: unknown[]): unknown => {
      const { inside } = present;
      if (inside === undefined) return (real as (...all: unknown[]) => unknown)(callback, ...args);
      assertCallback(callback);
      return inside.setImmediate(callback, args);
    }, real);
  const clear = (real: typeof clearTimeout) => standInFor((handle: unknown) => cancel(handle, real), real);
  // util.promisify finds the promise form among the extra properties: that of node:timers/promises, which is replaced too.
  return {
    setTimeout: schedule(setTimeout, false),
    setInterval: schedule(setInterval as unknown as typeof setTimeout, true),
    clearTimeout: clear(clearTimeout),
    clearInterval: clear(clearInterval as unknown as typeof clearTimeout),
    ...(setImmediate !== undefined && {
      setImmediate: later(setImmediate),
      clearImmediate: clear(clearImmediate as unknown as typeof clearTimeout),
    }),
  };
}

function assertCallback(callback: unknown): void {
  if (typeof callback === 'function') return;
  const error: NodeJS.ErrnoException = new TypeError('The "callback" argument must be of type function.');
  error.code = 'ERR_INVALID_ARG_TYPE';
  throw error;
}

/** A handle knows its own world, so that a world's timer can be cleared from anywhere. */
function cancel(handle: unknown, real: (handle: never) => void): void {
  if (typeof handle === 'object' && handle !== null && VIRTUAL in handle) {
    (handle as unknown as { cancel(): void }).cancel();
  } else if (present.inside !== undefined && (typeof handle === 'number' || typeof handle === 'string')) {
    present.inside.clearById(Number(handle));
  } else {
    real(handle as never);
  }
}

function dateStandIn(): DateConstructor {
  const Real = globalThis.Date;
  function DateInWorld(this: unknown, ...args: unknown[]): unknown {
    const { inside } = present;
    if (new.target === undefined) {
      return inside === undefined ? Real() : new Real(inside.wallClock()).toString();
    }
    const given = args.length === 0 && inside !== undefined ? [inside.wallClock()] : args;
    return Reflect.construct(Real, given, new.target);
  }
  const standIn = DateInWorld as unknown as DateConstructor;
  Object.defineProperty(standIn, 'now', {
    value: () => (present.inside === undefined ? Real.now() : present.inside.wallClock()),
    writable: true,
    configurable: true,
  });
  standInFor(standIn, Real);
  Object.defineProperty(standIn, 'prototype', { value: Real.prototype, writable: false });
  Object.defineProperty(Real.prototype, 'constructor', {
    value: standIn,
    writable: true,
    configurable: true,
  });
  return standIn;
}

/** Stand-ins for Math.random, performance.now, process.hrtime and AbortSignal.timeout. */
function replaceMeters(): void {
  replaceMethod(
    Math,
    'random',
    (random) => () => (present.inside === undefined ? random() : present.inside.random()),
  );
  replaceMethod(globalThis.performance, 'now', (now) => {
    const real = now.bind(globalThis.performance);
    return () => (present.inside === undefined ? real() : present.inside.elapsed() / 1000);
  });
  replaceMethod(process, 'hrtime', (hrtime) => {
    const bigint = (): bigint =>
      present.inside === undefined ? hrtime.bigint() : BigInt(present.inside.elapsed()) * 1000n;
    const standIn = (since?: [number, number]): [number, number] => {
      if (present.inside === undefined) return hrtime(since);
      const nanos = present.inside.elapsed() * 1000 - (since === undefined ? 0 : since[0] * 1e9 + since[1]);
      return [Math.floor(nanos / 1e9), nanos - Math.floor(nanos / 1e9) * 1e9];
    };
    return Object.assign(standIn, { bigint });
  });
  replaceMethod(AbortSignal, 'timeout', (real) => {
    const timeout = real.bind(AbortSignal);
    return (delay: number): AbortSignal => {
      const { inside } = present;
      if (inside === undefined) return timeout(delay);
      const controller = new AbortController();
      const expire = (): void =>
        controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      inside.setTimeout(expire, delay, [], false);
      return controller.signal;
    };
  });
}
