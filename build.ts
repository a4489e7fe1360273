/** Builds the package into dist/: types by tsc; a bundle for each public entry, as ES module and as CommonJS, by esbuild. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import manifest from './package.json' with { type: 'json' };

const dist = resolve('dist');
const require = createRequire(import.meta.url);

rmSync(dist, { recursive: true, force: true });
// A build that fails leaves nothing behind that could be taken for a whole one.
process.on('exit', (status) => status !== 0 && rmSync(dist, { recursive: true, force: true }));
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
finishTypes(dist);

/** The source of every public entry, from what the manifest says is its ES module: dist/locks/index.js is locks/index.ts. */
const entryPoints = [
  ...Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target.import.default],
  ),
  manifest.bin.lostlock,
].map((path) => path.replace(/^(\.\/)?dist\/(.*)\.js$/, '$2.ts'));

const common = {
  bundle: true,
  outdir: dist,
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
} satisfies BuildOptions;

const { metafile } = await build({
  ...common,
  entryPoints,
  outbase: '.',
  format: 'esm',
  splitting: true, // What entries share is there once, so that they share its state and its classes.
  chunkNames: 'chunks/[name]-[hash]',
  packages: 'external',
  metafile: true,
  plugins: [requireDependencies()],
});
writeFileSync(join(dist, 'metafile.json'), JSON.stringify(metafile));

// esbuild splits ES modules only. Its output, file by file as CommonJS, is split in the same way.
await build({
  ...common,
  entryPoints: Object.keys(metafile.outputs).filter(
    (path) => path.endsWith('.js') && !path.endsWith('/cli.js'),
  ),
  outbase: dist,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  // Jest runs CommonJS in a context that refuses import(): make them require().
  supported: { 'dynamic-import': false },
  plugins: [commonJsNeighbours()],
});

/**
 * Lets ES modules load our dependencies, which are CommonJS, by require(): an import would make Node start its lexer for
 * the names that CommonJS exports, which takes longer than loading them.
 */
function requireDependencies(): Plugin {
  const names = Object.keys(manifest.dependencies);
  return {
    name: 'require-dependencies',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path }) => ({
        path,
        namespace: 'dependency',
      }));
      onLoad({ filter: /./, namespace: 'dependency' }, ({ path }) => {
        const named = Object.keys(require(path) as object).filter(
          (name) => /^[a-z]\w*$/i.test(name) && name !== 'default',
        );
        const contents = `import { createRequire } from 'node:module';
          const all = createRequire(import.meta.url)('${path}');
          export default all;
          export const { ${named.join(', ')} } = all;`;
        return { contents };
      });
    },
  };
}

/** Makes each file import the CommonJS twins of its neighbours, and require what its ES module requires. */
function commonJsNeighbours(): Plugin {
  return {
    name: 'commonjs-neighbours',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind }) => {
        if (kind === 'entry-point') return undefined;
        return { path: path.replace(/^(\..*)\.js$/, '$1.cjs'), external: true };
      });
      onLoad({ filter: /\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8')
          .replace(/^import { createRequire.* } from "node:module";$/gm, '')
          .replace(/\w+\(import\.meta\.url\)\(/g, 'require('),
        resolveDir: dirname(path),
      }));
    },
  };
}

/**
 * tsc leaves `.ts` in the imports of declarations: name what is shipped, and write each file's CommonJS twin. The import
 * of ioredis, an optional peer, is excused: its types count as `any` where it is missing (lab/ioredis-types.ts).
 */
function finishTypes(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) finishTypes(path);
    else if (path.endsWith('.d.ts')) {
      const text = readFileSync(path, 'utf8').replace(/^import .* from 'ioredis';$/m, '// @ts-ignore\n$&');
      const naming = (extension: string): string =>
        text.replace(/((?:from|import)\s*\(?\s*['"]\.[^'"\n]*)\.ts(['"])/g, `$1${extension}$2`);
      writeFileSync(path, naming('.js'));
      writeFileSync(path.replace(/\.d\.ts$/, '.d.cts'), naming('.cjs'));
    }
  }
}
