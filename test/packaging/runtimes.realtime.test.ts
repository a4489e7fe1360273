/** The packed package on runtimes other than plain Node: Bun, Deno, and Jest with jsdom, whose globals are a browser's. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InstalledProject, mayDownload } from './installed-project.ts';
import {
  clientFile,
  exploreFile,
  failingTest,
  refusals,
  stock,
  tidyTests,
  untidyTest,
} from './runtime-programs.ts';

const packages = [
  'bun@1.4.5',
  'deno@2.9.6',
  'jest@30.5.2',
  'jest-environment-jsdom@30.5.2',
  'ioredis@6.0.0',
  '@types/node@20.19.0',
];

/** Each function prints or returns nothing but what is the same on every runtime. */
const work = `
  async function useServer({ startServer }, { Redis }) {
    const server = await startServer();
    const redis = new Redis(server.url);
    const subscriber = new Redis(server.url);
    await redis.config('SET', 'notify-keyspace-events', 'Ex');
    await subscriber.subscribe('__keyevent@0__:expired');
    const expired = new Promise((done) => subscriber.on('message', (_channel, key) => done(key)));
    const seen = [await redis.set('short', 'A', 'PX', 20, 'NX'), await expired];
    seen.push(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX'));
    await redis.set('long', 'x'.repeat(3_000_000));
    seen.push((await redis.get('long')).length);
    seen.push(await redis.eval("return redis.call('set', KEYS[1], ARGV[1], 'NX')", 1, 'my:lock', 'B'));
    const inMemory = new Redis({ Connector: server.connector });
    seen.push(await inMemory.get('my:lock'));
    for (const client of [redis, subscriber, inMemory]) client.disconnect();
    await server.stop();
    return seen;
  }

  async function useLab({ startPair }) {
    const pair = await startPair({ clock: 'virtual', seed: 7 });
    const [a, b] = [pair.client('A'), pair.client('B')];
    pair.link.hold();
    const seen = [await a.set('my:lock', 'A', 'PX', 30_000, 'NX')];
    seen.push((await pair.failover({ crash: true })).lost.length, await b.set('my:lock', 'B', 'PX', 30_000, 'NX'));
    const waited = await pair.run(async () => {
      const begun = [Date.now(), performance.now()];
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const ticks = await new Promise((resolve) => {
        let count = 0;
        const interval = setInterval(() => {
          if (++count < 3) return;
          clearInterval(interval);
          resolve(count);
        }, 10);
      });
      return [Date.now() - begun[0], performance.now() - begun[1], ticks, Math.random(), crypto.randomUUID()];
    });
    seen.push(waited, String(pair.trace));
    await pair.close();
    return seen;
  }

  async function useRealPair({ startPair }) {
    const pair = await startPair({ clock: 'real' });
    const a = pair.client('A');
    pair.link.hold();
    const seen = [await a.set('my:lock', 'A', 'PX', 30_000, 'NX')];
    seen.push((await pair.failover({ crash: true })).lost.length);
    await pair.close();
    return seen;
  }

  const stock = ${stock};

  async function useExplorer({ explore, replay }) {
    const { findings } = await explore(stock);
    return [findings.map((each) => each.replay), (await replay(stock, findings[0].replay)).story];
  }
`;

const everything = `${work}
  export { stock };
  import ioredis from 'ioredis';
  import * as lostlock from 'lostlock';
  import * as explorer from 'lostlock/explore';
  const seen = [await useServer(lostlock, ioredis), await useLab(lostlock), await useRealPair(lostlock)];
  seen.push(await useExplorer(explorer));
  console.log(JSON.stringify(seen, null, 1));
`;

/** The blocks of the page in a language. */
function blocks(language: string): string[] {
  const page = readFileSync(join('docs', 'runtimes.md'), 'utf8');
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text = '']) => text,
  );
}

/** The commands of the page that begin with a word, without this word. */
function commandsOf(program: string): string[][] {
  const lines = blocks('sh').flatMap((text) => text.split('\n'));
  return lines
    .map((line) => line.split(' '))
    .flatMap(([first, ...rest]) => (first === program ? [rest] : []));
}

/** How each runtime is started, from the project's folder. */
const runtimes: Readonly<Record<'Node' | 'Bun' | 'Deno', readonly [program: string, ...args: string[]]>> = {
  Node: [process.execPath],
  Bun: [join('node_modules', '.bin', 'bun')],
  Deno: [join('node_modules', '.bin', 'deno'), 'run', '--allow-all', '--quiet'],
};

/** Bun explores five times as slowly as Node. */
const options = { timeout: 240_000 };

