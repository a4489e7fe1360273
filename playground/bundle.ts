/** Bundles the playground: a folder of static files. In the built package the bundler leaves this file out (tools/build.ts). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';
import { bundlePage } from '../page/bundle.ts';
import { playgroundHtml } from './html.ts';

const here = import.meta.dirname;

/** The files of the playground by their names. */
export type PlaygroundFiles = ReadonlyMap<string, string>;

/** Node's modules that packages stand in for. */
const packages: Readonly<Record<string, string>> = {
  events: 'events/',
  stream: 'readable-stream',
  string_decoder: 'string_decoder/',
};

/** The names under which browser/modules.ts exports Node's modules. */
const modules: Readonly<Record<string, string>> = {
  assert: 'assert',
  async_hooks: 'asyncHooks',
  child_process: 'childProcess',
  crypto: 'crypto',
  diagnostics_channel: 'diagnosticsChannel',
  dns: 'dns',
  fs: 'fs',
  'fs/promises': 'fsPromises',
  module: 'nodeModule',
  net: 'net',
  os: 'os',
  path: 'path',
  perf_hooks: 'perfHooks',
  timers: 'timers',
  'timers/promises': 'timersPromises',
  tls: 'tls',
  tty: 'tty',
  url: 'url',
  util: 'util',
  v8: 'v8',
  vm: 'vm',
  worker_threads: 'workerThreads',
  zlib: 'zlib',
};

/** Modules of a few words. */
const written: Readonly<Record<string, string>> = {
  // The npm package of this name, which readable-stream asks for, runs ticks by a timer, and so in virtual time.
  'process/': 'module.exports = globalThis.process;',
  // ioredis' pipelines ask how long a string may be.
  buffer: "module.exports = { ...require('buffer/'), constants: { MAX_STRING_LENGTH: 2 ** 29 - 24 } };",
};

/** Files that need processes, sockets, files or real time. In a browser what they export does not exist. */
const absent: readonly (readonly [file: RegExp, names: readonly string[]])[] = [
  [/[\\/]lab[\\/]real-clock[\\/]pair\.ts$/, ['startOnRealClock']],
  [/[\\/]lab[\\/]real-clock[\\/]cluster\.ts$/, ['RealClockCluster']],
  [/[\\/]lab[\\/]real-servers[\\/]pair\.ts$/, ['startRealServers']],
  [/[\\/]lab[\\/]timeline[\\/]write\.ts$/, ['writeTimeline', 'checkTimelineFile']],
  [/[\\/]start[\\/]thread[\\/]threaded-server\.ts$/, ['startThread']],
  [
    /[\\/]server[\\/]host[\\/]real-time\.ts$/,
    ['realDelay', 'realSoon', 'realTick', 'realNow', 'realElapsed', 'realMicros', 'realRandom'],
  ],
];

/** Parts of packages that are never asked for: JSX, Flow, old syntax, modules and source maps of sucrase, hosts that ioredis knows. */
const idle =
  /[\\/]sucrase[\\/]dist[\\/]esm[\\/](Options|CJSImportProcessor|computeSourceMap|parser[\\/]plugins[\\/](flow|jsx[\\/]index)|transformers[\\/](CJSImport|Flow|JSX|JestHoist|NumericSeparator|OptionalCatchBinding|OptionalChainingNullish|ReactDisplayName|ReactHotLoader)Transformer|util[\\/](formatTokens|getJSXPragmaInfo))\.js$|[\\/]ioredis[\\/]built[\\/]constants[\\/]TLSProfiles\.js$/;

/**
 * Commands that only later servers have than those of the default dialect, which the playground starts, and their file below
 * server/commands.
 */
export const laterCommands: Readonly<Record<string, string>> = {
  clusterScanCommands: 'keys/cluster-scan',
  hotKeysCommands: 'node/hotkeys',
  increxCommands: 'string/increx',
  streamNackCommands: 'stream/nack',
};

