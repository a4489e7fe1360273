/** Compiles the sources once for all test processes, instead of once in each of them. */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Where the compiled files are, under their own names. `hooks.mjs` reads them. */
const CACHE = 'node_modules/.cache/lostlock-tests';
const FOLDERS =
  '. bench cluster docs embed examples explore keyspace lab locks page playground protocol scripting sentinel server test'.split(
    ' ',
  );

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Compiles what has changed since the last run. Vitest calls it before it starts the workers. */
export default async function compileSources() {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: folder !== '.', encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(folder, name)),
  );
  const compiled = (source) => join(CACHE, source.replace(/ts$/, 'js'));
  const stale = sources.filter((source) => changedAt(compiled(source)) < changedAt(source));
  if (stale.length === 0) return;
  mkdirSync(CACHE, { recursive: true });
  await build({
    entryPoints: stale,
    outdir: CACHE,
    outbase: '.',
    bundle: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'error',
  });
}
