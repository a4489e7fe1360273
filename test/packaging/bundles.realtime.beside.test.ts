/** What the bundles hold, by esbuild's own account, and that the two module systems share it. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildSync, type Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';

const project = mkdtempSync(join(tmpdir(), 'lostlock-bundles-'));
let outputs: Metafile['outputs'];
/** The file of dist/chunks/ that holds a chunk. */
let files: Readonly<Record<string, string>>;

/** The files of dist/ that are loaded with an entry; with what is loaded later, if asked. */
function loadedWith(entry: string, later: boolean): string[] {
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind, external } of outputs[path]!.imports) {
      if (external !== true && (later || kind !== 'dynamic-import')) add(next);
    }
  };
  add(entry);
  return [...found];
}

/** The sources whose code is in those files. */
function sourcesOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    Object.entries(outputs[path]!.inputs).flatMap(([source, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [source] : [],
    ),
  );
}

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
}

beforeAll(async () => {
  await ensureBuilt();
  ({ outputs, files } = JSON.parse(readFileSync('dist/metafile.json', 'utf8')) as Metafile & {
    files: typeof files;
  });
  const modules = join(project, 'node_modules');
  mkdirSync(modules);
  symlinkSync(resolve('.'), join(modules, 'lostlock'), 'junction');
  for (const name of ['ioredis', 'vitest'])
    symlinkSync(resolve('node_modules', name), join(modules, name), 'junction');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const entries = Object.values(manifest.exports).flatMap((target) =>
  typeof target === 'string' ? [] : [target.import.default.slice(2).replace(/\.mjs$/, '.js')],
);

/** The sources whose code is in the files that are read with an entry, whether it runs or not. */
function readWith(entry: string): string[] {
  const own = loadedWith(entry, false).flatMap((path) => files[path] ?? []);
  return sourcesOf(Object.keys(files).filter((path) => own.includes(files[path]!)));
}

test('lostlock/locks has the code of the locks and their wrong options, and nothing of the server', () => {
  const sources = sourcesOf(loadedWith('dist/locks/index.js', true));
  expect(sources).toContain('locks/kinds/reentrant.ts');
  const others = sources.filter((path) => !path.startsWith('locks/'));
  expect(others.sort()).toEqual(['base/options.ts', 'base/similar.ts']);
  expect(readWith('dist/locks/index.js').sort()).toEqual(others);
});

test('the lab is not loaded before its first node is started', () => {
  const inLab = (path: string): boolean => /^lab\/(?!start|time\/current-world)/.test(path);
  expect(sourcesOf(loadedWith('dist/index.js', false)).filter(inLab)).toEqual([]);
  expect(sourcesOf(loadedWith('dist/index.js', true))).toContain('lab/virtual/world.ts');
});

test('the server is not loaded before the first one is started', () => {
  const inServer = (path: string): boolean => /^(server\/(?!host\/real-time)|keyspace|scripting)/.test(path);
  expect(sourcesOf(loadedWith('dist/index.js', false)).filter(inServer)).toEqual([]);
  expect(readWith('dist/index.js').filter(inServer)).toEqual([]);
  expect(sourcesOf(loadedWith('dist/index.js', true))).toContain('server/server.ts');
});

test("vi.mock takes the mock's module for ioredis, with its default and its named exports", () => {
  writeFileSync(
    join(project, 'mock.test.mjs'),
    `import Redis, { Cluster, Redis as Named } from 'ioredis';
    import * as all from 'ioredis';
    import { expect, test, vi } from 'vitest';
    vi.mock('ioredis', () => import('lostlock/ioredis-mock'));
    test('a key', async () => {
      expect([Named, all.Redis, all.default, Redis.Cluster]).toEqual([Redis, Redis, Redis, Cluster]);
      await new Redis().set('k', 'v');
      expect(await new Named().get('k')).toBe('v');
      expect(await new Cluster([{ host: 'h', port: 7000 }]).ping()).toBe('PONG');
    });`,
  );
  const run = ['run', '--root', project, 'mock.test.mjs'];
  const out = execFileSync(process.execPath, [resolve('node_modules/vitest/vitest.mjs'), ...run], {
    cwd: project,
    encoding: 'utf8',
  });
  expect(out).toMatch(/1 passed/);
});

test('a blocking command with a limit keeps the process of a mock alive until its reply, and nothing else does', () => {
  const program = `import Redis from 'lostlock/ioredis-mock';
    const redis = new Redis();
    new Redis().blpop('never', 0);
    console.log(await redis.blpop('k', 0.05), await redis.wait(1, 50));
    await new Redis().subscribe('channel');`;
  writeFileSync(join(project, 'blocking.mjs'), program);
  expect(execFileSync(process.execPath, ['blocking.mjs'], { cwd: project, encoding: 'utf8' })).toBe(
    'null 0\n',
  );
});

test('the entry for Vitest works in a test, and shares its code with the main entry', () => {
  writeFileSync(
    join(project, 'entry.test.mjs'),
    `import { expect } from 'vitest';
    import { startPair } from 'lostlock';
    import { test } from 'lostlock/vitest';
    test('a lock is taken once', async ({ redis, pair }) => {
      expect(await redis.set('my:lock', 'A', 'NX')).toBe('OK');
      const other = await startPair();
      expect(other.constructor).toBe(pair.constructor);
      await other.close();
    });`,
  );
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  expect(() => node(vitest, 'run', '--root', '.', 'entry.test.mjs')).not.toThrow();
});

test('a server without TLS does not load it', () => {
  writeFileSync(
    join(project, 'plain.mjs'),
    `import { startServer } from 'lostlock';
    await (await startServer()).stop();
    console.log(process.moduleLoadList.filter((name) => /NativeModule (net|tls)$/.test(name)).join());`,
  );
  expect(node('plain.mjs')).toBe('NativeModule net\n');
});

test('each entry is a few files, and each source is in one of them', () => {
  for (const entry of entries) {
    const own = new Set(loadedWith(entry, false).map((path) => files[path] ?? path));
    // `lostlock/explore` has the code of the server and of the lab.
    expect(own.size, entry).toBeLessThanOrEqual(entry.includes('explore') ? 7 : 5);
  }
  const sources = sourcesOf(Object.keys(outputs));
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.filter((path, i) => sources.indexOf(path) !== i)).toEqual([]);
});

test('both module systems have one copy of each export', () => {
  const program = `import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    for (const name of ${JSON.stringify(Object.keys(manifest.exports))}) {
      if (name === './package.json' || name === './vitest') continue;
      const [imported, required] = [await import('lostlock' + name.slice(1)), require('lostlock' + name.slice(1))];
      const names = (module) => Object.keys(module).filter((each) => each !== 'default' && each !== 'module.exports').sort();
      if (names(imported).join() !== names(required).filter((each) => each in imported).join()) throw new Error(name);
      for (const each of Object.keys(imported).filter((each) => each !== 'module.exports'))
        if (imported[each] !== required[each]) throw new Error(name + ': ' + each);
    }
    console.log('done');`;
  writeFileSync(join(project, 'both.mjs'), program);
  expect(node('both.mjs')).toBe('done\n');
});

test('the entries share their classes', () => {
  writeFileSync(
    join(project, 'classes.mjs'),
    `import { createRequire } from 'node:module';
    import { LostlockServer, startServer } from 'lostlock';
    import { globalSetup, globalTeardown } from 'lostlock/jest';
    const require = createRequire(import.meta.url);
    const count = (Server) => {
      const { stop } = Server.prototype;
      const count = { stopped: 0 };
      Server.prototype.stop = function () {
        count.stopped++;
        return stop.call(this);
      };
      return count;
    };
    const counts = [count(LostlockServer), count(require('lostlock').LostlockServer)];
    for (const jest of [{ globalSetup, globalTeardown }, require('lostlock/jest')]) {
      await jest.globalSetup();
      await jest.globalTeardown();
    }
    console.log(counts.map(({ stopped }) => stopped).join(' '));`,
  );
  expect(node('classes.mjs')).toBe('2 2\n');
});

test('stack traces name our functions, and the lines that they show are short', () => {
  const provoke = 'startServer({ prot: 1 }).catch((error) => console.log(error.stack))';
  writeFileSync(join(project, 'trace.mjs'), `import { startServer } from 'lostlock'; ${provoke}`);
  writeFileSync(join(project, 'trace.cjs'), `const { startServer } = require('lostlock'); ${provoke}`);
  for (const file of ['trace.mjs', 'trace.cjs'])
    expect(node(file)).toMatch(/at checkOptions \(.*chunks[\\/]\w+\.cjs:\d+:\d+\)/);
  const longest = readdirSync('dist/chunks').flatMap((name) =>
    readFileSync(join('dist/chunks', name), 'utf8')
      .split('\n')
      .map((line) => line.length),
  );
  expect(longest.sort((a, b) => b - a)[0]).toBeLessThan(500);
});

test('bundlers take the package as an ES module and as CommonJS', () => {
  const serving =
    'startServer().then(async (server) => { console.log(server.port > 0); await server.stop(); });';
  writeFileSync(join(project, 'in.mjs'), `import { startServer } from 'lostlock'; ${serving}`);
  for (const format of ['esm', 'cjs'] as const) {
    const outfile = join(project, `bundled.${format === 'esm' ? 'mjs' : 'cjs'}`);
    const options = { bundle: true, platform: 'node', format, outfile, logLevel: 'error' } as const;
    buildSync({ ...options, entryPoints: [join(project, 'in.mjs')], absWorkingDir: project });
    expect(node(outfile)).toBe('true\n');
  }
});
