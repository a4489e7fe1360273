/** `npx lostlock init`, and the projects in examples/ that it copies from. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { initFiles, majorIn, projectChoice, RUN } from '../../cli/init.ts';

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

/** What a test file says, apart from how its runner gives it pairs and explorations. */
function saidIn(text: string): string {
  return text
    .replace(/^(import .*|const .* = require\(.*|const lostlock = fixtures\(\);)\n/gm, '')
    .replace(/async \(\) => \{\s*const pair = await lostlock\.pair\(\);/g, 'async ({ pair }) => {')
    .replace(/async \(\) => \{\s*await lostlock\.explore\(/g, 'async ({ explore }) => { await explore(')
    .replace(/\s+/g, '')
    .replaceAll(',}', '}');
}

test.each(projects)('the two forms of the project %s say the same', (name) => {
  const [jest = '', vitest = ''] = ['.jest.js', '.test.mjs'].map((ending) => {
    const file = readdirSync(join('examples', name)).find((each) => each.endsWith(ending)) ?? '';
    return saidIn(readFileSync(join('examples', name, file), 'utf8'));
  });
  expect(jest).toBe(vitest);
});

/** What all projects have in common. */
const manifestOf = (name: string): unknown => {
  const text = readFileSync(join('examples', name, 'package.json'), 'utf8');
  const { scripts, devDependencies } = JSON.parse(text) as { scripts: unknown; devDependencies: object };
  return { scripts, devDependencies };
};

test.each(projects)('the project %s has the same scripts and versions as the others', (name) => {
  expect(manifestOf(name)).toMatchObject(manifestOf('redlock') as object);
});

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

test('Jest is told about ES modules, and a package.json may name no dependencies', () => {
  expect(RUN.jest('test/lostlock/orders.test.js', false)).toBe('npx jest test/lostlock/orders.test.js');
  expect(RUN.jest('test/lostlock/orders.test.js', true)).toMatch(
    /^node --experimental-vm-modules .*orders\.test\.js$/,
  );
  expect(projectChoice({ dependencies: null })).toEqual({ runner: 'node', library: 'set-nx-ioredis' });
});

test('a major version is read from versions and ranges, and from nothing else', () => {
  for (const range of [
    '4',
    '4.2.0',
    '^4.2.0',
    '~4',
    '>= 4 <6',
    'v4.2',
    '4.x',
    '4||5',
    'npm:redlock@^4.2.0',
    'workspace:^4.0.0',
  ])
    expect([range, majorIn(range)]).toEqual([range, 4]);
  for (const range of ['*', 'latest', 'file:../redlock-2', 'github:me/redlock2', '2redlock', 'workspace:^'])
    expect([range, majorIn(range)]).toEqual([range, undefined]);
});

const forms = projects.flatMap((name) =>
  (['vitest', 'jest', 'mocha', 'node'] as const).flatMap((runner) =>
    [true, false].map((isEsm) => [name, runner, isEsm] as const),
  ),
);

test.each(forms)('%s for %s (ES modules: %s) uses only what the runner has', (name, runner, isEsm) => {
  const [code, written] = initFiles('examples', name, runner, isEsm, 'test/lostlock');
  const { path = '', text = '' } = written ?? {};
  expect(code?.path).toMatch(/\w\.js$/);
  expect(path).toMatch(runner === 'vitest' ? /\.test\.mjs$/ : /\.(test|spec)\.js$/);
  expect(text).toContain(`./${code?.path.split('/').at(-1)}`);
  // Each file is written in the module system of the project, but Vitest loads no test from CommonJS.
  const isModule = /^(import|export) /m;
  const isCommonJs = /\brequire\(|^exports\./m;
  expect(code?.text).toMatch(isEsm ? isModule : isCommonJs);
  expect(code?.text).not.toMatch(isEsm ? isCommonJs : isModule);
  expect(text).toMatch(isEsm || runner === 'vitest' ? isModule : isCommonJs);
  expect(text).not.toMatch(isEsm || runner === 'vitest' ? isCommonJs : isModule);
  if (runner === 'node' || runner === 'mocha') expect(text).not.toContain('expect(');
  if (runner === 'node') expect(text).not.toMatch(/\blostlock\./);
  if (runner === 'mocha') expect(text).not.toMatch(/^test\(/m);
  expect(text.match(/^(it|test)\(/gm)).toHaveLength(3);
});
