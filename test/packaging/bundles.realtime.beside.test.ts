/** What the bundles hold, by esbuild's own account, and that the two module systems share what must be there once. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';

const project = mkdtempSync(join(tmpdir(), 'lostlock-bundles-'));
let outputs: Metafile['outputs'];

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
  ({ outputs } = JSON.parse(readFileSync('dist/metafile.json', 'utf8')) as Metafile);
  const modules = join(project, 'node_modules');
  mkdirSync(modules);
  symlinkSync(resolve('.'), join(modules, 'lostlock'), 'junction');
  for (const name of ['ioredis', 'vitest'])
    symlinkSync(resolve('node_modules', name), join(modules, name), 'junction');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const entries = Object.values(manifest.exports)
  .flatMap((target) => (typeof target === 'string' ? [] : [target.import.default.slice(2)]))
  .concat(manifest.bin.lostlock);

test('lostlock/locks has the code of the locks and their wrong options, and nothing of the server', () => {
  const sources = sourcesOf(loadedWith('dist/locks/index.js', true));
  expect(sources).toContain('locks/kinds/reentrant.ts');
  const others = sources.filter((path) => !path.startsWith('locks/'));
  expect(others.sort()).toEqual(['base/options.ts', 'base/similar.ts']);
});

test('the lab is not loaded before its first node is started', () => {
  const inLab = (path: string): boolean => /^lab\/(?!start|time\/current-world)/.test(path);
  expect(sourcesOf(loadedWith('dist/index.js', false)).filter(inLab)).toEqual([]);
  expect(sourcesOf(loadedWith('dist/index.js', true))).toContain('lab/virtual/world.ts');
});

test('the server is not loaded before the first one is started', () => {
  const inServer = (path: string): boolean => /^(server\/(?!host\/real-time)|keyspace|scripting)/.test(path);
  for (const entry of ['dist/index.js', 'dist/cli.js'])
    expect(sourcesOf(loadedWith(entry, false)).filter(inServer), entry).toEqual([]);
  expect(sourcesOf(loadedWith('dist/index.js', true))).toContain('server/server.ts');
});

test('the twins of a file have the same lines, and so one source map', () => {
  const twins = Object.keys(outputs).filter(
    (path) => existsSync(path.replace(/\.js$/, '.cjs')) && path.endsWith('.js'),
  );
  const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n');
  expect(twins.length).toBeGreaterThan(30);
  for (const path of twins) {
    const [module, common] = [linesOf(path), linesOf(path.replace(/\.js$/, '.cjs'))];
    expect([common.length, common.at(-2)], path).toEqual([module.length, module.at(-2)]);
  }
  const script =
    "Promise.resolve().then(() => require('lostlock').startServer({ porl: 1 })).catch((error) => console.log(error.stack));";
  const stack = execFileSync(process.execPath, ['--enable-source-maps', '-e', script], {
    cwd: project,
    encoding: 'utf8',
  });
  expect(stack).toMatch(/start\/\w+\.ts:\d+:\d+/);
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
    // Each piece of code that some entries share is a file, so entries that load more of the package load more files.
    const most = /^dist\/(index|locks)/.test(entry) ? 14 : 44;
    expect(loadedWith(entry, false).length, entry).toBeLessThan(most);
  }
  const sources = sourcesOf(Object.keys(outputs));
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.filter((path, i) => sources.indexOf(path) !== i)).toEqual([]);
});

test('CommonJS is split like the ES modules', () => {
  for (const [path, { imports }] of Object.entries(outputs)) {
    // Programs and threads are ES modules in both forms of the package.
    if (!path.endsWith('.js') || path === manifest.bin.lostlock || path.endsWith('/worker.js')) continue;
    const text = readFileSync(path.replace(/\.js$/, '.cjs'), 'utf8');
    const required = [...text.matchAll(/require\("(\.[^"]+)"\)/g)].map(([, name]) =>
      join(dirname(path), name!),
    );
    const imported = imports
      .filter(({ external }) => external !== true)
      .map((each) => each.path.replace(/\.js$/, '.cjs'));
    expect(new Set(required), path).toEqual(new Set(imported));
  }
});

/** A pair whose code asks Node's modules and globals for the time, through both of lostlock's copies. */
const drive = `
  async function drive(startPair) {
    const pair = await startPair({ clock: 'virtual', seed: 1 });
    const waited = await pair.run(async () => {
      const before = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      await timers.setTimeout(60_000);
      return Date.now() - before;
    });
    if (waited !== 120_000) throw new Error('waited ' + waited + ' ms');
    const a = pair.client('A');
    if ((await a.set('k', 'v')) !== 'OK') throw new Error('no OK');
    await pair.close();
  }`;

for (const first of ['import', 'require']) {
  test(`worlds of the ES module and of the CommonJS module run side by side with one router (${first} first)`, () => {
    const load = ["const esm = await import('lostlock');", "const cjs = require('lostlock');"];
    writeFileSync(
      join(project, 'both.mjs'),
      `import { createRequire } from 'node:module';
      import net from 'node:net';
      import timers from 'node:timers/promises';
      const require = createRequire(import.meta.url);
      ${(first === 'import' ? load : load.reverse()).join('\n')}
      ${drive}
      if (esm.startPair === cjs.startPair) throw new Error('there is one copy only: this test tests nothing');
      ${first === 'import' ? "await import('lostlock/router');" : "require('lostlock/router');"}
      const routes = [setTimeout, Date, net.connect, timers.setTimeout];
      await Promise.all([drive(esm.startPair), drive(cjs.startPair), drive(esm.startPair)]);
      if (routes.some((route, i) => route !== [setTimeout, Date, net.connect, timers.setTimeout][i])) {
        throw new Error('a second router took over');
      }
      console.log('done');`,
    );
    expect(node('both.mjs')).toBe('done\n');
  });
}

test('the entries of one module system share their classes', () => {
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
  expect(node('classes.mjs')).toBe('1 1\n');
});

test('stack traces name the sources', () => {
  const provoke = 'startServer({ prot: 1 }).catch((error) => console.log(error.stack))';
  writeFileSync(join(project, 'trace.mjs'), `import { startServer } from 'lostlock'; ${provoke}`);
  writeFileSync(join(project, 'trace.cjs'), `const { startServer } = require('lostlock'); ${provoke}`);
  for (const file of ['trace.mjs', 'trace.cjs']) {
    expect(node('--enable-source-maps', file)).toMatch(/checkOptions \(.*start\/start-options\.ts:\d+:\d+\)/);
  }
});
