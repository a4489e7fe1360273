/** Tests that compare with the real server of each dialect. */
import { test } from 'vitest';
import { oracleOf } from '../oracles.ts';

/**
 * Declares a test for each dialect, whose name takes the place of %s in the title. Where a dialect's real server is not
 * on this machine, the test is skipped, and seen to be skipped.
 */
export function testBeside<D extends string>(
  dialects: readonly D[],
  title: string,
  body: (dialect: D, program: string) => Promise<void>,
  timeout?: number,
): void {
  for (const dialect of dialects) {
    const program = oracleOf(dialect);
    test.skipIf(program === undefined)(
      `${title.replace('%s', dialect)} (needs that server)`,
      () => body(dialect, program ?? ''),
      timeout,
    );
  }
}
