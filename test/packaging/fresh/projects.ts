/** The projects that `npm run test:fresh` makes: what a newcomer writes on the first day, for each runner and compiler. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programs } from '../../support/pages/programs.ts';
import { others } from './others.ts';
import { type FreshProject, firstSteps } from './project.ts';

const ioredis = 'ioredis@6.0.0';

/** The program of the cookbook that uses BullMQ. */
function bullmqProgram(): string {
  const program = programs('docs/cookbook.md', 'js').find((text) => text.includes("from 'bullmq'"));
  if (program === undefined) throw new Error('docs/cookbook.md has no program with BullMQ');
  return program;
}

/** What an exploration is given: clients that delete a lock which may be another client's by then. */
const unsafeLock = `{
    budget: { worlds: 60 },
    async client({ name, redis, sleep, resource }) {
      while ((await redis.set('my:lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
      const inside = resource('stock').enter();
      await sleep(300);
      inside.write();
      inside.leave();
      await redis.del('my:lock');
    },
  }`;

/** A test of each kind of fixture, with a way to get them and the runner's own words for a test and an equality. */
const fixtureTests = (
  begin: string,
  it: string,
  equal: (a: string, b: string) => string,
  limit = '',
): string => `
${begin}
${it}('a lock is taken once', async (t) => {
  const redis = await lostlock(t).redis();
  ${equal("await redis.set('my:lock', 'A', 'PX', 30000, 'NX')", "'OK'")}
  ${equal("await redis.set('my:lock', 'B', 'PX', 30000, 'NX')", 'null')}
});
${it}('a lock is lost', async (t) => {
  const pair = await lostlock(t).pair();
  pair.link.hold();
  await pair.client('A').set('my:lock', 'A', 'PX', 30000, 'NX');
  const { lost } = await pair.failover({ crash: true });
  ${equal('lost[0].holder', "'A'")}
});
${it}('an exploration finds what is wrong', async (t) => {
  const failure = await lostlock(t).explore(${unsafeLock}).catch((error) => error);
  ${equal('/mutual-exclusion is broken/.test(failure.message)', 'true')}
}${limit});
`;

const same = (a: string, b: string): string => `assert.equal(${a}, ${b});`;
const expectSame = (a: string, b: string): string => `expect(${a}).toBe(${b});`;

const vitestFixtures = `
import { expect } from 'vitest';
import { test, withServer } from 'lostlock/vitest';

const seeded = withServer({ seed: { 'stock:1': 100 } });
test('a lock is taken once', async ({ redis, server }) => {
  expect(await redis.set('my:lock', 'A', 'PX', 30000, 'NX')).toBe('OK');
  expect(server.dump()).toHaveLength(1);
});
seeded('the server has its data', async ({ redis }) => {
  expect(await redis.get('stock:1')).toBe('100');
});
test('a lock is lost', async ({ pair }) => {
  pair.link.hold();
  await pair.client('A').set('my:lock', 'A', 'PX', 30000, 'NX');
  const { lost } = await pair.failover({ crash: true });
  expect(lost[0]?.holder).toBe('A');
});
test('an exploration finds what is wrong', async ({ explore }) => {
  const exploring = explore(${unsafeLock});
  await expect(exploring).rejects.toThrow(/an exploration finds what is wrong.*broken promise/);
}, 60_000);
`;

const typed = `
import { type LostlockServer, startPair, startServer } from 'lostlock';
import { fixtures } from 'lostlock/node-test';
import { test } from 'node:test';

export async function held(): Promise<string | undefined> {
  const server: LostlockServer = await startServer({ seed: { 'stock:1': 100 } });
  await server.stop();
  const pair = await startPair({ clock: 'virtual', seed: 7 });
  const { lost } = await pair.failover({ crash: true });
  return lost[0]?.holder;
}
test('types', async (t) => {
  const redis = await fixtures(t).redis();
  const text: string | null = await redis.get('k');
  void text;
});
`;

const commonJs = `
const assert = require('node:assert/strict');
const { Redis } = require('ioredis');
const { startServer, startPair } = require('lostlock');
(async () => {
  ${firstSteps}
  console.log('all is well');
})();
`;

const jest = (version: string): FreshProject => ({
  name: `Jest ${version.split('.')[0]}`,
  packages: [`jest@${version}`, ioredis],
  files: {
    'jest.config.json': JSON.stringify({ globalSetup: 'lostlock/jest', globalTeardown: 'lostlock/jest' }),
    'lock.test.js': `${fixtureTests(
      `const { fixtures } = require('lostlock/jest');\nconst all = fixtures();\nconst lostlock = () => all;`,
      'test',
      expectSame,
      ', 60_000',
    )
      .replaceAll('async (t) =>', 'async () =>')
      .replaceAll('lostlock(t)', 'lostlock()')}
test('the run has a server', () => { expect(process.env.REDIS_URL).toMatch(/^redis:/); });`,
  },
  run: ['jest/bin/jest.js', '--ci'],
  expected: /Tests: +4 passed, 4 total/,
});

const typescript = (version: string): FreshProject => ({
  name: `TypeScript ${version}`,
  packages: [`typescript@${version}`, '@types/node@20.19.0', ioredis],
  files: {
    'user.mts': typed,
    'user.cts': typed,
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: 'node16',
        target: 'es2022',
        lib: ['es2023', 'esnext.disposable'],
        types: ['node'],
        skipLibCheck: false,
      },
    }),
  },
  run: ['typescript/bin/tsc', '--extendedDiagnostics'],
  expected: /Check time/,
});

