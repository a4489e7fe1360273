/** Stand-ins for what a program knows of its own process, and for how it ends: in a world, each actor is a process. */
import { AsyncLocalStorage } from 'node:async_hooks';
import os from 'node:os';
import util from 'node:util';
import { present } from '../time/current-world.ts';
import { errorText, ProcessEnded } from '../time/process-end.ts';
import { type AnyFunction, replaceMethod } from './replace.ts';

/** Replaces the functions and properties. What a runtime or a browser does not have is left out. */
export function replaceProcess(): void {
  replacePid();
  noticeContexts();
  if (typeof os.hostname === 'function')
    replaceMethod(os, 'hostname', (real) => () => present.inside?.hostname ?? (real as () => string)());
  replace('exit', (real, [code]) => {
    const { inside } = present;
    if (inside?.end({ how: 'exit', text: `process.exit(${code ?? ''})` }) === true) throw new ProcessEnded();
    return real();
  });
  replace('abort', (real) => {
    if (present.inside?.end({ how: 'signal', text: 'process.abort()' }) === true) throw new ProcessEnded();
    return real();
  });
  replace('kill', (real, [pid, signal]) =>
    present.inside === undefined ? real() : killInWorld(present.inside, Number(pid), signal),
  );
  replace('emit', (real, [event, error, promise]) => {
    if (event === 'unhandledRejection' && present.inside !== undefined && takesRejection(error, promise))
      return true;
    if (event === 'uncaughtException' && present.taken?.error === error) {
      present.taken = undefined;
      return true;
    }
    return real();
  });
}

function replace(
  name: 'exit' | 'abort' | 'kill' | 'emit',
  standIn: (real: () => unknown, args: readonly unknown[]) => unknown,
): void {
  // A browser has none of them.
  if (typeof process[name] !== 'function') return;
  replaceMethod(process as unknown as Record<string, AnyFunction>, name, (real) => {
    return function (this: unknown, ...args: unknown[]): unknown {
      return standIn(() => Reflect.apply(real, this, args), args);
    };
  });
}

/** Timers keep contexts as soon as somebody uses them. */
function noticeContexts(): void {
  const prototype = AsyncLocalStorage.prototype as unknown as Record<string, AnyFunction>;
  for (const name of ['run', 'enterWith']) {
    if (typeof prototype[name] !== 'function') continue;
    replaceMethod(prototype, name, (real) => {
      return function (this: unknown, ...args: unknown[]): unknown {
        present.usesContexts = true;
        return Reflect.apply(real, this, args);
      };
    });
  }
}

function replacePid(): void {
  const own = Object.getOwnPropertyDescriptor(process, 'pid');
  if (own?.configurable !== true || own.get !== undefined) return;
  const { value } = own;
  Object.defineProperty(process, 'pid', {
    get: () => present.inside?.pid ?? value,
    configurable: true,
    enumerable: true,
  });
}

/** A program of a world reaches its own process, and no process of the machine. */
function killInWorld(
  inside: NonNullable<typeof present.inside>,
  pid: number,
  signal: unknown = 'SIGTERM',
): boolean {
  if (pid !== inside.pid) {
    const error: NodeJS.ErrnoException = new Error('kill ESRCH');
    throw Object.assign(error, { code: 'ESRCH', syscall: 'kill' });
  }
  if (signal === 0) return true;
  if (!inside.end({ how: 'signal', text: `process.kill(process.pid, ${String(signal)})` }))
    throw new Error('a process of this world cannot be killed from within: use actor.kill()');
  throw new ProcessEnded();
}

/** A rejection that nothing in the world handles ends its process. Returns false when it is not this world's matter. */
function takesRejection(error: unknown, promise: unknown): boolean {
  const { inside, keeper } = present;
  if (error instanceof ProcessEnded) return true;
  // Libraries with promises of their own, such as bluebird, only print them.
  const isFatal = util.types.isPromise(promise);
  const end = { how: 'rejection', text: `unhandled rejection: ${errorText(error)}`, error } as const;
  if (isFatal && inside?.end(end) === true) return true;
  keeper?.(`unhandled: ${errorText(error)}`);
  return keeper !== undefined;
}
