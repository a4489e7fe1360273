/** Builds the package into dist/: ES modules and types by tsc, and one CommonJS bundle per public entry by esbuild. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import manifest from './package.json' with { type: 'json' };

const dist = resolve('dist');

rmSync(dist, { recursive: true, force: true });
// A build that fails leaves nothing behind that could be taken for a whole one.
process.on('exit', (status) => status !== 0 && rmSync(dist, { recursive: true, force: true }));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

/** The built ES module of every public entry. */
const entries = Object.values(manifest.exports)
  .flatMap((target) => (typeof target === 'string' ? [] : [resolve(target.import.default)]))
  .filter((path) => path.endsWith('.js'));

for (const entry of entries) {
  await build({
    entryPoints: [entry],
    outfile: entry.replace(/\.js$/, '.cjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    logLevel: 'warning',
    // Jest runs CommonJS in a context that refuses import(): make them require().
    supported: { 'dynamic-import': false },
    plugins: [siblings(entry)],
  });
}
finishTypes(dist);

/** Keeps the other entries out of an entry's bundle, so that all bundles share one copy of each entry's state. */
function siblings(entry: string): Plugin {
  return {
    name: 'siblings',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
        const target = resolve(resolveDir, path);
        if (kind === 'entry-point' || target === entry || !entries.includes(target)) return undefined;
        const bundle = relative(dirname(entry), target.replace(/\.js$/, '.cjs')).replaceAll('\\', '/');
        return { path: bundle.startsWith('.') ? bundle : `./${bundle}`, external: true };
      });
    },
  };
}

/** tsc leaves `.ts` in the imports of declarations: name what is shipped, and write each file's CommonJS twin. */
function finishTypes(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) finishTypes(path);
    else if (path.endsWith('.d.ts')) {
      const text = readFileSync(path, 'utf8');
      const naming = (extension: string): string =>
        text.replace(/((?:from|import)\s*\(?\s*['"]\.[^'"\n]*)\.ts(['"])/g, `$1${extension}$2`);
      writeFileSync(path, naming('.js'));
      writeFileSync(path.replace(/\.d\.ts$/, '.d.cts'), naming('.cjs'));
    }
  }
}