/** Parts of packages that neither ioredis nor the lab uses, and what takes their place. */
const unused: readonly (readonly [file: RegExp, contents: string])[] = [
  // Of the HIMPORT command, a part of ioredis that is asked at each command. Without its option it says no.
  [
    /[\\/]himport[\\/]HimportCoordinator\.js$/,
    `const no = () => false;
    module.exports = {
      hasHimportCoordinator: Symbol('none'),
      cloneHimportFieldsets: () => undefined,
      getHimportBinding: () => undefined,
      interceptHimportCommand: no,
      interceptHimportPipeline: no,
      isInternalHimportCommand: no,
      isHimportControlCommand: no,
    };`,
  ],
  [
    /[\\/]cluster[\\/]ClusterSubscriberGroup\.js$/,
    `exports.default = class {
      constructor() {
        throw new Error('the playground has no sharded subscribers');
      }
    };`,
  ],
  // Without automatic pipelines, commands are sent one by one.
  [
    /[\\/]ioredis[\\/]built[\\/]autoPipelining\.js$/,
    `module.exports = { shouldUseAutoPipelining: () => false };`,
  ],
  [
    /[\\/]streams[\\/]operators\.js$/,
    'exports.streamReturningOperators = exports.promiseReturningOperators = {};',
  ],
  [/[\\/]streams[\\/]pipeline\.js$/, 'exports.pipeline = () => {};'],
  [/[\\/](streams[\\/](compose|duplexify)|abort-controller[\\/]browser)\.js$/, ''],
  // Helpers for old JavaScript, which sucrase leaves out with disableESTransforms.
  [
    /[\\/]sucrase[\\/]dist[\\/]esm[\\/]HelperManager\.js$/,
    `export class HelperManager {
      emitHelpers() {
        return '';
      }
    }`,
  ],
  // A browser keeps the code that it compiles by itself.
  [
    /[\\/]running[\\/]kept-code\.ts$/,
    'export const hasCompiled = () => false; export const keepCompiled = () => {};',
  ],
  // Only COMMAND DOCS tells how later servers declare the arguments of commands, and here it is short anyway.
  [/[\\/]server[\\/]commands[\\/]syntax[\\/]later\.ts$/, 'export const laterSyntax = {};'],
  // The default dialect has no command that moves slots as a task.
  [
    /[\\/]cluster[\\/]moving[\\/]moves\.ts$/,
    `export class SlotMoves {
      constructor(cluster) {
        this.cluster = cluster;
      }
      beat() {}
      stop() {}
      review() {}
      importOf() {}
      isMoving() {
        return false;
      }
    }`,
  ],
  [
    /[\\/]cluster[\\/]commands[\\/]moves\.ts$/,
    `export const [migrateSlots, cancelMoves, describeMoves, migration, syncTask, syncSlots] = [];`,
  ],
  // The page starts its servers itself: without commands of its own, and without certificates.
  [
    /[\\/]start[\\/]own[\\/]declare\.ts$/,
    'export const ownCommands = () => []; export const checkOwnCommands = () => {};',
  ],
  [/[\\/]start[\\/]tls\.ts$/, 'export const checkTls = () => {}; export const planTls = () => undefined;'],
  // No test runner runs here, and nothing keeps plans between explorations.
  [/[\\/]explore[\\/]in-test\.ts$/, 'export const boundHint = () => undefined;'],
  [
    /[\\/]explore[\\/]search[\\/]corpus\.ts$/,
    "export const CORPUS = 'corpus'; export const fits = () => true; export const isOfShard = () => true;",
  ],
  // A worker of a browser is neither Bun nor Deno.
  [/[\\/]node-functions[\\/]other-runtimes\.ts$/, 'export const replaceOtherRuntimes = () => {};'],
  // LOLWUT only draws, and the drawings are long.
  [/[\\/]server[\\/]commands[\\/]node[\\/]lolwut\.ts$/, 'export const lolwutCommands = [];'],
  // Nobody makes a lock of a HyperLogLog, or of places on a map.
  [/[\\/]server[\\/]commands[\\/]sorted-set[\\/]geo\.ts$/, 'export const geoCommands = [];'],
  [/[\\/]server[\\/]commands[\\/]sorted-set[\\/]geo-search\.ts$/, 'export const geoSearchCommands = [];'],
  [/[\\/]server[\\/]commands[\\/]string[\\/]hyperloglog\.ts$/, 'export const hyperloglogCommands = [];'],
  ...Object.entries(laterCommands).map(
    ([name, file]) =>
      [
        new RegExp(`/server/commands/${file}\\.ts$`.replaceAll('/', '[\\\\/]')),
        `export const ${name} = [];`,
      ] as const,
  ),
  // Messages for debugging, which nobody turns on in a worker.
  [
    /[\\/]debug[\\/]src[\\/]browser\.js$/,
    `const debug = (namespace) => Object.assign(() => {}, { namespace, enabled: false });
    module.exports = Object.assign(debug, { default: debug });`,
  ],
];

/** Where commands are declared, and their descriptions and histories there. Only COMMAND DOCS tells them, and here they are empty. */
const COMMANDS = /[\\/](server|cluster|sentinel)[\\/]commands[\\/].*\.ts$/;
const HISTORY = /\bhistory: \[[^\]]*\]/g;
/** The arguments of commands without options. Those of the others tell which options there are. */
const PLAIN = /^\s+'?[\w|-]+'?: '[^'\n[(]*',$/gm;
const DESCRIPTION = /^(\s+(?:summary|complexity)):\s*'(?:[^'\\\n]|\\.)*',$/gm;

