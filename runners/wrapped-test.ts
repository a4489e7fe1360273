/**
 * `lostlock/bun-test` and `lostlock/deno-test`: fixtures for bun:test and Deno.test that end with the test. These runners tell their hooks
 * neither a test's name nor its error, so the fixtures wrap the function of the test.
 */
import { basename } from 'node:path';
import { badOption } from '../base/options.ts';
import { runtimeName } from '../start/running/runtime.ts';
import { TestFixtures, type TestLimits } from './fixtures.ts';

export type { TestExploreOptions, TestFixtures } from './fixtures.ts';

/** A test's function as `fixtures` takes it: the fixtures come before what the runner passes to a test. */
export type FixtureTest<A extends unknown[]> = (lostlock: TestFixtures, ...args: A) => unknown;

/**
 * Gives fixtures to the function of a test, of a row of `test.each`, or of a step. What is started with them ends before the function
 * does, and so before Deno's sanitizers look for what is left. Each call has fixtures of its own, so tests may run at the same time.
 * Throws TypeError for anything but a function.
 *
 * @param code gets the fixtures, and then what the runner passes to the test
 *
 * @example
 * test('a lock', fixtures(async (lostlock) => { const redis = await lostlock.redis(); … }));
 */
export function fixtures<A extends unknown[]>(code: FixtureTest<A>): (...args: A) => Promise<void> {
  if (typeof code !== 'function') throw badOption('fixtures', code, "a test's function");
  const place = placeOf(new Error().stack);
  // No parameter is named: Bun gives `done` to a function that has one.
  return async (...args) => {
    const name = nameIn(args[0]) ?? (code.name || place);
    const all = new TestFixtures(() => name, limitsHere);
    try {
      await code(all, ...args);
    } catch (error) {
      // What fails at the end must not hide why the test has failed.
      await all.close(true, [error]).catch(() => {});
      throw error;
    }
    await all.close();
  };
}

/** Neither runner tells a test its limit. Bun's is five seconds unless a test has another one, and Deno has none. */
function limitsHere(): TestLimits {
  return runtimeName === 'Deno' ? { ms: 0 } : {};
}

/** The part of the context of Deno's tests and steps that has their names. */
interface NamedContext {
  readonly name: string;
  readonly step: unknown;
  readonly parent?: NamedContext;
}

/** The name in the context that Deno passes to a test; undefined for anything else. */
function nameIn(context: unknown): string | undefined {
  const { name, step, parent } = Object(context) as NamedContext;
  if (typeof name !== 'string' || typeof step !== 'function') return undefined;
  const above = nameIn(parent);
  return above === undefined ? name : `${above} > ${name}`;
}

/** Where `fixtures` was called, such as lock.test.ts:12. Bun does not tell a test its name. */
function placeOf(stack = ''): string {
  const [, , caller = ''] = stack.split('\n');
  const [, file, line] = /([^\s()]+):(\d+):\d+\)?$/.exec(caller) ?? [];
  return file === undefined ? 'a test' : `${basename(file)}:${line}`;
}
