/** Runs the programs of README.md and of the guides as pasted, and compares what they print with what the pages say. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as errors from '../locks/errors.ts';
import { ensureBuilt } from './support/built.ts';

const readme = readFileSync('README.md', 'utf8');
const project = mkdtempSync(join(tmpdir(), 'lostlock-readme-'));

/** The code blocks of a page in a language that are whole programs: they import lostlock and print something. */
function programs(page: string, language: string): string[] {
  const blocks = [
    ...readFileSync(page, 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')),
  ];
  return blocks.map((block) => block[1] ?? '').filter((text) => text.includes('console.log'));
}

/** What a program says that it prints: the text behind each arrow. */
function promised(program: string): string[] {
  return [...program.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1] ?? '');
}

beforeAll(async () => {
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(resolve('.'), join(project, 'node_modules', 'lostlock'), 'junction');
  symlinkSync(resolve('node_modules', 'ioredis'), join(project, 'node_modules', 'ioredis'), 'junction');
  await ensureBuilt();
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const loaders: Record<string, string[]> = {
  js: [],
  ts: ['--import', resolve('node_modules/tsx/dist/esm/index.mjs')],
};

const examples = [
  { page: 'README.md', language: 'js' },
  { page: 'README.md', language: 'ts' },
  { page: 'docs/testing.md', language: 'js' },
  { page: 'docs/using-locks.md', language: 'js' },
];

for (const { page, language } of examples) {
  const loader = loaders[language] ?? [];
  test(`${page} has ${language} programs`, () => {
    expect(programs(page, language).length).toBeGreaterThan(0);
  });
  for (const [index, program] of programs(page, language).entries()) {
    test(`the ${language} program ${index + 1} of ${page} prints what the page says, and ends`, () => {
      const file = join(project, `program.m${language}`);
      writeFileSync(file, program);
      const run = spawnSync(process.execPath, [...loader, file], {
        cwd: project,
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect(run.stderr).toBe('');
      expect(run.stdout.trim().split('\n')).toEqual(promised(program));
      expect(run.status).toBe(0);
    });
  }
}

/** The Markdown pages of the repository, from its root. */
const pages = ['.', 'docs', 'docs/decisions', 'bench']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .filter((path) => path.endsWith('.md'));

test('every page links only to files that exist', () => {
  expect(pages).toContain('README.md');
  const broken = pages.flatMap((page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(
      (match) => match[1] ?? '',
    );
    return links.filter((link) => !existsSync(join(dirname(page), link))).map((link) => `${page}: ${link}`);
  });
  expect(broken).toEqual([]);
});

test('docs/using-locks.md names every setting and every error of the locks', () => {
  const guide = readFileSync('docs/using-locks.md', 'utf8');
  const settings = /interface LocksOptions \{([\s\S]*?)\n\}/.exec(
    readFileSync('locks/holding/core.ts', 'utf8'),
  )?.[1];
  const names = [...(settings ?? '').matchAll(/^ {2}(\w+)\?:/gm)].map((match) => match[1] ?? '');
  expect(names).toContain('leaseMs');
  expect([...names, ...Object.keys(errors)].filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

test('README.md names only scripts and tests that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const named = [...readme.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? '');
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  const paths = [...readme.matchAll(/\btest\/[\w./-]+/g)].map((match) => match[0]);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
