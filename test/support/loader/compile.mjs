/** Compiles the sources once for all test processes, instead of once in each of them. */
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Where the compiled files are, under their own names. `hooks.mjs` reads them. */
const CACHE = 'node_modules/.cache/lostlock-tests';
const LEFT_OUT = /^(\.|node_modules$|dist|coverage$|target$)/;

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The sources in a folder and below it, without what is installed or built. */
function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.test(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}

/** Compiles what has changed since the last run. Vitest calls it before it starts the workers. */
export default async function compileSources() {
  const sources = sourcesIn('.');
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
