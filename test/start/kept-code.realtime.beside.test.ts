/** The code that the command line keeps for its next start. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureBuilt } from '../support/built.ts';

let folder: string;
let kept: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lostlock-kept-'));
  kept = join(folder, 'kept');
  file = join(folder, 'package', 'command.cjs');
  mkdirSync(join(folder, 'package', 'chunks'), { recursive: true });
  writeFileSync(file, "console.log(require('./chunks/part.cjs').one, require('../other.cjs').name);");
  writeFileSync(join(folder, 'package', 'chunks', 'part.cjs'), 'exports.one = (() => 1)();');
  writeFileSync(join(folder, 'other.cjs'), "exports.name = require('node:path').basename(__filename);");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the file in a process of its own, and returns what it prints. */
function load(environment: NodeJS.ProcessEnv = { NODE_COMPILE_CACHE: kept }): string {
  const script = `import { requireKept } from '${resolve('cli/kept-code.ts')}'; requireKept(process.argv[1]);`;
  const flags = ['--import', './test/support/loader/register.mjs', '--input-type=module', '-e', script, file];
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
/** A file that is written again is another one. */
const identities = (): number[] => names().map((name) => statSync(join(kept, name)).ino);

test('the code of the package is kept at the end, and read at the next start', () => {
  expect(load()).toBe('1 other.cjs');
  expect(names()).toEqual([`command.cjs-${process.version}`, `part.cjs-${process.version}`]);
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

test('what V8 rejects is written again', () => {
  load();
  const path = join(kept, `part.cjs-${process.version}`);
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

test('the command line keeps its code', async () => {
  await ensureBuilt();
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['dist/cli.js', ...words], {
      encoding: 'utf8',
      env: { ...process.env, NODE_COMPILE_CACHE: kept },
    });
  const first = run('--version');
  expect([first.stdout, first.stderr]).toEqual([expect.stringMatching(/^lostlock \d/), '']);
  const before = identities();
  expect(names()).toContain(`command.cjs-${process.version}`);
  expect(run('--version').stdout).toMatch(/^lostlock \d/);
  expect(identities()).toEqual(before);
  // Commands that load files of their user are ES modules.
  rmSync(kept, { recursive: true });
  expect(run('explore', '--help').stdout).toContain('explore');
  expect(names()).not.toContain(`command.cjs-${process.version}`);
});
