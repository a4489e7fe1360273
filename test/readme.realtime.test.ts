/** Runs the programs of README.md and of the guides as pasted, and compares what they print with what the pages say. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import * as errors from '../locks/errors.ts';
import { testPrograms } from './support/pages/test-programs.ts';

const readme = readFileSync('README.md', 'utf8');
testPrograms([
  { page: 'README.md', language: 'js' },
  { page: 'docs/testing.md', language: 'js' },
  { page: 'docs/using-locks.md', language: 'js' },
]);

/** The Markdown pages of the repository, from its root. */
const pages = [
  '.',
  'docs',
  'docs/decisions',
  'docs/start',
  'bench',
  'integrations/pytest',
  'integrations/go',
  'integrations/junit',
]
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

test('README.md has at most a thousand words', () => {
  expect(readme.split(/\s+/).filter((word) => word !== '').length).toBeLessThanOrEqual(1000);
});

test('docs/using-locks.md names every setting and every error of the locks', () => {
  const guide = readFileSync('docs/using-locks.md', 'utf8');
  const settings = /interface LocksOptions \{([\s\S]*?)\n\}/.exec(
    readFileSync('locks/holding/context.ts', 'utf8'),
  )?.[1];
  const names = [...(settings ?? '').matchAll(/^ {2}(\w+)\?:/gm)].map((match) => match[1] ?? '');
  expect(names).toContain('leaseMs');
  expect([...names, ...Object.keys(errors)].filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

test('README.md and docs/claims.md name only scripts and tests that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const text = readme + readFileSync('docs/claims.md', 'utf8');
  const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? '');
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  const paths = [...text.matchAll(/\btest\/[\w./-]+/g)].map((match) => match[0]);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
