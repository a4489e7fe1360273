/** Which tests are retried, and what is reported of those that needed it and of those that failed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the reporters name the tests that passed only after a retry, and say at once why a test failed', () => {
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
  expect(run.stderr).toMatch(
    /^second-time\.flaky\.ts > a suite > never passes failed: .*expected 1 to be 2/m,
  );
  rmSync(dir, { recursive: true });
});
