/** Makes a replacement function look like what it replaces. */

/** Under this name a route carries what it replaces, for servers on real time (server/real-time.ts). */
const REPLACED = Symbol.for('lostlock.replaced');

/** Gives `route` the name and the extra properties (util.promisify's symbols, statics) of the original. */
export function dressLike<T extends object>(route: T, original: object): T {
  for (const key of Reflect.ownKeys(original)) {
    if (key === 'prototype' || Object.hasOwn(route, key)) continue;
    Object.defineProperty(route, key, Object.getOwnPropertyDescriptor(original, key) as PropertyDescriptor);
  }
  Object.defineProperty(route, REPLACED, { value: original, configurable: true });
  const { name } = original as { name?: string };
  if (name !== undefined) Object.defineProperty(route, 'name', { value: name, configurable: true });
  return route;
}
