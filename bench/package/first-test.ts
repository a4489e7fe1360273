/**
 * Measures the CPU time of the first test of a file in Vitest, which runs each file in a process of its own; beside ioredis-mock. What the
 * file imports is not counted.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { median } from '../contestants.ts';
import type { Row } from '../report.ts';

const MOCK = 'ioredis-mock@8.13.1';

/** The first test of a file, which takes a lock and tells its CPU time in milliseconds. */
const first = (given: string, lines: string, end = ''): string => `
  let since;
  beforeEach(() => {
    since = process.cpuUsage();
  });
  test('first', async ({ ${given} }) => {
    ${lines}
    expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
    ${end}
    const { user, system } = process.cpuUsage(since);
    task.meta.cpu = (user + system) / 1000;
  });`;

const files = {
  lostlock: `import { Redis } from 'ioredis';
    import { startServer } from 'lostlock';
    import { beforeEach, expect, test } from 'vitest';
    ${first('task', 'const server = await startServer(); const redis = new Redis(server.url);', 'redis.disconnect(); await server.stop();')}`,
  memory: `import Redis from 'lostlock/ioredis-mock';
    import { beforeEach, expect, test } from 'vitest';
    ${first('task', 'const redis = new Redis();', 'redis.disconnect();')}`,
  fixture: `import { beforeEach, expect } from 'vitest';
    import { test } from 'lostlock/vitest';
    ${first('task, redis', '')}`,
  ioredis: `import { createRequire } from 'node:module';
    import { once } from 'node:events';
    import { createServer } from 'node:net';
    import { beforeEach, expect, test } from 'vitest';
    beforeEach(async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      server.close();
    });
    ${first('task', "const redis = { set: async () => 'OK' }; createRequire(import.meta.url)('ioredis');")}`,
  mock: `import Redis from 'ioredis-mock';
    import { beforeEach, expect, test } from 'vitest';
    ${first('task', 'const redis = new Redis();', 'redis.disconnect();')}`,
};
type Name = keyof typeof files;

/** The part of Vitest's report that this reads. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly meta: { readonly cpu?: number };
    }[];
  }[];
}

/**
 * A project with Vitest and the packages that the files import. ioredis-mock works with ioredis 5 alone. Needs the npm registry, or its
 * cache.
 */
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

/** The CPU time of the first test of each file in milliseconds, by the files' names. */
function times(folder: string): Map<string, number> {
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
      return [basename(name, '.test.js'), first.meta.cpu ?? 0];
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
      for (const [name, ms] of times(folder)) if (round > 0) taken.get(name)?.push(ms);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const of = (name: Name): number => median(taken.get(name)!);
  const row = (what: string, name: Name): Row => ({
    name: `the first test of a file in Vitest, ${what}, beside ioredis-mock`,
    ours: of(name),
    other: of('mock'),
    unit: 'ms of CPU',
    lessIsBetter: true,
  });
  return [
    {
      name: 'platform: a test in Vitest loads ioredis after it has listened on a port, and does nothing else',
      ours: of('ioredis'),
      other: undefined,
      unit: 'ms of CPU',
      lessIsBetter: true,
    },
    row('with a server over TCP and ioredis', 'lostlock'),
    row('with the fixture redis', 'fixture'),
    row('with lostlock/ioredis-mock', 'memory'),
  ];
}
