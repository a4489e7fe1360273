/** Keeps the async context of timers, where there is one: to keep it for every timer would cost a tenth of a world's time. */
import { AsyncResource } from 'node:async_hooks';
import { present } from './current-world.ts';

/** Tells whether timers must keep the context of the running code. */
export const contexts = {
  /** Says whether the running code has a context that the lab itself has set. */
  own: (): boolean => false,
};

/** Calls a function in a context. */
type InContext = (callback: (...args: unknown[]) => void, self: unknown, args: readonly unknown[]) => void;

const plain: InContext = (callback, self, args) => void Reflect.apply(callback, self, args);

/** The context of the running code: functions are called in it later. */
export function currentContext(kind: string): InContext {
  if (!present.usesContexts && !contexts.own()) return plain;
  const resource = new AsyncResource(kind);
  return (callback, self, args) => resource.runInAsyncScope(callback, self, ...args);
}
