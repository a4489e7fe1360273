/**
 * What `npx lostlock init` writes, in a project with the packed package and each library: every form is green at once. It needs a network
 * (LOSTLOCK_NETWORK=1). `npm run test:long` runs all 88 forms; else a sample runs, with each runner in both module systems.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLongRun } from '../support/long.ts';
import { InstalledProject, mayDownload } from './installed-project.ts';

/** For the installation, and for one form, on machines that are busy, in milliseconds. */
const PATIENCE = 600_000;
const RUNNERS = ['vitest', 'jest', 'mocha', 'node'] as const;
const LIBRARIES = readdirSync('examples').filter((name) => !['go', 'junit', 'pytest'].includes(name));
const project = new InstalledProject();

/** The packages of all examples with their versions, and the runners. */
function packages(): string[] {
  const all = LIBRARIES.map((name) => {
    const text = readFileSync(join('examples', name, 'package.json'), 'utf8');
    const { dependencies, devDependencies } = JSON.parse(text) as Record<string, Record<string, string>>;
    return { ...dependencies, ...devDependencies };
  });
  const { lostlock: _, ...others } = Object.assign({}, ...all, { mocha: '12.0.3' }) as Record<string, string>;
  return Object.entries(others).map(([name, version]) => `${name}@${version}`);
}

const forms = ['commonjs', 'module'].flatMap((system, i) =>
  RUNNERS.flatMap((runner, j) =>
    LIBRARIES.filter((_, k) => isLongRun || k === (i * RUNNERS.length + j + 1) % LIBRARIES.length).map(
      (library) => [system, runner, library] as const,
    ),
  ),
);

beforeAll(async () => {
  if (!mayDownload) return;
  await project.install(...packages());
  const { dependencies } = JSON.parse(readFileSync(join(project.folder, 'package.json'), 'utf8'));
  for (const type of ['commonjs', 'module']) {
    const folder = join(project.folder, type);
    mkdirSync(folder);
    symlinkSync('../node_modules', join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type, dependencies }));
  }
}, PATIENCE);
afterAll(() => project.remove());

test.skipIf(!mayDownload).each(forms)(
  'in a project of type %s, the test for %s of %s is green (needs a network)',
  (system, runner, library) => {
    const inFolder = (command: string): string =>
      project.runBoth('sh', '-c', `cd ${system} && NODE_OPTIONS= NO_COLOR=1 ${command}`);
    const said = inFolder(
      `npx lostlock init --runner ${runner} --library ${library} --dir ${library}/${runner}`,
    );
    const next = said.split('\n').find((line) => /^ {2}(npx|node) /.test(line)) ?? 'no command';
    expect(said).not.toContain('npm install');
    expect(inFolder(next)).toMatch(/nothing broke in \d+ worlds/);
  },
  PATIENCE,
);
