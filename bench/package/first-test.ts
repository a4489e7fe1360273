/** Measures how long the first test of a file takes in Vitest, which runs each file in a process of its own; beside ioredis-mock. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { median } from '../contestants.ts';
import type { Row } from '../report.ts';

const MOCK = 'ioredis-mock@8.13.1';

const files = {
  lostlock: `import { Redis } from 'ioredis';
    import { startServer } from 'lostlock';
    import { expect, test } from 'vitest';
    test('first', async () => {
      const server = await startServer();
      const redis = new Redis(server.url);
      expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
      redis.disconnect();
      await server.stop();
    });`,
  memory: `import Redis from 'lostlock/ioredis-mock';
    import { expect, test } from 'vitest';
    test('first', async () => {
      const redis = new Redis();
      expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
      redis.disconnect();
    });`,
  fixture: `import { expect } from 'vitest';
    import { test } from 'lostlock/vitest';
    test('first', async ({ redis }) => {
      expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
    });`,
  mock: `import Redis from 'ioredis-mock';
    import { expect, test } from 'vitest';
    test('first', async () => {
      const redis = new Redis();
      expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
      redis.disconnect();
    });`,
};
type Name = keyof typeof files;

/** The part of Vitest's report that this reads. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly duration?: number }[];
  }[];
}

/** A project with Vitest and the packages that the files import. ioredis-mock works with ioredis 5 alone. Needs the npm registry, or its cache. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-first-test-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--legacy-peer-deps'];
  execFileSync('npm', ['install', ...quiet, MOCK], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const packages = { lostlock: '.', vitest: 'node_modules/vitest', ioredis: 'node_modules/ioredis5' };
  for (const [name, path] of Object.entries(packages))
    symlinkSync(resolve(path), join(folder, 'node_modules', name), 'junction');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), text);
  return folder;
}

/** How long the first test of each file takes in milliseconds, as Vitest reports it, by the files' names. */
function durations(folder: string): Map<string, number> {
  const args = [resolve('node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--maxWorkers', '1'];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'code') };
  const printed = execFileSync(process.execPath, [...args, '--reporter', 'json'], {
    cwd: folder,
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { testResults } = JSON.parse(printed.slice(printed.indexOf('{'))) as Report;
  return new Map(
    testResults.map(({ name, assertionResults: [first] }) => {
      if (first?.status !== 'passed') throw new Error(`${name} has failed`);
      return [basename(name, '.test.js'), first.duration ?? 0];
    }),
  );
}

/** The rows about Vitest. The first round, which fills the caches, is not counted. */
export function firstTests(rounds: number): Row[] {
  const folder = project();
  const names = Object.keys(files) as Name[];
  const taken = new Map<string, number[]>(names.map((name) => [name, []]));
  try {
    for (let round = 0; round <= rounds; round++)
      for (const [name, ms] of durations(folder)) if (round > 0) taken.get(name)?.push(ms);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const of = (name: Name): number => median(taken.get(name)!);
  const row = (what: string, name: Name): Row => ({
    name: `the first test of a file in Vitest, ${what}, beside ioredis-mock`,
    ours: of(name),
    other: of('mock'),
    unit: 'ms',
    lessIsBetter: true,
  });
  return [
    row('with a server over TCP and ioredis', 'lostlock'),
    row('with the fixture redis', 'fixture'),
    row('with lostlock/ioredis-mock', 'memory'),
  ];
}
