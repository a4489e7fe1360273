/** `npx lostlock init`, and the projects in examples/ that it copies from. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { initFiles, projectChoice } from '../../cli/init.ts';

const projects = readdirSync('examples').filter((name) => !['go', 'junit', 'pytest'].includes(name));

test.each(projects)(
  'the project %s has at most four files and the form for Jest, and installs lostlock',
  (name) => {
    const files = readdirSync(join('examples', name)).filter(
      (file) => !/^(node_modules|package-lock\.json|lostlock-timelines)$/.test(file),
    );
    expect(files.filter((file) => !file.endsWith('.jest.js')).length).toBeLessThanOrEqual(4);
    expect(files.filter((file) => file.endsWith('.jest.js'))).toHaveLength(1);
    const { devDependencies } = JSON.parse(readFileSync(join('examples', name, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    expect(devDependencies.lostlock).toBe('file:../..');
  },
);

const choices: [packages: string[], runner: string, library: string][] = [
  [['vitest', 'redlock', 'ioredis'], 'vitest', 'redlock'],
  [['jest', 'redis-semaphore', 'ioredis'], 'jest', 'redis-semaphore'],
  [['mocha', 'bullmq'], 'mocha', 'bullmq'],
  [['jest', 'vitest', 'redis'], 'vitest', 'set-nx-node-redis'],
  [['ioredis'], 'node', 'set-nx-ioredis'],
  [['jest', '@nestjs/common', 'redis-semaphore', 'ioredis'], 'jest', 'nestjs'],
  [['jest', '@nestjs/common', 'ioredis'], 'jest', 'set-nx-ioredis'],
  [[], 'node', 'set-nx-ioredis'],
];

test.each(choices)('a project with %j gets a test for %s of %s', (packages, runner, library) => {
  const devDependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  expect(projectChoice({ devDependencies })).toEqual({ runner, library });
});

const forms = projects.flatMap((name) =>
  (['vitest', 'jest', 'mocha', 'node'] as const).flatMap((runner) =>
    [true, false].map((isEsm) => [name, runner, isEsm] as const),
  ),
);

test.each(forms)('%s for %s (ES modules: %s) uses only what the runner has', (name, runner, isEsm) => {
  const [code, written] = initFiles('examples', name, runner, isEsm, 'test/lostlock');
  expect(code?.path).toMatch(isEsm ? /\.cjs$/ : /\.js$/);
  const { path = '', text = '' } = written ?? {};
  expect(text).toContain(`./${code?.path.split('/').at(-1)}`);
  if (runner === 'vitest') expect(path).toMatch(/\.test\.mjs$/);
  else expect(path).toMatch(isEsm ? /\.cjs$/ : /\.js$/);
  if (runner === 'node' || runner === 'mocha') expect(text).not.toContain('expect(');
  if (runner === 'node') expect(text).not.toMatch(/\blostlock\./);
  if (runner === 'mocha') expect(text).not.toMatch(/^test\(/m);
  expect(text.match(/^(it|test)\(/gm)).toHaveLength(3);
});
