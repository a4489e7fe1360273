/** What is left of a world when V8 has thrown away what is young. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { WORLD_FLAGS } from '../../../cli/explore/workers.ts';

/**
 * In bytes. It is 5 to 16 KB of a world of this test. A single object of each world in the old generation keeps nearly all of it,
 * and this was 112 KB (docs/decisions/0032-worlds-die-young.md). If it fails, look for a function that is assigned to a
 * property where it is written, as in `server.onEvent = () => …`. Give it a name first.
 */
const MOST = 50_000;

test('worlds that are over do not survive minor collections', () => {
  const flags = [...WORLD_FLAGS, '--expose-gc', '--import', './test/support/loader/register.mjs'];
  const printed = execFileSync(process.execPath, [...flags, 'test/lab/virtual/surviving-main.ts'], {
    encoding: 'utf8',
  });
  expect(Number(printed)).toBeLessThan(MOST);
  expect(printed).toMatch(/^-?\d+\n$/);
});
