/** The promise timers of node:timers/promises and util.promisify, for the world whose code is running. */
import timersPromises from 'node:timers/promises';
import { type Inside, present } from '../time/current-world.ts';
import { hasSlept } from '../time/two-clocks.ts';

interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

const real = { ...timersPromises, wait: timersPromises.scheduler.wait.bind(timersPromises.scheduler) };

/** setTimeout with a promise. */
function promisedTimeout<T>(delay?: number, value?: T, options?: WaitOptions): Promise<T> {
  const { inside } = present;
  if (inside === undefined) {
    const waiting = real.setTimeout(delay, value as T, options);
    if (!present.hasClients) return waiting;
    return waiting.then((each) => {
      hasSlept(Number(delay ?? 0));
      return each;
    });
  }
  return abortable(options?.signal, (resolve) =>
    inside.setTimeout(() => resolve(value as T), Number(delay), [], false),
  );
}

/** setImmediate with a promise. */
function promisedImmediate<T>(value?: T, options?: WaitOptions): Promise<T> {
  const { inside } = present;
  if (inside === undefined) return real.setImmediate(value as T, options);
  return abortable(options?.signal, (resolve) => inside.setImmediate(() => resolve(value as T), []));
}

/** Rejects with an AbortError, as Node does, when the signal fires first. */
function abortable<T>(
  signal: AbortSignal | undefined,
  begin: (resolve: (value: T) => void) => object,
): Promise<T> {
  if (signal === undefined) return new Promise((resolve) => void begin(resolve));
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortError(signal));
    const abort = (): void => {
      (handle as { cancel(): void }).cancel();
      reject(abortError(signal));
    };
    const handle = begin((value) => {
      signal.removeEventListener('abort', abort);
      resolve(value);
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}

function abortError(signal: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: signal.reason });
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}

/** setInterval as an async iterator. As in Node, no tick is lost. */
async function* ticks<T>(inside: Inside, delay: number, value: T, signal?: AbortSignal): AsyncGenerator<T> {
  let due = 0;
  let wake: (() => void) | undefined;
  const tick = (): void => {
    due++;
    wake?.();
  };
  const handle = inside.setTimeout(tick, delay, [], true) as { cancel(): void };
  const abort = (): void => wake?.();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      if (signal?.aborted) throw abortError(signal);
      if (due === 0) await new Promise<void>((resolve) => (wake = resolve));
      for (; due > 0; due--) yield value;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    handle.cancel();
  }
}

/** Replaces the functions of node:timers/promises, unless another realm has done so. */
export function replaceTimerPromises(): void {
  if (present.standIns.has(timersPromises.setTimeout)) return;
  present.standIns.add(promisedTimeout);
  const module = timersPromises as unknown as Record<string, unknown>;
  module.setTimeout = promisedTimeout;
  module.setImmediate = promisedImmediate;
  module.setInterval = <T>(delay?: number, value?: T, options?: WaitOptions): AsyncIterable<T> => {
    const { inside } = present;
    if (inside === undefined) return real.setInterval(delay, value as T, options);
    return ticks(inside, Number(delay), value as T, options?.signal);
  };
  Object.defineProperties(timersPromises.scheduler, {
    wait: {
      value: (delay: number, options?: WaitOptions) =>
        present.inside === undefined ? real.wait(delay, options) : promisedTimeout(delay, undefined, options),
      configurable: true,
    },
    yield: { value: () => promisedImmediate(), configurable: true },
  });
}
