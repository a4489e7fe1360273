/** The fixtures for vitest and Jest, each as its users load it. */
import { spawnSync } from 'node:child_process';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test as plainTest } from 'vitest';
import setupThenTeardown, { globalSetup, globalTeardown } from '../../runners/jest.ts';
import { setup, withServer } from '../../runners/vitest.ts';

/** Whether somebody listens at a redis:// URL. */
function isServing(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    const socket = createConnection(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe('a server for each test', () => {
  const seen: string[] = [];
  test('the first test has one', async ({ server }) => {
    expect(await isServing(server.url)).toBe(true);
    seen.push(server.url);
  });
  test('the second test has another, and the first is gone', async ({ server }) => {
    expect(seen).not.toContain(server.url);
    expect(await isServing(seen[0] as string)).toBe(false);
  });
});

const test = withServer();
const fileTest = withServer({ password: 'secret' }, 'file');

describe('a server for the file', () => {
  const seen: string[] = [];
  fileTest('the first test has it', ({ server }) => {
    seen.push(server.url);
    expect(seen).toHaveLength(1);
  });
  fileTest('the second test has it too', async ({ server }) => {
    expect(seen).toEqual([server.url]);
    expect(await isServing(server.url)).toBe(true);
  });
});

describe('a server for the run', () => {
  const before = process.env.REDIS_URL;
  afterAll(() => {
    if (before === undefined) delete process.env.REDIS_URL;
    else process.env.REDIS_URL = before;
  });

  plainTest('vitest provides its URL until the teardown', async () => {
    const provided: Record<string, string> = {};
    const teardown = await setup({ provide: (name, value) => void (provided[name] = value) });
    const url = provided.redisUrl ?? '';
    expect(process.env.REDIS_URL).toBe(url);
    expect(await isServing(url)).toBe(true);
    await teardown();
    expect(await isServing(url)).toBe(false);
  });

  plainTest('vitest runs a project that names the global setup', () => {
    const vitest = join('node_modules', 'vitest', 'vitest.mjs');
    const root = join('test', 'support', 'vitest-project');
    const run = spawnSync(process.execPath, [vitest, 'run', '--root', root], {
      encoding: 'utf8',
      env: { ...process.env, REDIS_URL: '', LOSTLOCK_REPORT: '', NO_COLOR: '1' },
    });
    expect(run.stdout + run.stderr).toMatch(/Tests\s+1 passed/);
    expect(run.status).toBe(0);
  });

  plainTest("Jest's one function starts, then stops", async () => {
    await setupThenTeardown();
    const url = process.env.REDIS_URL ?? '';
    expect(await isServing(url)).toBe(true);
    await expect(globalSetup()).rejects.toThrow('already');
    await setupThenTeardown();
    expect(await isServing(url)).toBe(false);
    await globalTeardown(); // Nothing is left to stop, and that is no error.
  });
});
