/** The code that V8 compiles of the package's files, which is kept for the next process. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';

let folder: string;
let kept: string;
let file: string;

beforeAll(ensureBuilt, 120_000);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lostlock-kept-'));
  kept = join(folder, 'kept');
  file = join(folder, 'package', 'command.cjs');
  mkdirSync(join(folder, 'package', 'chunks'), { recursive: true });
  writeFileSync(file, "console.log(require('./chunks/part.cjs').one, require('../other.cjs').name);");
  writeFileSync(join(folder, 'package', 'chunks', 'part.cjs'), 'exports.one = (() => 1)();');
  writeFileSync(join(folder, 'other.cjs'), "exports.name = require('node:path').basename(__filename);");
});

/** The option `client` of an exploration. */
const CLIENT = `client: async ({ name, redis, resource }) => {
  if ((await redis.set('lock', name, 'NX')) === 'OK') resource('stock').enter().leave();
}`;

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the file in a process of its own, and returns what it prints. */
function load(environment: NodeJS.ProcessEnv = { NODE_COMPILE_CACHE: kept }, path = file): string {
  const script = `import { requireKept } from '${resolve('start/running/kept-code.ts')}'; requireKept(process.argv[1]);`;
  const flags = ['--import', './test/support/loader/register.mjs', '--input-type=module', '-e', script, path];
  const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, flags, {
    encoding: 'utf8',
    env: { ...inherited, ...environment },
  });
  return stdout.trim() || stderr;
}

/** The kept files. From version 22.1 on, Node has a folder of its own beside them. */
const names = (): string[] =>
  existsSync(kept)
    ? readdirSync(kept)
        .filter((name) => name.endsWith(process.version))
        .sort()
    : [];
/** The name of the kept file of a source. */
const nameOf = (source: string): RegExp =>
  new RegExp(`^${source}-\\w+-${manifest.version}-\\w+-${process.version}$`.replaceAll('.', '\\.'));
/** A file that is written again is another one. */
const identities = (): number[] => names().map((name) => statSync(join(kept, name)).ino);

test('the code of the package is kept at the end, and read at the next start', () => {
  expect(load()).toBe('1 other.cjs');
  expect(names()).toEqual(['command.cjs', 'part.cjs'].map((name) => expect.stringMatching(nameOf(name))));
  const before = identities();
  expect(load()).toBe('1 other.cjs');
  expect(identities()).toEqual(before);
});

test('a file that has changed is compiled again, also when it is as long as before', () => {
  load();
  const before = identities();
  writeFileSync(join(folder, 'package', 'chunks', 'part.cjs'), 'exports.one = (() => 2)();');
  expect(load()).toBe('2 other.cjs');
  const after = identities();
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
});

test('a stack trace names the file of its own project, where two have the same version', () => {
  writeFileSync(file, "console.log(new Error('here').stack.split('\\n')[1]);");
  expect(load()).toContain(file);
  const other = join(folder, 'other project', 'command.cjs');
  mkdirSync(dirname(other));
  copyFileSync(file, other);
  expect(load(undefined, other)).toContain(other);
  expect(load()).toContain(file);
});

test('of many projects, the code that was kept longest ago is removed', () => {
  const written: string[] = [];
  for (let project = 0; project < 10; project++) {
    const path = join(folder, `project ${project}`, 'command.cjs');
    mkdirSync(dirname(path));
    writeFileSync(path, 'console.log(1);');
    expect(load(undefined, path)).toBe('1');
    const name = names().find((each) => !written.includes(each))!;
    written.push(name);
    const time = new Date(2026, 0, 1 + project);
    utimesSync(join(kept, name), time, time);
  }
  expect(names()).toEqual(written.slice(2).sort());
});

test('what V8 rejects is written again', () => {
  load();
  const path = join(kept, names()[1]!);
  const whole = readFileSync(path);
  for (const length of [0, 20, 32, 100]) {
    writeFileSync(path, whole.subarray(0, length));
    expect(load()).toBe('1 other.cjs');
    expect(statSync(path).size).toBeGreaterThan(length);
  }
});

test('nothing is kept when that is turned off, or when others can write to the folder', () => {
  expect(load({ NODE_COMPILE_CACHE: kept, NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('1 other.cjs');
  expect(names()).toEqual([]);
  mkdirSync(kept);
  chmodSync(kept, 0o777);
  expect(load()).toBe('1 other.cjs');
  expect(names()).toEqual([]);
  rmSync(kept, { recursive: true });
  writeFileSync(kept, 'a file');
  expect(load()).toBe('1 other.cjs');
});

test('without a variable, the code is kept in a folder of this user for temporary files', () => {
  expect(load({ TMPDIR: folder })).toBe('1 other.cjs');
  const [name] = readdirSync(folder).filter((each) => each.startsWith('lostlock-code-'));
  expect(statSync(join(folder, name!)).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, name!))).toHaveLength(2);
});

test('the command line keeps its code', () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['dist/cli.js', ...words], {
      encoding: 'utf8',
      env: { ...process.env, NODE_COMPILE_CACHE: kept },
    });
  const first = run('--version');
  expect([first.stdout, first.stderr]).toEqual([expect.stringMatching(/^lostlock \d/), '']);
  const before = identities();
  expect(names()).toContainEqual(expect.stringMatching(nameOf('command.cjs')));
  expect(run('--version').stdout).toMatch(/^lostlock \d/);
  expect(identities()).toEqual(before);
  // A command that loads a file of its user.
  writeFileSync(join(folder, 'set.explore.mjs'), `export const lock = { name: 'lock', ${CLIENT} };`);
  const explore = ['explore', join(folder, 'set.explore.mjs'), '--worlds', '4', '--seed', '1'];
  const [cold, warm] = [run(...explore), run(...explore)];
  expect(names()).toContainEqual(expect.stringMatching(nameOf('explore.cjs')));
  expect(cold.stdout).toMatch(/worlds/);
  expect(warm.status).toBe(cold.status);
});

