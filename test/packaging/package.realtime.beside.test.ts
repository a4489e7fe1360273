/** The package as npm ships it: what the tarball holds, and that every entry loads, in both module systems, with types. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';

const project = mkdtempSync(join(tmpdir(), 'lostlock-user-'));
const modules = join(project, 'node_modules');
let packed: { size: number; files: { path: string; size: number }[] };

/** The shipped entries that can be loaded outside a test runner, './locks' as 'lostlock/locks'. */
const entries = Object.keys(manifest.exports)
  .filter((name) => !['./vitest', './package.json'].includes(name))
  .map((name) => `lostlock${name.slice(1)}`);

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd: project, encoding: 'utf8', shell: process.platform === 'win32' });
}

beforeAll(async () => {
  await ensureBuilt();
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project];
  const listing = execFileSync(npm, pack, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const parsed = JSON.parse(listing) as (typeof packed & { filename: string })[];
  packed = parsed[0] as (typeof parsed)[0];
  run('tar', '-xf', `lostlock-${manifest.version}.tgz`);
  mkdirSync(join(modules, '@types'), { recursive: true });
  const links = [...Object.keys(manifest.dependencies), '@types/node', 'undici-types', 'ioredis'];
  for (const name of links) symlinkSync(resolve('node_modules', name), join(modules, name), 'junction');
  // Moved, not linked: what it requires must be found from where a user's package manager puts it.
  run(process.execPath, '-e', "fs.renameSync('package', 'node_modules/lostlock')");
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** What the package has beside the build: pages, the helpers for other languages, and the notices. */
const isPage = (path: string): boolean => !path.startsWith('dist/');

test('the tarball holds the build, the pages, the helpers for other languages and the notices, and nothing else', () => {
  const paths = packed.files.map((file) => file.path);
  const others = paths
    .filter((path) => !/^dist\/playground\/(index\.html|style\.css)$/.test(path))
    .filter((path) => !/^dist\/.*\.(js|cjs|mjs|d\.ts|d\.cts)$/.test(path))
    .filter((path) => !/^(docs|bench)\/.*\.(md|svg)$/.test(path))
    .filter(
      (path) => !/^integrations\/(go|junit|pytest)\/.*\.(md|go|mod|sum|java|xml|py|toml|txt)$/.test(path),
    )
    .filter((path) => !/^examples\/[\w-]+\/([\w.-]+\.(js|mjs)|package\.json)$/.test(path))
    .sort();
  expect(others).toEqual([
    'AGENTS.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'NOTICE',
    'README.md',
    'SECURITY.md',
    'action.yml',
    'package.json',
  ]);
  expect(paths.filter((path) => /^dist\/(.*\/)?(test|bench|support)\b/.test(path))).toEqual([]);
  const examples = paths.filter((path) => path.startsWith('examples/'));
  expect(paths.filter(isPage).length - examples.length).toBeLessThanOrEqual(105);
  expect(examples.length).toBeLessThanOrEqual(50);
  // Limits go down, not up (docs/decisions/0077-a-light-package.md). The playground, a copy of the lab that runs in browsers, is 0.6 MB of these.
  expect(packed.size).toBeLessThan(1_780_000);
  expect(packed.files.length).toBeLessThan(225);
  const code = packed.files.filter(({ path }) => !isPage(path));
  // An entry has four files: the code in both forms, and the types of both.
  expect(code.length).toBeLessThanOrEqual(4 * Object.keys(manifest.exports).length + 16);
  expect(code.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(4_800_000);
  // Each entry's declarations are a file for each module system, which take what they share from one file.
  const declared = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target.import.types, target.require.types],
  );
  expect(paths.filter((path) => /\.d\.c?ts$/.test(path)).sort()).toEqual(
    [...new Set(declared.map((path) => path.slice(2))), 'dist/types.d.cts'].sort(),
  );
});

test('no link of a page in the package is dead there', () => {
  const paths = packed.files.map((file) => file.path);
  const pages = paths.filter((path) => path.endsWith('.md') && isPage(path));
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/explore.md', 'docs/start/jest.md']));
  const isThere = (path: string): boolean =>
    paths.some((each) => each === path || each.startsWith(`${path}/`));
  const dead = pages.flatMap((page) => {
    const text = readFileSync(join(modules, 'lostlock', page), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link = '']) => link);
    return links
      .map((link) => posix.normalize(posix.join(posix.dirname(page), link)).replace(/\/$/, ''))
      .filter((path) => !isThere(path))
      .map((path) => `${page}: ${path}; add it to "files" in package.json, or name it without a link`);
  });
  expect(dead).toEqual([]);
});

