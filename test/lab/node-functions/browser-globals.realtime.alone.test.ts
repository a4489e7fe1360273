/** The package among globals that are not Node's, as in Jest's jsdom, on Deno and on Bun (test/packaging/runtimes.realtime.test.ts runs them). */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('server, lab and explorer work with timers that return numbers, and without immediates and TextDecoder', () => {
  const args = [
    '--import',
    './test/support/loader/register.mjs',
    'test/lab/node-functions/browser-globals-main.ts',
  ];
  const printed = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(JSON.parse(printed)).toEqual({ expired: true, waited: 1000, set: 'OK', found: 'mutual-exclusion' });
});