/** The programs and the settings by which the forms of an example are run. */
const FORMS = {
  Vitest: { run: ['vitest/vitest.mjs', 'run'], expected: /Tests +3 passed/ },
  Jest: {
    run: ['jest/bin/jest.js', '--ci', '--testMatch', '**/*.jest.js'],
    expected: /Tests: +3 passed, 3 total/,
  },
} as const;

/** A project of examples/ in one of its forms. */
function example(name: string, runner: keyof typeof FORMS): FreshProject {
  const folder = join('examples', name);
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  const { lostlock: _, ...packages } = { ...dependencies, ...devDependencies };
  const files = readdirSync(folder).filter((file) => /\.m?js$/.test(file));
  return {
    name: `example ${name} with ${runner}`,
    packages: Object.entries(packages).map(([each, version]) => `${each}@${version}`),
    files: Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')])),
    ...FORMS[runner],
  };
}

const examples = readdirSync('examples')
  .filter((name) => existsSync(join('examples', name, 'package.json')))
  .flatMap((name) => [example(name, 'Vitest'), example(name, 'Jest')]);

/** A project of `npm init` with CommonJS, imports without endings and parameter properties, which tsx loads. */
const commonJsTypeScript: FreshProject = {
  name: 'exploration in TypeScript and CommonJS',
  packages: ['tsx@4.23.15', ioredis],
  files: {
    'lock.ts': `export class Lock {
  constructor(private readonly redis: any) {}
  take(name: string): Promise<string | null> { return this.redis.set('my:lock', name, 'PX', 1000, 'NX'); }
}`,
    'stock.ts': `import type { ExploreOptions } from 'lostlock/explore';
import { Lock } from './lock';
export const stock: ExploreOptions = {
  name: 'stock',
  budget: { worlds: 60 },
  async client({ name, redis, sleep, resource }) {
    while ((await new Lock(redis).take(name)) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
    await redis.del('my:lock');
  },
};`,
    'run.cjs': `const { spawnSync } = require('node:child_process');
const cli = 'node_modules/lostlock/dist/cli.js';
const done = spawnSync(process.execPath, [cli, 'explore', 'stock.ts'], { encoding: 'utf8' });
console.log(done.stdout, done.stderr);
process.exitCode = done.status === 1 ? 0 : 1;`,
  },
  run: ['run.cjs'],
  expected: /mutual-exclusion|released-by-holder/,
};

export const projects: readonly FreshProject[] = [
  {
    name: 'Vitest 4',
    packages: ['vitest@4.1.12', ioredis],
    files: { 'lock.test.ts': vitestFixtures },
    run: ['vitest/vitest.mjs', 'run', '--testTimeout', '60000'],
    expected: /Tests +4 passed/,
  },
  {
    name: 'Vitest 3',
    packages: ['vitest@3.2.4', ioredis],
    files: { 'lock.test.ts': vitestFixtures },
    run: ['vitest/vitest.mjs', 'run', '--testTimeout', '60000'],
    expected: /Tests +4 passed/,
  },
  jest('30.5.2'),
  jest('29.7.0'),
  {
    name: 'node:test',
    packages: [ioredis],
    files: {
      'lock.test.mjs': fixtureTests(
        "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { fixtures as lostlock } from 'lostlock/node-test';",
        'test',
        same,
      ),
    },
    run: ['--test', 'lock.test.mjs'],
    expected: /pass 3\n(?:.*\n)*.*fail 0/,
  },
  {
    name: 'Mocha 11',
    packages: ['mocha@11.8.0', ioredis],
    files: {
      '.mocharc.json': JSON.stringify({ require: 'lostlock/mocha', spec: 'lock.spec.cjs', timeout: 60_000 }),
      'lock.spec.cjs': `${fixtureTests(
        "const assert = require('node:assert/strict');\nconst { fixtures } = require('lostlock/mocha');\nconst all = fixtures();\nconst lostlock = () => all;",
        'it',
        same,
      )
        .replaceAll('async (t) =>', 'async () =>')
        .replaceAll('lostlock(t)', 'lostlock()')}
it('the run has a server', () => assert.match(process.env.REDIS_URL, /^redis:/));`,
    },
    run: ['mocha/bin/mocha.js'],
    expected: /4 passing/,
  },
  {
    name: "Playwright's webServer",
    packages: ['@playwright/test@1.65.1', ioredis],
    files: {
      'playwright.config.mjs': `import { defineConfig } from '@playwright/test';
export default defineConfig({
  webServer: { command: 'npx lostlock --port PORT', port: PORT },
});`,
      'lock.spec.mjs': `import { expect, test } from '@playwright/test';
import { Redis } from 'ioredis';
test('the server runs', async () => {
  const redis = new Redis(PORT);
  expect(await redis.set('my:lock', 'A', 'PX', 30000, 'NX')).toBe('OK');
  redis.disconnect();
});`,
    },
    run: ['@playwright/test/cli.js', 'test'],
    expected: /1 passed/,
  },
  {
    name: 'CommonJS',
    packages: [ioredis],
    files: { 'program.cjs': commonJs },
    run: ['program.cjs'],
    expected: /all is well/,
  },
  {
    name: 'BullMQ',
    packages: ['bullmq@6.7.0', ioredis],
    files: { 'program.mjs': bullmqProgram() },
    run: ['program.mjs'],
    expected: /^60$/m,
  },
  commonJsTypeScript,
  ...examples,
  ...['5.4.5', '5.6.3', '5.9.3', '6.0.3', '7.0.2'].map(typescript),
  ...others,
];
