/** Lays routes over functions. A route looks like the function that it replaces, and no route is laid over another. */
import { present } from '../time/current-world.ts';

/** A function with unknown parameters and result. */
export type AnyFunction = (...args: unknown[]) => unknown;

/**
 * Replaces a method by a route, unless it is a route already. Realms (Jest's test files, vm) share Node's modules, and
 * each of them lays its routes.
 * @param make makes the route from the method that it replaces
 */
export function lay<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  make: (real: T[K] & object) => object,
): void {
  const real = owner[name] as T[K] & object;
  if (present.routes.has(real)) return;
  const value = routeOver(make(real), real);
  Object.defineProperty(owner, name, { value, writable: true, configurable: true, enumerable: true });
}

/** Turns a function into a route over another one: registers it and gives it the other's properties. */
export function routeOver<T extends object>(route: T, real: object): T {
  present.routes.add(route);
  return copyIdentity(route, real);
}

/** The property of a route that holds the function it replaces, for servers on real time (server/host/real-time.ts). */
const REPLACED = Symbol.for('lostlock.replaced');

/** Gives the route the name and the extra properties of the original, such as statics and util.promisify's symbols. */
function copyIdentity<T extends object>(route: T, original: object): T {
  for (const key of Reflect.ownKeys(original)) {
    if (key === 'prototype' || Object.hasOwn(route, key)) continue;
    Object.defineProperty(route, key, Object.getOwnPropertyDescriptor(original, key) as PropertyDescriptor);
  }
  Object.defineProperty(route, REPLACED, { value: original, configurable: true });
  const { name } = original as { name?: string };
  if (name !== undefined) Object.defineProperty(route, 'name', { value: name, configurable: true });
  return route;
}
