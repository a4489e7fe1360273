/**
 * Builds the package into dist/, which it replaces as a whole. tsc writes the types, which are rolled up; esbuild writes each public
 * entry as an ES module, which is then converted to CommonJS.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin, transform } from 'esbuild';
import { traceCode } from '../lab/remote/trace-code.ts';
import manifest from '../package.json' with { type: 'json' };
import { pageCode } from '../page/bundle.ts';
import type { PageCode } from '../page/html.ts';
import { playgroundFiles } from '../playground/bundle.ts';
import {
  DEFAULT_IS_MODULE,
  entryModule,
  MARK,
  moduleWithVitest,
  NODE_REQUIRE,
  namesForNode,
  toCommonJs,
} from './build/common-js.ts';
import { filesOfChunks, type Loads, loadersOf, partsFile, withParts } from './build/parts.ts';
import { rollUpTypes } from './build/types.ts';

const [dist, staging] = [resolve('dist'), resolve('.dist')];
const declared = join(staging, 'declared');
const require = createRequire(import.meta.url);

rmSync(staging, { recursive: true, force: true });
process.on('exit', () => rmSync(staging, { recursive: true, force: true }));
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', declared], {
  stdio: 'inherit',
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
const types = Object.values(manifest.exports).flatMap((target) =>
  typeof target === 'string' ? [] : [target.import.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, '$1')],
);
rollUpTypes(declared, types, staging);
rmSync(declared, { recursive: true });

/**
 * The source of each public entry, derived from its ES module in the manifest: dist/locks/index.js comes from
 * locks/index.ts. The command line's are in cli/, and its files stay at the top of dist/.
 */
const entryPoints = [
  // Two entries may be one file.
  ...new Set(
    Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [] : [target.import.default],
    ),
  ),
  './dist/start/thread/worker.js',
]
  .map((path) => path.replace(/^\.\/dist\/(.*)\.m?js$/, '$1'))
  .map((name) => ({ in: `${name}.ts`, out: name }))
  // The program and the files of chunks know these names (cli/cli.ts, tools/build/parts.ts).
  .concat({ in: 'cli/command.ts', out: 'command' }, { in: 'start/running/kept-code.ts', out: 'kept' });

const code = await pageCode();
const thread = await traceCode();
const common = {
  outbase: '.',
  outdir: staging,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  logLevel: 'warning',
} satisfies BuildOptions;
const { metafile } = await build({
  ...common,
  entryPoints,
  splitting: true, // Code that entries share is emitted once, so that they share its state and its classes.
  chunkNames: 'chunks/[name]-[hash]',
  packages: 'external',
  metafile: true,
  plugins: [requireDependencies(), bundledPage(code), bundledThread(thread), builtWorker()],
});

mkdirSync(join(staging, 'playground'), { recursive: true });
for (const [name, text] of await playgroundFiles()) writeFileSync(join(staging, 'playground', name), text);

