/**
 * The way over from ioredis-mock: three programs move by one line, on ioredis 5 and 6, and the examples of its README are run as
 * the installed package has them.
 */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InstalledProject, mayDownload } from './installed-project.ts';

const jest = 'jest@30.5.2';
const vitest = 'vitest@4.1.12';
const programs = 'test/adapters/ioredis-mock/programs';

/** What a program's tests are run with, and the file that has the line to change. */
const moves = [
  {
    name: 'accounts',
    line: 'accounts.test.cjs',
    tests: 'accounts.test.cjs',
    count: 69,
    run: ['node_modules/jest/bin/jest.js', '--ci', '--testMatch', '**/*.test.cjs', '--rootDir'],
  },
  {
    name: 'jobs',
    line: 'jobs.test.mjs',
    tests: 'jobs.test.mjs',
    count: 60,
    run: ['node_modules/vitest/vitest.mjs', 'run', '--root'],
  },
  {
    name: 'shop',
    line: '__mocks__/ioredis.js',
    tests: 'shop.test.cjs',
    count: 66,
    run: ['node_modules/jest/bin/jest.js', '--ci', '--testMatch', '**/*.test.cjs', '--rootDir'],
  },
];

/** The examples of the README in its order: what they print, or the error with which Redis answers. */
const examples: readonly {
  readonly has: string;
  readonly prints: readonly string[];
  readonly fails?: string;
}[] = [
  { has: 'user_next', prints: [] },
  { has: "console.log(await redis1.get('foo'), await redis2.get('foo'))", prints: ['bar bar'] }, // Of version 5: one data for each client.
  { has: 'redis3', prints: ['bar bar null'] },
  { has: 'afterEach', prints: [] },
  // It publishes before the other connection has subscribed, so nothing is printed.
  { has: 'redisSub', prints: [] },
  { has: 'defineCommand', prints: [] },
  // It does not wait for the reply, and gives no number of keys.
  { has: 'redis.eval(', prints: [], fails: 'toBe' },
  { has: 'Redis.Cluster', prints: [] },
];

describe.skipIf(!mayDownload)('ioredis-mock (needs the registry: LOSTLOCK_NETWORK=1)', () => {
  const installed = new InstalledProject();
  const modules = join(installed.folder, 'node_modules');
  beforeAll(
    // ioredis-mock is there for its README. Its peer dependency does not allow ioredis 6.
    () =>
      installed.install(
        '--legacy-peer-deps',
        jest,
        vitest,
        'ioredis@6.0.0',
        'ioredis5@npm:ioredis@5.11.1',
        'ioredis-mock@8.13.1',
      ),
    600_000,
  );
  afterAll(() => installed.remove());

  describe.each(['ioredis6', 'ioredis5'])('with %s', (version) => {
    beforeAll(() => {
      if (version === 'ioredis6') return;
      renameSync(join(modules, 'ioredis'), join(modules, 'ioredis6'));
      renameSync(join(modules, version), join(modules, 'ioredis'));
    });

    test.each(moves)('the program $name moves by one line', ({ name, line, tests, count, run }) => {
      const folder = join(installed.folder, name);
      cpSync(join(programs, name), folder, { recursive: true });
      expect(readFileSync(join(folder, tests), 'utf8').split('\n').length).toBeGreaterThan(500);
      const file = join(folder, line);
      const before = readFileSync(file, 'utf8');
      const after = before.replace("'ioredis-mock'", "'lostlock/ioredis-mock'");
      const changed = before.split('\n').filter((each, i) => each !== after.split('\n')[i]);
      expect(changed).toHaveLength(1);
      writeFileSync(file, after);
      const [runner = '', ...args] = run;
      const out = installed.runBoth(process.execPath, join(installed.folder, runner), ...args, folder);
      expect(out).toMatch(new RegExp(`Tests:? +(\\S+)?${count} passed`));
      rmSync(folder, { recursive: true });
    });

    test('a program of one file needs no await, and ends by itself', () => {
      writeFileSync(
        join(installed.folder, 'ends.cjs'),
        `const Redis = require('lostlock/ioredis-mock');
         const redis = new Redis({ data: { n: 1 } });
         redis.set('k', 'v', 'EX', 1000).then(() => redis.incr('n')).then(console.log);
         new Redis.Cluster([7001]).set('k', 'v').then(console.log);`,
      );
      expect(installed.run(process.execPath, 'ends.cjs').trim().split('\n').sort()).toEqual(['2', 'OK']);
    });
  });

  describe('its README', () => {
    test('has examples that run here', () => {
      const readme = readFileSync(join(modules, 'ioredis-mock/README.md'), 'utf8');
      const found = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code);
      // One example is for a browser, and loads the mock from a server.
      const here = found.filter((code) => !code.includes('unpkg.com'));
      expect(here).toHaveLength(examples.length);
      for (const [i, { has, prints, fails }] of examples.entries()) {
        const code = here[i] ?? '';
        expect(code).toContain(has);
        writeFileSync(
          join(installed.folder, 'example.cjs'),
          `const assert = require('node:assert');
           const printed = [];
           const log = console.log;
           console.log = (...words) => printed.push(words.map(String).join(' '));
           const pending = [];
           const expect = (seen) => ({
             toBe: (wanted) => pending.push(() => assert.equal(seen, wanted, 'toBe')),
             toEqual: (wanted) => pending.push(() => assert.deepEqual(seen, wanted, 'toEqual')),
           });
           const afterEach = (hook) => pending.push(() => new Promise(hook));
           process.on('unhandledRejection', (error) => (failure ??= error.message));
           let failure;
           (async () => {
             await (async () => {\n${code.replaceAll("'ioredis-mock'", "'lostlock/ioredis-mock'")}\n})();
             for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
             for (const each of pending) await each();
           })().catch((error) => (failure = error.message)).finally(() => {
             log(JSON.stringify({ printed, failure: failure ?? null }));
             process.exit(0);
           });`,
        );
        const out = installed.run(process.execPath, 'example.cjs');
        const { printed, failure } = JSON.parse(out) as { printed: string[]; failure: string | null };
        expect({ i, printed }).toEqual({ i, printed: prints });
        if (fails === undefined) expect({ i, failure }).toEqual({ i, failure: null });
        else expect(failure).toContain(fails);
      }
    });
  });
});
