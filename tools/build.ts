/**
 * Builds the package into dist/, which it replaces as a whole. tsc writes the types, which are rolled up; esbuild writes each public
 * entry as an ES module, which is then converted to CommonJS.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { traceCode } from '../lab/remote/trace-code.ts';
import manifest from '../package.json' with { type: 'json' };
import { pageCode } from '../page/bundle.ts';
import type { PageCode } from '../page/html.ts';
import { playgroundFiles } from '../playground/bundle.ts';
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
  .map((path) => path.replace(/^\.\/dist\/(.*)\.js$/, '$1'))
  .map((name) => ({ in: `${name}.ts`, out: name }))
  .concat([
    { in: 'cli/cli.ts', out: 'cli' },
    { in: 'cli/command.ts', out: 'command' }, // Its CommonJS twin has a name that cli.ts knows.
  ]);

const code = await pageCode();
const thread = await traceCode();
const { metafile } = await build({
  entryPoints,
  outbase: '.',
  outdir: staging,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: true,
  // The maps name our files and lines. Their text would be half of the package.
  sourcesContent: false,
  logLevel: 'warning',
  splitting: true, // Code that entries share is emitted once, so that they share its state and its classes.
  chunkNames: 'chunks/[name]-[hash]',
  packages: 'external',
  metafile: true,
  plugins: [requireDependencies(), bundledPage(code), bundledThread(thread), builtWorker()],
});
writeFileSync(join(staging, 'metafile.json'), JSON.stringify(metafile).replaceAll('".dist/', '"dist/'));

mkdirSync(join(staging, 'playground'), { recursive: true });
for (const [name, text] of await playgroundFiles()) writeFileSync(join(staging, 'playground', name), text);

for (const path of Object.keys(metafile.outputs).filter((name) => name.endsWith('.js'))) {
  const module = readFileSync(path, 'utf8');
  writeFileSync(path, withOwnModules(module));
  if (/\/(cli|worker)\.js$/.test(path)) continue;
  const twin = toCommonJs(module);
  const isClient = path.endsWith('/ioredis-mock.js');
  writeFileSync(path.replace(/\.js$/, '.cjs'), isClient ? withDefaultAsModule(twin) : twin);
}

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
        const contents = `import { createRequire } from 'node:module';
          const all = createRequire(import.meta.url)('${path}');
          export default all;
          export const { ${named.join(', ')} } = all;`;
        return { contents };
      });
    },
  };
}

/**
 * Makes an ES module take Node's modules from `process`. For an import, Node reads everything that the module exports, and
 * so loads what is behind its getters: streams, the certificates of authorities and Web Crypto.
 */
function withOwnModules(code: string): string {
  const names = (list: string): string => list.replaceAll(' as ', ': ');
  return code
    .replace(
      /^import (\{[^}]*\}) from ("node:(?!timers|module)[^"]+");$/gm,
      (_, list: string, name: string) => `const ${names(list)} = process.getBuiltinModule(${name});`,
    )
    .replace(
      /^import (?:\* as )?(\w+) from ("node:(?!timers|module)[^"]+");$/gm,
      'const $1 = process.getBuiltinModule($2);',
    );
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

/** Says where the built code of a server's thread is, seen from dist/ and from dist/chunks/. It is an ES module for both forms. */
function builtWorker(): Plugin {
  return {
    name: 'built-worker',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]worker-file\.ts$/ }, () => ({
        contents: `import { basename, join } from 'node:path';
          const here = import.meta.dirname;
          export const workerFile = () => join(here, basename(here) === 'chunks' ? '..' : '', 'start', 'thread', 'worker.js');`,
      }));
    },
  };
}

/**
 * The CommonJS twin of an ES module that esbuild has written. Every line stays where it was, so both have one source map.
 * esbuild's own conversion calls two getters whenever an import is used.
 */
function toCommonJs(code: string): string {
  const twin = (path: string): string => path.replace(/^(\..*)\.js$/, '$1.cjs');
  const converted = code
    .replace(
      /^import (\{[^}]*\}) from "([^"]+)";$/gm,
      (_, list: string, path: string) => `const ${list.replaceAll(' as ', ': ')} = require("${twin(path)}");`,
    )
    .replace(/^import (?:\* as )?(\w+) from "([^"]+)";$/gm, 'const $1 = require("$2");')
    .replace(/^import "([^"]+)";$/gm, (_, path: string) => `require("${twin(path)}");`)
    // Jest runs CommonJS in a context that rejects import().
    .replace(
      /\bimport\("([^"]+)"\)/g,
      (_, path: string) => `Promise.resolve().then(() => require("${twin(path)}"))`,
    )
    .replace(/\w+\(import\.meta\.url\)(?=[(;])/g, 'require')
    .replaceAll('import.meta.dirname', '__dirname')
    // Compilers take `default` only from what is marked like this.
    .replace(
      /^export \{([^}]*)\};$/gm,
      (_, list: string) =>
        `module.exports = {${list.replace(/(\w+) as (\w+)/g, '$2: $1')}}; Object.defineProperty(module.exports, "__esModule", { value: true });`,
    );
  const [left] = /^(import|\}) .*from ".*";$|import\.meta/m.exec(converted) ?? [];
  if (left !== undefined) throw new Error(`toCommonJs does not know '${left}'`);
  return `"use strict";${converted}`;
}

/**
 * Makes a CommonJS module's default export the module itself, with the other exports as its members, as ioredis' own entry is:
 * `const Redis = require('lostlock/ioredis-mock')`.
 */
function withDefaultAsModule(code: string): string {
  const footer =
    'module.exports = Object.assign(module.exports.default, module.exports); Object.defineProperty(module.exports, "__esModule", { value: true });';
  // On the last line of the code, so that the twins have the same lines.
  return code.replace(/\n(?=\/\/# sourceMappingURL=)|\n?$/, (end) => ` ${footer}${end}`);
}