const files = filesOfChunks(metafile.outputs);
const made = { ...metafile, files: Object.fromEntries(files) };
writeFileSync(join(staging, 'metafile.json'), JSON.stringify(made).replaceAll('".dist/', '"dist/'));
const parts = new Map<string, Map<string, string>>();
const loads = new Map<string, Loads>();
for (const [path, { exports, entryPoint }] of Object.entries(metafile.outputs)) {
  const module = readFileSync(path, 'utf8');
  const file = files.get(path);
  const loaded = (file !== undefined && loads.get(file)) || new Map<string, string>();
  const withoutLoaders = withParts(toCommonJs(module), files, loaded, file);
  const code = await withoutBlanks((file === undefined ? loadersOf(loaded) : '') + withoutLoaders);
  if (file !== undefined) {
    loads.set(file, loaded);
    // Node would need a loader of ours for it, and warns of that (start/running/import-module.ts).
    if (/(?:await |=>|return |\()import\(/.test(code) && file !== 'import')
      throw new Error(`${file}.cjs has an import()`);
    parts.set(file, (parts.get(file) ?? new Map<string, string>()).set(path, code));
    rmSync(path);
    continue;
  }
  // Its CommonJS form is a class, as that of ioredis.
  const isClass = entryPoint === 'adapters/ioredis-mock.ts';
  const footer = isClass ? [DEFAULT_IS_MODULE, MARK] : [MARK];
  const head = code.includes('__nodeRequire') ? [NODE_REQUIRE] : [];
  const lines = ['"use strict";', ...head, code, ...footer, namesForNode(exports)];
  writeFileSync(path.replace(/\.js$/, '.cjs'), `${lines.join('\n')}\n`);
  rmSync(path);
  if (isProgram(path)) continue;
  // Vitest would look for the exports in the class, unless the name ends like this, and `vi.mock` refuses a class.
  const own = isClass ? path.replace(/\.js$/, '.mjs') : path;
  const isForVitest = /\brequire\(\s*"vitest"\)/.test(code);
  const text = isForVitest
    ? moduleWithVitest(code, exports)
    : entryModule(`./${basename(path, '.js')}.cjs`, exports);
  writeFileSync(own, text);
}
for (const [file, codes] of parts)
  writeFileSync(join(staging, 'chunks', `${file}.cjs`), partsFile(NODE_REQUIRE, codes, loads.get(file)!));
await build({ ...common, entryPoints: [{ in: 'cli/cli.ts', out: 'cli' }], plugins: [besideProgram()] });
// Node starts a CommonJS module sooner. Those who name the file, as for `npx tsx`, find the ES module.
const program = join(staging, 'cli.js');
const sooner = toCommonJs(readFileSync(program, 'utf8')).replace('\n', '\n"use strict";\n');
writeFileSync(program.replace(/\.js$/, '.cjs'), sooner, { mode: 0o755 });
writeFileSync(program, "#!/usr/bin/env node\nimport './cli.cjs';\n");

// Programs that start dist/cli.js meanwhile find the earlier build, up to this moment. A failed build leaves it alone.
if (existsSync(dist)) renameSync(dist, join(staging, 'earlier'));
renameSync(staging, dist);
rmSync(join(dist, 'earlier'), { recursive: true, force: true });

/**
 * Makes ES modules load our CommonJS dependencies, and ioredis, with require(). With an import, Node would parse them
 * first to find the names that they export, which takes longer than loading them. For ioredis it doubles the time.
 */
function requireDependencies(): Plugin {
  const names = [...Object.keys(manifest.dependencies), 'ioredis'];
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
        const head = `import { createRequire } from 'node:module';
          const load = () => createRequire(import.meta.url)('${path}');`;
        if (path !== 'ioredis') return { contents: `${head}\n${loadedLate(named)}` };
        const contents = `${head}
          const all = load();
          export default all;
          export const { ${named.join(', ')} } = all;`;
        return { contents };
      });
    },
  };
}

/**
 * The exports of a module that is loaded when one of them is first used: streams need our dependencies, and in-memory connections, and most
 * tests have neither. The default export is used as a class, and the others for their members.
 * @param named the names of the other exports
 */
function loadedLate(named: readonly string[]): string {
  const late = named.map(
    (name) => `export const ${name} = new Proxy({}, { get: (_, key) => (all ??= load()).${name}[key] });`,
  );
  return `let all;
    export default new Proxy(class {}, { construct: (_, args) => Reflect.construct((all ??= load()), args) });
    ${late.join('\n')}`;
}

/** The code without blanks and comments that only readers need. Names stay, and lines stay short, for the sake of stack traces. */
async function withoutBlanks(code: string): Promise<string> {
  return (await transform(code, { minifyWhitespace: true, lineLimit: 160, target: 'node20' })).code.trimEnd();
}

/** The files that Node starts, and the one that loads files of chunks, are not imported. */
function isProgram(path: string): boolean {
  return /\/(command|kept|worker)\.js$/.test(path);
}

/** Leaves the command out of the program that starts it, and names its file in the package. */
function besideProgram(): Plugin {
  return {
    name: 'beside-program',
    setup({ onResolve }) {
      onResolve({ filter: /\/command\.ts$/ }, () => ({ path: './command.cjs', external: true }));
    },
  };
}

/** Puts the code of the timeline page into the package as text. */
function bundledPage(code: PageCode): Plugin {
  return {
    name: 'bundled-page',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]page[\\/]bundle\.ts$/ }, () => ({
        contents: `const code = ${JSON.stringify(code)}; export const pageCode = async () => code;`,
      }));
      // The package has the playground's files (cli/playground.ts).
      onLoad({ filter: /[\\/]playground[\\/]bundle\.ts$/ }, () => ({
        contents: `export const playgroundFiles = () => Promise.reject(new Error('the package is incomplete'));`,
      }));
    },
  };
}

/** Puts the code of a trace's thread into the package as text. */
function bundledThread(code: string): Plugin {
  return {
    name: 'bundled-thread',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]remote[\\/]trace-code\.ts$/ }, () => ({
        contents: `const code = ${JSON.stringify(code)}; export const traceCode = async () => code;`,
      }));
    },
  };
}

/** Says where the built code of a server's thread is, seen from dist/ and from dist/chunks/. */
function builtWorker(): Plugin {
  return {
    name: 'built-worker',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]worker-file\.ts$/ }, () => ({
        contents: `import { basename, join } from 'node:path';
          const here = import.meta.dirname;
          export const workerFile = () => join(here, basename(here) === 'chunks' ? '..' : '', 'start', 'thread', 'worker.cjs');`,
      }));
    },
  };
}
