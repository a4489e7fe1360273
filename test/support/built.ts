/** Builds dist/ for the tests that need it: once, though several test files ask at the same time. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { readSources } from '../tidy/source-text.ts';
import { until } from './until.ts';

const lock = '.building';
const unbuilt = /^(test|bench|docs|integrations|tools)\/|\.config\.ts$/;

/** When a file was last changed; 0 where there is none. */
function changed(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** True when a source is newer than the build. */
function isStale(): boolean {
  const sources = readSources('.').map((file) => file.path);
  const others = ['package.json', 'tsconfig.build.json', 'tools/build.ts'];
  const inputs = [...sources.filter((path) => !unbuilt.test(path)), ...others];
  return Math.max(...inputs.map(changed)) > changed('dist/cli.js');
}

/** Resolves once dist/ is built from the present sources. Throws when they do not build. */
export async function ensureBuilt(): Promise<void> {
  await until(takeLock, { what: `the other build (if none runs, remove ${lock}/)`, limitMs: 60_000 });
  try {
    if (!isStale()) return;
    const built = spawnSync(process.execPath, ['--import', 'tsx', 'tools/build.ts'], { encoding: 'utf8' });
    if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
  } finally {
    rmSync(lock, { recursive: true });
  }
}

function takeLock(): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
