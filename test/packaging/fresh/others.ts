/** The projects of `npm run test:fresh` that need another package manager, another runtime, or a browser's globals: a first test each. */
import { readFileSync } from 'node:fs';
import { type FreshProject, firstSteps } from './project.ts';

const ioredis = 'ioredis@6.0.0';

/** Prints the lock's holder, what is lost, and the replay text of an exploration: the same everywhere. */
const program = `
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { startPair, startServer } from 'lostlock';
import { explore } from 'lostlock/explore';

${firstSteps}

const { findings } = await explore({
  name: 'stock', clients: 3, seed: 1, budget: { worlds: 8 },
  async client({ name, redis, sleep, resource }) {
    while ((await redis.set('my:lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
    await redis.del('my:lock');
  },
});
console.log(findings[0].replay);
`;

/** What it prints is the same on every runtime and with every package manager. */
const first = { files: { 'program.mjs': program }, expected: /^2:1:0:\S+$/m, printsTheSame: true };

/** The tests of the page about runtimes: that of Bun, and that of Deno. */
function testsOfPage(): readonly string[] {
  const page = readFileSync('docs/runtimes.md', 'utf8');
  return [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, text = '']) => text);
}

const [bunTest = '', denoTest = ''] = testsOfPage();

export const others: readonly FreshProject[] = [
  {
    name: 'first program with pnpm',
    packages: [ioredis],
    installer: 'pnpm',
    ...first,
    run: ['program.mjs'],
  },
  {
    name: "first program with Yarn and Plug'n'Play",
    packages: [ioredis],
    installer: 'yarn',
    ...first,
    run: ['program.mjs'],
  },
  {
    name: 'first program with npm',
    packages: [ioredis],
    ...first,
    run: ['program.mjs'],
  },
  {
    name: 'first test in Jest with jsdom',
    isNative: true,
    packages: ['jest@30.5.2', 'jest-environment-jsdom@30.5.2', ioredis],
    files: {
      'jest.config.json': JSON.stringify({ testEnvironment: 'jsdom', testTimeout: 60_000 }),
      'lock.test.js': `
const { fixtures } = require('lostlock/jest');
const lostlock = fixtures();
test('a lock is taken once, in a browser', async () => {
  expect(typeof window).toBe('object');
  const redis = await lostlock.redis();
  expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  expect(await redis.set('my:lock', 'B', 'PX', 30_000, 'NX')).toBe(null);
});
test('a lock is lost', async () => {
  const pair = await lostlock.pair();
  pair.link.hold();
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  expect((await pair.failover({ crash: true })).lost[0].holder).toBe('A');
});`,
    },
    run: ['jest/bin/jest.js', '--ci'],
    expected: /Tests: +2 passed, 2 total/,
  },
  {
    name: 'first program on Bun',
    packages: ['bun@1.4.5', ioredis],
    ...first,
    runtime: ['.bin/bun'],
    run: ['program.mjs'],
  },
  {
    name: 'first test on Bun',
    packages: ['bun@1.4.5', ioredis],
    files: { 'lock.test.ts': bunTest },
    runtime: ['.bin/bun'],
    run: ['test'],
    expected: / 2 pass\n 0 fail/,
  },
  {
    name: 'first program on Deno',
    packages: ['deno@2.9.6', ioredis],
    ...first,
    runtime: ['.bin/deno'],
    run: ['run', '--allow-env', '--allow-net=127.0.0.1', 'program.mjs'],
  },
  {
    name: 'first test on Deno',
    packages: ['deno@2.9.6', '@types/node@20.19.0', ioredis],
    files: {
      'deno.json': JSON.stringify({
        nodeModulesDir: 'manual',
        test: { sanitizeOps: true, sanitizeResources: true },
      }),
      'lock.test.ts': denoTest,
    },
    runtime: ['.bin/deno'],
    run: ['test', '--allow-env', '--allow-net=127.0.0.1', 'lock.test.ts'],
    expected: /ok \| 3 passed \(1 step\) \| 0 failed/,
  },
];
