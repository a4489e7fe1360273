/** The packed package as npm installs it into an empty project: by npx, and in a Jest run. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { InstalledProject, mayDownload } from './installed-project.ts';

const jest = '30.5.2';
const olderJest = '29.7.0';

describe.skipIf(!mayDownload)('installed by npm (needs the registry: LOSTLOCK_NETWORK=1)', () => {
  const installed = new InstalledProject();
  const { folder: project } = installed;
  const run = (command: string, ...args: string[]): string => installed.run(command, ...args);

  beforeAll(
    () => installed.install(`jest@${jest}`, `jest29@npm:jest@${olderJest}`, 'ioredis@6.0.0'),
    240_000,
  );
  afterAll(() => installed.remove());

  test('npx serves until it receives a signal', async () => {
    const child = spawn('npx', ['--no-install', 'lostlock', '--port', '0'], { cwd: project });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const port = Number(/ \* Ready to accept connections tcp (\d+)$/m.exec(String(line))?.[1]);
    const socket = createConnection(port, '127.0.0.1').on('error', () => {});
    socket.write('PING\r\n');
    expect(String((await once(socket, 'data'))[0])).toBe('+PONG\r\n');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    child.kill('SIGTERM');
    await closed;
  });

  test('a Jest test in CommonJS can require lostlock, and finds the server of the global setup', () => {
    const config = { globalSetup: 'lostlock/jest', globalTeardown: 'lostlock/jest', testEnvironment: 'node' };
    writeFileSync(join(project, 'jest.config.json'), JSON.stringify(config));
    writeFileSync(
      join(project, 'lock.test.js'),
      `const { Redis } = require('ioredis');
       const { startServer } = require('lostlock');

       test('the run has a server', async () => {
         const redis = new Redis(process.env.REDIS_URL);
         expect(await redis.set('my:lock', 'A', 'PX', 30000, 'NX')).toBe('OK');
         redis.disconnect();
       });
       test('a test may have one of its own', async () => {
         const server = await startServer();
         const redis = new Redis(server.url);
         expect(await redis.get('my:lock')).toBe(null);
         redis.disconnect();
         await server.stop();
       });`,
    );
    expect(() => run('npx', '--no-install', 'jest', '--ci', '--config', 'jest.config.json')).not.toThrow();
  });

  test.each([
    ['30', 'jest'],
    ['29', 'jest29'],
  ])(
    "under Jest %s's fake timers a server answers ioredis as redis-server does, and TTLs follow if asked to",
    (_version, runner) => {
      // Jest fakes nextTick unless told otherwise, and then ioredis cannot connect to a redis-server either.
      const options = "{ doNotFake: ['nextTick', 'queueMicrotask'] }";
      const work = `async (server, redis) => {
      expect(await redis.set('k', 'v', 'PX', 60000)).toBe('OK');
      expect(await redis.get('k')).toBe('v');
      jest.advanceTimersByTime(60001);
      expect(await redis.get('k')).toBe(server.follows ? null : 'v');
      redis.disconnect();
    }`;
      writeFileSync(
        join(project, 'jest.config.json'),
        '{ "testEnvironment": "node", "roots": ["<rootDir>/fakes"] }',
      );
      mkdirSync(join(project, 'fakes'), { recursive: true });
      const open = {
        'over TCP': 'new Redis(server.url)',
        'in memory': 'new Redis({ Connector: server.connector })',
      };
      for (const [at, loadsLate] of [
        ['early', false],
        ['late', true],
      ] as const) {
        const tests = Object.entries(open).flatMap(([way, dial]) =>
          ['real', 'ambient'].map(
            (clock) => `
          test('${at}, ${way}, ${clock}', async () => {
            if (${loadsLate}) { jest.useFakeTimers(${options}); jest.resetModules(); }
            const { Redis } = require('ioredis');
            const { startServer } = require('lostlock');
            const server = await startServer({ clock: '${clock}' });
            const early = ${dial};
            await early.ping();
            jest.useFakeTimers(${options});
            server.follows = ${clock === 'ambient'};
            await (${work})(server, early);
            await (${work})(server, ${dial});
            await server.stop();
            jest.useRealTimers();
          });`,
          ),
        );
        writeFileSync(join(project, 'fakes', `${at}.test.js`), tests.join('\n'));
      }
      const bin = join('node_modules', runner, 'bin', 'jest.js');
      expect(() => run(process.execPath, bin, '--ci', '--config', 'jest.config.json')).not.toThrow();
    },
  );

  test('Jest runs the test that an exploration writes: it fails as long as the promise is broken', () => {
    const folder = join(project, 'explored');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'stock.explore.mjs'),
      `export const stock = {
        name: 'stock', clients: 2, faults: ['client-death'], promises: ['no-orphan'], budget: { worlds: 30 },
        async client({ name, redis, sleep, resource }) {
          const lease = process.env.LEASE ? ['PX', '200'] : [];
          while ((await redis.set('lock', name, 'NX', ...lease)) !== 'OK') await sleep(20);
          const inside = resource('stock').enter();
          await sleep(40);
          inside.leave();
          await redis.del('lock');
        },
      };`,
    );
    const config = { testEnvironment: 'node', testMatch: ['**/*.test.mjs'], transform: {} };
    writeFileSync(join(folder, 'jest.config.json'), JSON.stringify(config));
    const lostlock = join(project, 'node_modules', 'lostlock', 'dist', 'cli.js');
    const explored = ['explore', 'stock.explore.mjs', '--out', 'out', '--runner', 'jest'];
    expect(spawnSync(process.execPath, [lostlock, ...explored], { cwd: folder }).status).toBe(1);
    const jestOf = (env: NodeJS.ProcessEnv) =>
      spawnSync(
        process.execPath,
        ['--experimental-vm-modules', join(project, 'node_modules', 'jest', 'bin', 'jest.js'), '--ci'],
        { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } },
      );
    expect(jestOf({}).stderr).toContain('stock: no-orphan is broken');
    expect(jestOf({ LEASE: '1' }).stderr).toMatch(/Tests: +(\d) passed, \1 total/);
  }, 60_000);

  test('files of one Jest worker that use the lab and a server in turn print no deprecation', () => {
    const folder = join(project, 'turns');
    mkdirSync(folder);
    const order = '[...tests].sort((a, b) => (a.path < b.path ? -1 : 1))';
    writeFileSync(
      join(folder, 'sequencer.js'),
      `const { default: Base } = require('@jest/test-sequencer');
       module.exports = class extends Base { sort(tests) { return ${order}; } };`,
    );
    const config = { testEnvironment: 'node', testSequencer: './sequencer.js' };
    writeFileSync(join(folder, 'jest.config.json'), JSON.stringify(config));
    const pair = `const { startPair } = require('lostlock');
      test('a pair', async () => {
        const pair = await startPair({ clock: 'virtual', seed: 7 });
        await pair.run(() => new Promise((resolve) => setTimeout(resolve, 60_000)));
        await pair.run(() => require('node:timers/promises').setTimeout(60_000));
        await pair.run(() => new Promise((resolve) => require('node:timers').setTimeout(resolve, 60_000)));
        await pair.close();
      });`;
    const server = `const { Redis } = require('ioredis');
      const { startServer } = require('lostlock');
      const { promisify } = require('node:util');
      test('a server', async () => {
        const server = await startServer();
        const redis = new Redis(server.url);
        expect(await redis.set('my:lock', 'A')).toBe('OK');
        expect(require('node:crypto').randomUUID()).toHaveLength(36);
        await promisify(require('node:timers').setTimeout)(1);
        expect(AbortSignal.timeout(60_000).aborted).toBe(false);
        redis.disconnect();
        await server.stop();
      });`;
    for (const [name, text] of Object.entries({ a: pair, b: server, c: pair, d: server })) {
      writeFileSync(join(folder, `${name}.test.js`), text);
    }
    for (const globalsCleanup of ['soft', 'on']) {
      const options = ['--ci', '--runInBand', '--config', 'jest.config.json'];
      options.push('--testEnvironmentOptions', JSON.stringify({ globalsCleanup }));
      const jest = join(project, 'node_modules', 'jest', 'bin', 'jest.js');
      const done = spawnSync(process.execPath, [jest, ...options], { cwd: folder, encoding: 'utf8' });
      expect(done.stderr).toContain('4 passed, 4 total');
      expect(done.stdout + done.stderr).not.toMatch(/Warning|soft deleted/);
    }
  }, 120_000);

  test('users install what the manifest names', () => {
    const lock = JSON.parse(readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8')) as {
      packages: Record<string, { dependencies?: Record<string, string> }>;
    };
    const ours = lock.packages['node_modules/lostlock'];
    expect(ours?.dependencies).toEqual(manifest.dependencies);
  });
});