/** What ioredis knows of commands. */
const KNOWN = /[\\/]@ioredis[\\/]commands[\\/]built[\\/]commands\.json$/;
/** The flags that ioredis asks for. */
const ASKED: readonly string[] = ['loading', 'readonly'];

/** A command there, or one of its subcommands. */
interface KnownCommand {
  readonly flags: readonly string[];
  readonly keyStart: number;
  readonly keyStop: number;
  readonly step: number;
  readonly subcommands?: Readonly<Record<string, KnownCommand>>;
}

/**
 * The same without what ioredis does not ask for: numbers of arguments, other flags, and subcommands whose keys are where the
 * command's are.
 */
function asked(json: string): string {
  const places = ({ keyStart, keyStop, step }: KnownCommand) => ({ keyStart, keyStop, step });
  const all = Object.entries(JSON.parse(json) as Record<string, KnownCommand>).map(([name, command]) => {
    const own = places(command);
    const others = Object.entries(command.subcommands ?? {}).flatMap(([sub, each]) =>
      JSON.stringify(places(each)) === JSON.stringify(own) ? [] : [[sub, places(each)] as const],
    );
    const flags = command.flags.filter((flag) => ASKED.includes(flag));
    const subcommands = others.length === 0 ? undefined : Object.fromEntries(others);
    return [name, { flags, ...own, subcommands }] as const;
  });
  return JSON.stringify(Object.fromEntries(all));
}

/** A file with the same exports, all of which are functions that do nothing. */
function emptied(text: string): string {
  const names = [...text.matchAll(/^export (?:function|class|const) (\w+)/gm)].map(([, name]) => name);
  const own = names.map((name) => `export function ${name}() {}`);
  if (/^export default/m.test(text)) own.push('export default function () { return {}; }');
  return own.length === 0 ? 'exports.default = {};' : own.join('\n');
}

/** Gives the lab and ioredis what they need of Node. */
function nodeInBrowser(): Plugin {
  return {
    name: 'node-in-a-browser',
    setup({ onResolve, onLoad, resolve }) {
      onResolve({ filter: /^(node:)?[a-z0-9_]+(\/promises)?$|^process\/$/ }, async ({ path, importer }) => {
        const name = path.replace(/^node:/, '');
        const stand = packages[name];
        if (stand !== undefined)
          return await resolve(stand, { resolveDir: here, importer, kind: 'require-call' });
        return name in modules || name in written ? { path: name, namespace: 'node' } : undefined;
      });
      onLoad({ filter: /./, namespace: 'node' }, ({ path }) => ({
        contents: written[path] ?? `module.exports = require('./browser/modules.ts').${modules[path]};`,
        resolveDir: here,
        loader: 'js',
      }));
      onLoad({ filter: idle }, async ({ path }) => ({ contents: emptied(await readFile(path, 'utf8')) }));
      for (const [filter, contents] of unused) onLoad({ filter }, () => ({ contents }));
      onLoad({ filter: KNOWN }, async ({ path }) => ({
        contents: asked(await readFile(path, 'utf8')),
        loader: 'json',
      }));
      onLoad({ filter: COMMANDS }, async ({ path }) => ({
        contents: (await readFile(path, 'utf8'))
          .replace(DESCRIPTION, "$1: '',")
          .replace(HISTORY, 'history: []')
          .replace(/[\\/]syntax[\\/]/.test(path) ? PLAIN : /$^/, ''),
        loader: 'ts',
      }));
      for (const [filter, names] of absent)
        onLoad({ filter }, () => ({
          contents: `export const ${names.map((name) => `${name} = undefined`)};`,
        }));
    },
  };
}

const options = {
  outdir: here,
  write: false,
  bundle: true,
  minify: true,
  format: 'iife',
  platform: 'browser',
  mainFields: ['browser', 'module', 'main'],
  define: { global: 'globalThis' },
  charset: 'ascii',
  target: 'es2022',
  logLevel: 'warning',
} satisfies BuildOptions;

/** Bundles it with esbuild. */
export async function playgroundFiles(): Promise<PlaygroundFiles> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    ...options,
    entryPoints: [join(here, 'worker.ts')],
    plugins: [nodeInBrowser()],
  });
  const { script, style } = await bundlePage(join(here, 'page'));
  return new Map([
    ['index.html', playgroundHtml()],
    ['app.js', script],
    ['worker.js', outputFiles[0]?.text ?? ''],
    ['style.css', style],
  ]);
}
