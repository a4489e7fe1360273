/** Replaces functions of Node by stand-ins, which look like the functions that they replace. A stand-in is not replaced again. */
import { present } from '../time/current-world.ts';

/** A function with unknown parameters and result. */
export type AnyFunction = (...args: unknown[]) => unknown;

/**
 * Replaces a method by a stand-in, unless it is one already. Realms (Jest's test files, vm) share Node's modules, and
 * each of them replaces their methods.
 * @param make makes the stand-in from the method that it replaces
 */
export function replaceMethod<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  make: (real: T[K] & object) => object,
): void {
  const real = owner[name] as T[K] & object;
  if (present.standIns.has(real)) return;
  const { configurable = true, writable = true } = Object.getOwnPropertyDescriptor(owner, name) ?? {};
  if (!configurable && !writable) return; // Bun has some that stay as they are, such as Bun.fetch.
  const value = standInFor(make(real), real);
  if (configurable)
    Object.defineProperty(owner, name, { value, writable: true, configurable: true, enumerable: true });
  else owner[name] = value as T[K];
}

/** Makes a function the stand-in for another one: registers it and gives it the other's properties. */
export function standInFor<T extends object>(standIn: T, real: object): T {
  present.standIns.add(standIn);
  return copyIdentity(standIn, real);
}

/** The property of a stand-in that holds the function it replaces, for servers on real time (server/host/real-time.ts). */
const REPLACED = Symbol.for('lostlock.replaced');

/** Gives the stand-in the name and the extra properties of the original, such as statics and util.promisify's symbols. */
function copyIdentity<T extends object>(standIn: T, original: object): T {
  for (const key of Reflect.ownKeys(original)) {
    if (key === 'prototype' || Object.hasOwn(standIn, key)) continue;
    Object.defineProperty(standIn, key, Object.getOwnPropertyDescriptor(original, key) as PropertyDescriptor);
  }
  Object.defineProperty(standIn, REPLACED, { value: original, configurable: true });
  const { name } = original as { name?: string };
  if (name !== undefined) Object.defineProperty(standIn, 'name', { value: name, configurable: true });
  return standIn;
}
