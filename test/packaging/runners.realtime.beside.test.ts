/** The fixtures for vitest and Jest, each as its users load it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { basename, join } from 'node:path';
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
const kept = withServer({ seed: { 'stock:1': 100 }, keep: true }, 'file');
const flushed = withServer({ seed: { 'stock:1': 100 } }, 'file');
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

describe('a server for the file that keeps its data, and one that does not', () => {
  kept('what a test stores', async ({ redis }) => {
    expect(await redis.set('k', 'v')).toBe('OK');
  });
  kept('the next one finds, with keep', async ({ redis }) => {
    expect(await redis.get('k')).toBe('v');
  });
  flushed('what a test stores and changes', async ({ redis }) => {
    expect(await redis.set('k', 'v')).toBe('OK');
    expect(await redis.decr('stock:1')).toBe(99);
  });
  flushed('is gone for the next one, and the seed is there again', async ({ server }) => {
    expect(server.dump()).toEqual([{ db: 0, key: 'stock:1', type: 'string', value: '100' }]);
  });
  plainTest('keep is true or false', () => {
    expect(() => withServer({ keep: 'yes' as never }, 'file')).toThrow('option keep');
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

  plainTest(
    'with several workers, each has a server of its own, and no test sees the keys of another file',
    () => {
      const folder = mkdtempSync(join('test', 'support', 'vitest-project', 'workers-'));
      try {
        const file = [
          "import { Redis } from 'ioredis';",
          "import { expect, inject, test } from 'vitest';",
          'test.each(Array.from({ length: 50 }, (_, i) => i))("%i", async () => {',
          '  const redis = new Redis(process.env.REDIS_URL as string);',
          "  expect(inject('redisUrl')).toBe(process.env.REDIS_URL);",
          '  await redis.flushall();',
          "  expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');",
          '  await new Promise((wake) => setTimeout(wake, 2));',
          "  expect(await redis.incr('n')).toBe(1);",
          '  redis.disconnect();',
          '});',
        ].join('\n');
        for (let i = 0; i < 4; i++) writeFileSync(join(folder, `shared-${i}.user.ts`), file);
        const vitest = join('node_modules', 'vitest', 'vitest.mjs');
        const root = join('test', 'support', 'vitest-project');
        const args = ['run', '--root', root, '--maxWorkers', '4', basename(folder)];
        const run = spawnSync(process.execPath, [vitest, ...args], {
          encoding: 'utf8',
          env: { ...process.env, REDIS_URL: '', LOSTLOCK_REPORT: '', NO_COLOR: '1' },
        });
        expect(run.stdout + run.stderr).toMatch(/Tests\s+200 passed/);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  plainTest('files that run without isolation and share a `test` each have a server', () => {
    const folder = mkdtempSync(join('test', 'support', 'vitest-project', 'shared-'));
    try {
      const file = [
        "import { expect } from 'vitest';",
        "import { test } from './shared.ts';",
        "test.for([1, 2])('%i', { timeout: 60_000 }, async (_, { redis }) => {",
        "  expect(await redis.set('k', 'v', 'NX')).toBe('OK');",
        '});',
      ].join('\n');
      const shared = [
        "import { withServer } from '../../../../runners/vitest.ts';",
        "export const test = withServer({}, 'file');",
      ].join('\n');
      writeFileSync(join(folder, 'shared.ts'), shared);
      for (const name of ['one', 'two']) writeFileSync(join(folder, `${name}.user.ts`), file);
      const vitest = join('node_modules', 'vitest', 'vitest.mjs');
      const root = join('test', 'support', 'vitest-project');
      const args = ['run', '--root', root, '--maxWorkers', '1', '--no-isolate', basename(folder)];
      const run = spawnSync(process.execPath, [vitest, ...args], {
        encoding: 'utf8',
        env: { ...process.env, REDIS_URL: '', LOSTLOCK_REPORT: '', NO_COLOR: '1' },
      });
      expect(run.stdout + run.stderr).toMatch(/Tests\s+4 passed/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  plainTest("Jest's setup gives each worker a server, through a file that each runs", async () => {
    const setupFiles = ['theirs.js'];
    await globalSetup({ maxWorkers: 3 }, { setupFiles });
    expect(setupFiles[1]).toBe('theirs.js');
    const urls = ['1', '2', '3', '4'].map((worker) => {
      const { stdout } = spawnSync(
        process.execPath,
        ['-r', setupFiles[0] as string, '-p', 'process.env.REDIS_URL'],
        {
          encoding: 'utf8',
          env: { PATH: process.env.PATH, JEST_WORKER_ID: worker },
        },
      );
      return stdout.trim();
    });
    expect(new Set(urls).size).toBe(3);
    expect(urls[3]).toBe(urls[0]);
    expect(process.env.REDIS_URL).toBe(urls[0]);
    for (const url of urls) expect(await isServing(url)).toBe(true);
    await globalTeardown();
    expect(setupFiles).toEqual(['theirs.js']);
    expect(await isServing(urls[1] as string)).toBe(false);
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