describe.skipIf(!mayDownload)('on other runtimes (needs the registry: LOSTLOCK_NETWORK=1)', options, () => {
  const project = new InstalledProject();
  const run = (runtime: keyof typeof runtimes, ...args: string[]): string => {
    const [program, ...before] = runtimes[runtime];
    return project.run(program, ...before, ...args);
  };

  beforeAll(async () => {
    await project.install(...packages);
    writeFileSync(join(project.folder, 'everything.mjs'), everything);
    writeFileSync(join(project.folder, 'stock.explore.mjs'), `${work}\nexport { stock };`);
    const [bunTest = '', denoTest = ''] = blocks('ts');
    const files = {
      'bun.test.ts': bunTest,
      'lock.test.ts': denoTest,
      'deno.json': blocks('json')[0] ?? '',
      'client.mjs': clientFile,
      'explore-file.mjs': exploreFile,
      'refusals.mjs': refusals,
      'tidy.test.mjs': tidyTests,
      'untidy.test.mjs': untidyTest,
      'bun-fails.test.ts': failingTest(
        "import { test } from 'bun:test'; import { fixtures } from 'lostlock/bun-test';",
      ),
      'deno-fails.test.ts': failingTest(
        "import { fixtures } from 'lostlock/deno-test'; const { test } = Deno;",
      ),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project.folder, name), text);
  }, 240_000);
  afterAll(() => project.remove());

  test.each(['Bun', 'Deno'] as const)(
    'on %s, server, lab and explorer do the same as on Node, to the last byte of traces and replays',
    (runtime) => {
      const onNode = run('Node', 'everything.mjs');
      expect(onNode).toContain('2:1:0:');
      expect(run(runtime, 'everything.mjs')).toBe(onNode);
    },
  );

  test.each(['Node', 'Bun', 'Deno'] as const)(
    'on %s, the report says how the modules of a file were loaded',
    (runtime) => {
      const node = runtime === 'Node' ? ['--experimental-vm-modules'] : [];
      const told = run(runtime, ...node, 'explore-file.mjs').trim();
      const fresh = 'modules are loaded anew for each client and world';
      const shared = /^modules are shared by all clients and worlds: (Bun|Deno) cannot load them anew$/;
      if (runtime === 'Node') expect(told).toBe(fresh);
      else expect(told).toMatch(shared);
    },
  );

  test.each(['Bun', 'Deno'] as const)('on %s, a world refuses real time by name', (runtime) => {
    const lines = run(runtime, 'refusals.mjs').trim().split('\n');
    const [virtual, ...others] = [lines.filter((line) => line.startsWith('virtual: ')), ...lines];
    expect(others.length).toBeGreaterThan(14);
    for (const line of others.filter((each) => !virtual.includes(each))) {
      const name = line.startsWith('Bun.redis:') ? 'Bun.RedisClient' : line.slice(0, line.indexOf(': '));
      expect(line).toContain(`code in a world began real I/O, which virtual time cannot finish: ${name}`);
    }
    if (runtime === 'Bun') {
      expect(lines.find((line) => line.startsWith('Bun.RedisClient'))).toContain('in native code');
      expect(virtual[0]).toMatch(/^virtual: \[1500,1500,"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
    }
  });

  test('bun test runs the tests of the page, with its own client', () => {
    const bun = runtimes.Bun[0];
    expect(project.runBoth(bun, 'test', './bun.test.ts')).toMatch(/ 2 pass\n 0 fail/);
  });

  test('bun test puts the mock in the place of ioredis before the tests load it', () => {
    const line = "mock.module('ioredis', () => require('lostlock/ioredis-mock'))";
    expect(readFileSync('docs/ioredis-mock.md', 'utf8')).toContain(line);
    writeFileSync(join(project.folder, 'preload.ts'), `import { mock } from 'bun:test'; ${line};`);
    writeFileSync(
      join(project.folder, 'mocked.test.ts'),
      `import { expect, test } from 'bun:test';
      import Redis, { Cluster, Redis as Named } from 'ioredis';
      test('a key', async () => {
        await new Redis().set('k', 'v');
        expect([await new Named().get('k'), await new Redis().blpop('none', 0.05)]).toEqual(['v', null]);
        expect(await new Cluster([{ host: 'h', port: 7000 }]).ping()).toBe('PONG');
      });`,
    );
    const args = ['test', '--preload', './preload.ts', './mocked.test.ts'];
    expect(project.runBoth(runtimes.Bun[0], ...args)).toMatch(/ 1 pass\n 0 fail/);
  });

  test('deno check and deno test run the tests of the page, with its permissions', () => {
    const deno = runtimes.Deno[0];
    const commands = commandsOf('deno').filter(([first]) => first === 'check' || first === 'test');
    expect(commands).toHaveLength(2);
    const [, tested = ''] = commands.map((args) => project.runBoth(deno, ...args));
    expect(tested).toMatch(/ok \| 3 passed \(1 step\) \| 0 failed/);
  });

  test("Deno's sanitizers find nothing that lostlock leaves, and what a test leaves", () => {
    const deno = runtimes.Deno[0];
    const flags = ['test', '--no-check', '--allow-env', '--allow-net=127.0.0.1'];
    expect(project.runBoth(deno, ...flags, 'tidy.test.mjs')).toMatch(/ok \| 7 passed \| 0 failed/);
    expect(() => project.runBoth(deno, ...flags, 'untidy.test.mjs')).toThrow(/Leaks detected/);
  });

  test.each([
    ['Bun', ['test', './bun-fails.test.ts'], 'lostlock-timelines/bun-fails-test-ts-3.html'],
    [
      'Deno',
      ['test', '--no-check', '--allow-env', 'deno-fails.test.ts'],
      'not written: Requires write access to "lostlock-timelines"',
    ],
  ] as const)('on %s, the error of a failed test has the explanation', (runtime, args, page) => {
    const failing = (): string => project.runBoth(runtimes[runtime][0], ...args);
    expect(failing).toThrow(/two holders\s+What happened in the pair:/);
    expect(failing).toThrow(`timeline: ${page}`);
  });

  const denoCommands = commandsOf('deno').filter(([first]) => first === 'run');
  test.each([
    [
      'bunx',
      runtimes.Bun[0].replace(/bun$/, 'bunx'),
      ['--no-install', '--bun', 'lostlock'],
      ['--bun', 'lostlock'],
    ],
    ['Deno', runtimes.Deno[0], denoCommands[0]?.slice(0, -2) ?? [], denoCommands[2]?.slice(0, -2) ?? []],
  ] as const)(
    '%s starts the command line, with the permissions of the page: it serves until a signal, and explores',
    async (_, program, serving, exploring) => {
      const child = spawn(program, [...serving, '--port', '0'], { cwd: project.folder });
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const socket = createConnection(Number(/ tcp (\d+)$/m.exec(String(line))?.[1]), '127.0.0.1');
      socket.on('error', () => {}).write('PING\r\n');
      expect(String((await once(socket, 'data'))[0])).toBe('+PONG\r\n');
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      const replay = /replay: (.*)/.exec(
        tryToRun(() => project.run(program, ...exploring, 'explore', 'stock.explore.mjs')),
      );
      expect(replay?.[1]).toMatch(/^2:1:0:[A-C],/);
    },
  );

  test('on Deno, the command line names the permission that is missing, and shows its other commands', () => {
    const [serve = [], demo = []] = denoCommands;
    const deno = runtimes.Deno[0];
    expect(project.runBoth(deno, ...demo)).toContain('A and B both have it');
    const without = [...serve.slice(0, -2), 'explore', 'stock.explore.mjs'];
    expect(() => project.runBoth(deno, ...without)).toThrow(/ended with 2:\n.*--allow-run/);
  });

  test("in Jest with jsdom, which has a browser's timers, server, lab and explorer work", () => {
    mkdirSync(join(project.folder, 'jsdom'));
    const config = { testEnvironment: 'jsdom', rootDir: 'jsdom', transform: {}, testTimeout: 60_000 };
    writeFileSync(join(project.folder, 'jest.config.json'), JSON.stringify(config));
    writeFileSync(
      join(project.folder, 'jsdom', 'all.test.js'),
      `${work}
       const ioredis = require('ioredis');
       const lostlock = require('lostlock');
       const explorer = require('lostlock/explore');
       test('the environment is that of a browser', () => {
         expect([typeof window, typeof setImmediate, typeof setTimeout(() => {})]).toEqual(['object', 'undefined', 'number']);
       });
       test('a server', async () => {
         expect(await useServer(lostlock, ioredis)).toEqual(['OK', 'short', 'OK', 3_000_000, null, 'A']);
       });
       test('the lab', async () => {
         const [...seen] = await useLab(lostlock);
         expect(seen.slice(0, 3)).toEqual(['OK', 1, 'OK']);
         expect(seen[3].slice(0, 3)).toEqual([1030, 1030, 3]);
         expect(await useRealPair(lostlock)).toEqual(['OK', 1]);
       });
       test('an exploration', async () => {
         expect((await useExplorer(explorer))[0][0]).toMatch(/^2:1:0:[A-C],/);
       });`,
    );
    const jest = join('node_modules', 'jest', 'bin', 'jest.js');
    expect(() => run('Node', jest, '--ci', '--config', 'jest.config.json')).not.toThrow();
  });
});

/** What a program prints that fails on purpose, as an exploration does that finds something. */
function tryToRun(task: () => string): string {
  try {
    return task();
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout ?? error);
  }
}
