/** Which tests are retried, and that a test that needed it is named. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { realTime } from '../../../vitest.config.ts';

test('every glob of the suites on real time names a suite', () => {
  const names = readdirSync('test', { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.test.ts')).map((name) => join('test', name));
  const useless = realTime.filter((glob) => !files.some((file) => matchesGlob(file, glob)));
  expect(useless).toEqual([]);
});

test('the reporter names the tests that passed only after a retry', () => {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-retried-'));
  const list = join(dir, 'retried');
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const root = join('test', 'support', 'vitest-project');
  const run = spawnSync(process.execPath, [vitest, 'run', '--root', root, '--config', 'retry.config.ts'], {
    encoding: 'utf8',
    env: { ...process.env, LOSTLOCK_RETRIED: list, NO_COLOR: '1' },
  });
  expect(run.stdout + run.stderr).toMatch(/Tests\s+1 failed \| 2 passed/);
  expect(readFileSync(list, 'utf8')).toBe('second-time.flaky.ts > a suite > passes the second time\n');
  rmSync(dir, { recursive: true });
});
