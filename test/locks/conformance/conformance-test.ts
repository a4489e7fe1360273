/** vitest's `test` for the conformance cases: the body runs where the server under test needs it, such as in a virtual world. */
import { test as vitestTest } from 'vitest';

/** Runs the body of a case. */
export type Around = (body: () => Promise<void>) => Promise<void>;

let around: Around = (body) => body();

/** Declares one case. */
export function test(name: string, body: () => Promise<void>): void {
  const mine = around;
  vitestTest(name, () => mine(body));
}

/**
 * The cases that are declared from now on run inside the wrapper. (vitest calls nested describes after the outer one
 * has returned, and before the next outer one: so this is set there and not put back.)
 */
export function declareInside(wrapper: Around): void {
  around = wrapper;
}
