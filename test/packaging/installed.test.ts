/** The packed package as npm installs it into an empty project: by npx, and in a Jest run. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';

const jest = '30.5.2';
const olderJest = '29.7.0';
const mayDownload = process.env.LOSTLOCK_NETWORK === '1';

describe.skipIf(!mayDownload)('installed by npm (needs the registry: LOSTLOCK_NETWORK=1)', () => {
  const project = mkdtempSync(join(tmpdir(), 'lostlock-installed-'));
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  beforeAll(async () => {
    await ensureBuilt();
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', project], { stdio: 'ignore' });
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    const packages = [
      `./lostlock-${manifest.version}.tgz`,
      `jest@${jest}`,
      `jest29@npm:jest@${olderJest}`,
      'ioredis@6.0.0',
    ];
    run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...packages);
  }, 240_000);
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test('npx serves until it is told to stop', async () => {
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

  test('a Jest test in CommonJS requires lostlock, and finds the server of the global setup', () => {
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
    run('npx', '--no-install', 'jest', '--ci', '--config', 'jest.config.json'); // Throws when a test fails.
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
      run(process.execPath, bin, '--ci', '--config', 'jest.config.json'); // Throws when a test fails.
    },
  );

  test('what users install is what the manifest names', () => {
    const lock = JSON.parse(readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8')) as {
      packages: Record<string, { dependencies?: Record<string, string> }>;
    };
    const ours = lock.packages['node_modules/lostlock'];
    expect(ours?.dependencies).toEqual(manifest.dependencies);
  });
});