test('npm pack writes a manifest without scripts, for none of them runs in an installed package', () => {
  const tree = mkdtempSync(join(tmpdir(), 'lostlock-tree-'));
  try {
    const left = /(^|[\\/])(node_modules|\.git|target|__pycache__|dist-executable|\.building)$/;
    cpSync('.', tree, { recursive: true, filter: (path) => !left.test(path) });
    symlinkSync(resolve('node_modules'), join(tree, 'node_modules'), 'junction');
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    execFileSync(npm, ['pack', '--silent'], { cwd: tree, stdio: ['ignore', 'pipe', 'pipe'] });
    const inside = execFileSync('tar', ['-xOf', `lostlock-${manifest.version}.tgz`, 'package/package.json'], {
      cwd: tree,
    });
    const published = JSON.parse(String(inside)) as Record<string, unknown>;
    expect(Object.keys(published)).toEqual(
      Object.keys(manifest).filter((name) => !/^(scripts|devDep)/.test(name)),
    );
    expect(published.exports).toEqual(manifest.exports);
    // Afterwards the tree is as it was.
    expect(readFileSync(join(tree, 'package.json'))).toEqual(readFileSync('package.json'));
    expect(readdirSync(tree).filter((name) => name.startsWith('.package.json'))).toEqual([]);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}, 300_000);

test('NOTICE names the packages that npm installs with this one', () => {
  const named = [...readFileSync('NOTICE', 'utf8').matchAll(/^ {2}(\S+) (\d[\d.]*) /gm)];
  expect(Object.fromEntries(named.map(([, name, version]) => [name, version]))).toEqual(
    manifest.dependencies,
  );
});

test('every entry can be required', () => {
  const script = entries.map((name) => `require('${name}');`).join('\n');
  expect(() => run(process.execPath, '-e', script)).not.toThrow();
});

test('every entry can be imported', () => {
  const script = entries.map((name) => `await import('${name}');`).join('\n');
  expect(() => run(process.execPath, '--input-type=module', '-e', script)).not.toThrow();
});

const serving = `
  const server = await startServer();
  const socket = require('node:net').connect(server.port, server.host);
  socket.write('ECHO hello\\r\\n');
  const [chunk] = await require('node:events').once(socket, 'data');
  console.log(String(chunk).trim());
  socket.destroy();
  await server.stop();
`;

test('a CommonJS program starts a server, gets a reply, and ends by itself', () => {
  const script = `const { startServer } = require('lostlock'); (async () => {${serving}})();`;
  expect(run(process.execPath, '-e', script)).toMatch(/hello/);
});

test('an ES module starts a server, gets a reply, and ends by itself', () => {
  const head = `import { startServer } from 'lostlock'; import { createRequire } from 'node:module';`;
  const script = `${head} const require = createRequire('/'); ${serving}`;
  expect(run(process.execPath, '--input-type=module', '-e', script)).toMatch(/hello/);
});

test('a router that is required first serves the worlds of the main entry', () => {
  const script = `const before = globalThis.setTimeout; require('lostlock/router');
    if (globalThis.setTimeout === before) throw new Error('the router routes nothing');
    const routed = globalThis.setTimeout; require('lostlock');
    if (globalThis.setTimeout !== routed) throw new Error('a second router took over');
    if (!require.cache[require.resolve('lostlock/router')]) throw new Error('no router');`;
  expect(() => run(process.execPath, '-e', script)).not.toThrow();
});

test("realms of one process share the routes over Node's modules, and each has its own over the globals", () => {
  writeFileSync(
    join(project, 'realms.cjs'),
    `const net = require('node:net');
     const vm = require('node:vm');
     const { readFileSync } = require('node:fs');
     const { createRequire } = require('node:module');

     // As Jest does: Node's modules and most globals are the process', the global object is the realm's.
     function realm() {
       const context = vm.createContext({});
       const inner = vm.runInContext('globalThis', context);
       for (const name of Object.getOwnPropertyNames(globalThis)) {
         if (!(name in inner)) Object.defineProperty(inner, name, { value: globalThis[name], writable: true, configurable: true });
       }
       const load = (file) => {
         const module = { exports: {} };
         const local = createRequire(file);
         const body = vm.compileFunction(readFileSync(file, 'utf8'), ['module', 'exports', 'require', '__filename'], {
           parsingContext: context,
         });
         body(module, module.exports, (name) => (name[0] === '.' ? load(local.resolve(name)) : local(name)), file);
         return module.exports;
       };
       load(require.resolve('lostlock/router'));
       return inner;
     }

     const real = [net.connect, setTimeout];
     const first = realm();
     const { connect } = net;
     const second = realm();
     if (connect === real[0]) throw new Error('nothing was routed');
     if (net.connect !== connect) throw new Error('a route lies over a route');
     if (first.setTimeout === real[1] || second.setTimeout === real[1]) throw new Error('a realm has no timers');
     if (first.setTimeout === second.setTimeout) throw new Error('the realms share their timers');
     for (const inner of [first, second]) {
       const left = Object.getOwnPropertySymbols(inner).filter((key) => /lostlock/.test(String(key)));
       if (left.length > 0) throw new Error('a record is on the global object, where Jest disables it');
     }`,
  );
  expect(() => run(process.execPath, 'realms.cjs')).not.toThrow();
});

test('the command starts from the package', async () => {
  const cli = join(modules, 'lostlock', manifest.bin.lostlock);
  expect(readFileSync(cli, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  const child = spawn(process.execPath, [cli, '--port', '0'], { cwd: project });
  const [line] = await once(child.stdout, 'data');
  expect(String(line)).toMatch(/^\d+:M .* \* Ready to accept connections tcp \d+\n/);
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('where ioredis is missing, each command says in one line what to install, and so does each call of a program', () => {
  const ioredis = join(modules, 'ioredis');
  rmSync(ioredis);
  try {
    writeFileSync(
      join(project, 'lock.explore.mjs'),
      "export const lock = { name: 'lock', client: async () => {} };",
    );
    const cli = join(modules, 'lostlock', manifest.bin.lostlock);
    for (const args of [
      ['demo', 'failover'],
      ['demo', '--redis'],
      ['explore', 'lock.explore.mjs'],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, [cli, ...args], {
        cwd: project,
        encoding: 'utf8',
      });
      expect([args.join(' '), status, stderr]).toEqual([
        args.join(' '),
        2,
        expect.stringMatching(/^lostlock: .* 'ioredis' .*: npm install --save-dev ioredis\n$/),
      ]);
    }
    const program = `const { startPair } = require('lostlock');
      const code = () => startPair().then(() => 'started', (error) => error.code);
      code().then(async (first) => console.log(first, await code()));`;
    expect(run(process.execPath, '-e', program)).toBe('LOSTLOCK_NO_IOREDIS LOSTLOCK_NO_IOREDIS\n');
  } finally {
    symlinkSync(resolve('node_modules', 'ioredis'), ioredis, 'junction');
  }
});

test('the types compile without skipLibCheck in a .cts file and in a .mts file', () => {
  const imports = entries.map((name, i) => `import * as m${i} from '${name}'; export { m${i} };`);
  const use =
    "import { startServer } from 'lostlock'; export const url: Promise<string> = startServer().then((s) => s.url);";
  const files = ['user.cts', 'user.mts'];
  for (const file of files) writeFileSync(join(project, file), [...imports, use].join('\n'));
  const tsc = resolve('node_modules', 'typescript', 'bin', 'tsc');
  const strict = [
    '--noEmit',
    '--strict',
    '--module',
    'node16',
    '--lib',
    'es2023,esnext.disposable',
    '--types',
    'node',
  ];
  const checked = spawnSync(process.execPath, [tsc, ...strict, ...files], { cwd: project, encoding: 'utf8' });
  expect(checked.stdout + checked.stderr).toBe('');
});
