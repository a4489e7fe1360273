/** A failed test leaves the timelines of its pairs behind, and one that passes leaves nothing. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fixtures } from '../../../runners/node-test.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lostlock-failing-'));
  vi.stubEnv('LOSTLOCK_TIMELINES', join(folder, 'timelines'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a test's body with the fixtures of node:test, and ends it as that runner does. Returns what it printed. */
async function run(error: Error | null): Promise<string> {
  const hooks: (() => Promise<void>)[] = [];
  const context = { name: 'a lock: A & B', error, after: (hook: () => Promise<void>) => hooks.push(hook) };
  const pair = await fixtures(context).pair({ seed: 3 });
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  let printed = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  for (const hook of hooks) await hook();
  vi.restoreAllMocks();
  return printed;
}

test('the page of a failed test has its name and its messages, and its path is printed', async () => {
  const printed = await run(new Error('two holders'));
  expect(readdirSync(join(folder, 'timelines'))).toEqual(['a-lock-A-B.html']);
  expect(printed).toContain(join('timelines', 'a-lock-A-B.html'));
  const page = readFileSync(join(folder, 'timelines', 'a-lock-A-B.html'), 'utf8');
  expect(page).toContain('SET my:lock A PX');
  expect(page).toContain('"a lock: A \\u0026 B"');
});

test('a test that passes leaves nothing behind', async () => {
  expect(await run(null)).toBe('');
  expect(existsSync(join(folder, 'timelines'))).toBe(false);
});

test('an empty folder turns it off', async () => {
  vi.stubEnv('LOSTLOCK_TIMELINES', '');
  expect(await run(new Error('two holders'))).toBe('');
});

test('where no page can be written, the error has the story all the same, and says why', async () => {
  writeFileSync(join(folder, 'file'), '');
  vi.stubEnv('LOSTLOCK_TIMELINES', join(folder, 'file'));
  const error = new Error('two holders');
  await run(error);
  expect(error.message).toMatch(/^two holders\n\n.*A acquires my:lock.*timeline: not written: E/s);
});
