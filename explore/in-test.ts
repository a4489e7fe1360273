/** Knows whether an exploration runs in a test. A runner ends a test at its time limit, but not what the test has started. */

/** The variables that test runners set in their processes. */
const RUNNERS: readonly (readonly [variable: string, name: string, fixture: string])[] = [
  ['VITEST', 'Vitest', ', or use the fixture explore of lostlock/vitest'],
  ['JEST_WORKER_ID', 'Jest', ', or use fixtures() of lostlock/jest'],
  ['NODE_TEST_CONTEXT', 'node:test', ', or use fixtures(t) of lostlock/node-test'],
];

/** The runner of the test in which this code runs, and what its fixture is called; undefined outside of tests. */
function runnerHere(): readonly [name: string, fixture: string] | undefined {
  const found = RUNNERS.find(([variable]) => process.env[variable] !== undefined);
  if (found !== undefined) return [found[1], found[2]];
  const { describe, it, Bun } = globalThis as { describe?: unknown; it?: unknown; Bun?: unknown };
  if (Bun !== undefined && process.env.NODE_ENV === 'test')
    return ['Bun', ', or use fixtures() of lostlock/bun-test'];
  if (typeof describe !== 'function' || typeof it !== 'function') return undefined;
  return ['Mocha', ', or use fixtures() of lostlock/mocha'];
}

/** What bounds an exploration. */
interface ExplorationBounds {
  readonly signal?: AbortSignal;
  readonly budget?: { readonly ms?: number };
}

/** How to bound an exploration in a test that has neither a signal nor a limit in time; undefined where nothing is to be said. */
export function boundHint({ signal, budget }: ExplorationBounds): string | undefined {
  if (signal !== undefined || budget?.ms !== undefined) return undefined;
  const runner = runnerHere();
  if (runner === undefined) return undefined;
  const [name, fixture] = runner;
  return (
    `in a test of ${name}, nothing ends this exploration at the test's time limit: give it budget.ms, four fifths of that limit, ` +
    `or the test's signal${fixture}`
  );
}