/** Runs a program of a user in a process of its own. Returns what it prints. */
function user(program: string, environment: NodeJS.ProcessEnv = {}, ...flags: string[]): string {
  const path = join(folder, 'user.cjs');
  writeFileSync(path, program);
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, path], {
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE: kept, ...environment },
  });
  return (stdout + stderr).trim();
}

const SERVING = `const { startServer } = require('${resolve('dist/index.cjs')}');
  startServer()
    .then(async (server) => {
      console.log(server.port > 0, Object.keys(require.extensions).join());
      await server.stop();
    });`;
const SERVED = 'true .js,.json,.node';

test("a program's first server keeps its code, and leaves require() as it was", () => {
  expect(user(SERVING)).toBe(SERVED);
  expect(names()).toEqual([expect.stringMatching(nameOf('server.cjs'))]);
  const before = identities();
  expect(user(SERVING)).toBe(SERVED);
  expect(identities()).toEqual(before);
  // V8 rejects the code of a process with other flags.
  expect(user(SERVING, {}, '--no-opt')).toBe(SERVED);
  expect(names()).toHaveLength(2);
  expect(user(SERVING, { NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(SERVED);
});

test('kept code is what runs', () => {
  user(SERVING);
  const rejected = `const { Script } = require('node:vm');
    const { runInThisContext } = Script.prototype;
    Script.prototype.runInThisContext = function (...given) {
      console.log('rejected:', this.cachedDataRejected);
      return runInThisContext.apply(this, given);
    };
    ${SERVING}`;
  expect(user(rejected)).toContain('rejected: false');
});

test('a program whose require() someone else has changed is not touched', () => {
  const program = `const plain = require.extensions['.js'];
    require.extensions['.cjs'] = (module, path) => plain(module, path);
    ${SERVING}`;
  expect(user(program)).toBe('true .js,.json,.node,.cjs');
  expect(names()).toEqual([]);
});

test('the lab and an exploration keep their code', () => {
  user(`const { startPair } = require('${resolve('dist/index.cjs')}');
    startPair().then((pair) => pair.close());`);
  expect(names()).toContainEqual(expect.stringMatching(nameOf('lab.cjs')));
  user(`const { explore } = require('${resolve('dist/explore/index.cjs')}');
    explore({ name: 'lock', ${CLIENT}, budget: { worlds: 5 } });`);
  expect(names()).toContainEqual(expect.stringMatching(nameOf('explore.cjs')));
});

test("a process' first server loads neither node:crypto nor our dependencies; what needs them does", () => {
  const starting = (requests: readonly string[] = []): string =>
    user(`const { startServer } = require('${resolve('dist/index.cjs')}');
      const { once } = require('node:events');
      startServer().then(async (server) => {
        const found = () => [
          ...process.moduleLoadList.filter((name) => name === 'NativeModule crypto'),
          ...Object.keys(require.cache).filter((path) => /node_modules/.test(path)).map((path) => require('node:path').basename(path)),
        ];
        console.log(found().sort().join());
        for (const request of ${JSON.stringify(requests)}) {
          const socket = require('node:net').connect(server.port);
          socket.write(request + '\\r\\n');
          console.log(String(await once(socket, 'data')).split('\\r\\n')[0], found().sort().join());
          socket.destroy();
        }
        await server.stop();
      });`);
  starting(); // It keeps its code.
  expect(starting()).toBe('');
  const requests = ['XGROUP CREATE s g $ MKSTREAM', 'EVAL "return 7" 0', 'ACL GENPASS'];
  expect(
    starting(requests)
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([
    '+OK b+tree.js,index.js',
    ':7 NativeModule crypto,b+tree.js,index.js',
    '$64 NativeModule crypto,b+tree.js,index.js',
  ]);
});

test('the command line starts a server from a few files, and looks each of them up once', () => {
  const found = user(`const Module = require('node:module');
    const { _resolveFilename: resolve } = Module;
    const asked = [];
    Module._resolveFilename = function (name, parent, ...rest) {
      if (name.startsWith('.')) asked.push(require('node:path').basename(parent.filename) + ' ' + name);
      return resolve.call(this, name, parent, ...rest);
    };
    const { write } = process.stdout;
    process.stdout.write = function (line) {
      if (!String(line).includes('Ready to accept')) return write.call(process.stdout, line);
      write.call(process.stdout, asked.sort().join('\\n'));
      process.exit();
    };
    process.argv.push('--port', '0');
    require('${resolve(manifest.bin.lostlock)}');`);
  expect(found.split('\n').map((line) => line.trim())).toEqual([
    'base.cjs ./options.cjs',
    'command.cjs ./chunks/serve.cjs',
    'command.cjs ./kept.cjs',
    'kept.cjs ./chunks/base.cjs',
    'kept.cjs ./chunks/options.cjs',
    'serve.cjs ../kept.cjs',
    'serve.cjs ./base.cjs',
    'serve.cjs ./options.cjs',
    'serve.cjs ./server.cjs',
    'server.cjs ./base.cjs',
    'server.cjs ./options.cjs',
  ]);
});
