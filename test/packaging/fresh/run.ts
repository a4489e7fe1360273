/**
 * `npm run test:fresh`: makes a fresh folder for each runner and compiler, installs the packed package as a newcomer would,
 * and runs what the documentation tells newcomers to write. `-- --node 20,22,24,26,musl` chooses the Node versions, which npm fetches;
 * `musl` is a Node 24 for musl (musl.ts). `-- --only jest` chooses the projects whose names have that word. Prints how long the first run took, with the installation.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../../package.json' with { type: 'json' };
import { ensureBuilt } from '../../support/built.ts';
import { muslNode } from './musl.ts';
import { nodeProgram, ownVersion } from './node-versions.ts';
import type { FreshProject } from './project.ts';
import { projects } from './projects.ts';

/** The name of the Node that is built for musl. */
const MUSL = 'musl';

const LIMIT_MS = 240_000;
const PNPM = 'pnpm@10.34.9';
/** Yarn 4 has no folder node_modules: its loader finds packages in its cache (Plug'n'Play). */
const yarn: [program: string, ...args: string[]] = ['npx', '--yes', '-p', '@yarnpkg/cli-dist@4.18.1', 'yarn'];
const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];

/** A free port, for a configuration that has to name one. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Writes and installs a project. */
async function install(project: FreshProject, folder: string, tarball: string): Promise<void> {
  mkdirSync(folder);
  const port = String(await freePort());
  for (const [name, text] of Object.entries(project.files)) {
    writeFileSync(join(folder, name), text.replaceAll('PORT', port));
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const [program, ...args] = installing(project, tarball);
  execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MS });
}

/** The command that installs a project's packages. */
function installing(
  { installer, packages }: FreshProject,
  tarball: string,
): [program: string, ...args: string[]] {
  switch (installer) {
    case 'pnpm':
      return ['npx', '--yes', PNPM, 'add', '--prefer-offline', '--ignore-scripts', tarball, ...packages];
    case 'yarn':
      return [...yarn, 'add', `lostlock@file:${tarball}`, ...packages];
    default:
      return ['npm', 'install', ...quiet, tarball, ...packages];
  }
}

/** The command that runs a project. */
function running(
  { installer, runtime, run }: FreshProject,
  folder: string,
  node: string,
): [program: string, ...args: string[]] {
  if (runtime !== undefined) return [join(folder, 'node_modules', ...runtime), ...run];
  // Yarn finds the Node version on PATH.
  if (installer === 'yarn') return [...yarn, 'node', ...run];
  const [program = '', ...args] = run;
  const bin = join(folder, 'node_modules', program);
  return [node, existsSync(bin) ? bin : program, ...args];
}

/** What the first of the projects with the same output has printed. */
let printed: string | undefined;

/** What is wrong with the output of a project that prints the same as others; undefined when nothing is. */
function unlike({ printsTheSame = false }: FreshProject, output: string): string | undefined {
  if (!printsTheSame) return undefined;
  printed ??= output;
  return printed === output ? undefined : `printed ${output}, and another project printed ${printed}`;
}

/** Runs a project on a Node version. Returns what is wrong; undefined when nothing is. */
function failure(project: FreshProject, folder: string, node: string): string | undefined {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const [command, ...args] = running(project, folder, node);
  const done = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...env, NO_COLOR: '1', REDIS_URL: '', PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
    timeout: LIMIT_MS,
  });
  const output = `${done.stdout}${done.stderr}`;
  if (done.status === 0 && project.expected.test(output)) return unlike(project, done.stdout);
  return `status ${done.status ?? done.signal}\n${output.slice(-4000)}`;
}

/** Installs and runs one project on each version. Returns the number of failures. */
async function tryProject(
  project: FreshProject,
  root: string,
  nodes: ReadonlyMap<string, string>,
): Promise<number> {
  const folder = join(root, project.name.replaceAll(/\W+/g, '-'));
  const started = Date.now();
  await install(project, folder, join(root, `lostlock-${manifest.version}.tgz`));
  let failed = 0;
  let first: number | undefined;
  const able = [...nodes].filter(([version]) => version !== MUSL || project.isNative !== true);
  const wanted = project.runtime === undefined ? able : able.slice(0, 1);
  for (const [version, node] of wanted) {
    const wrong = failure(project, folder, node);
    first ??= (Date.now() - started) / 1000;
    if (wrong !== undefined) failed++;
    console.log(
      `${wrong === undefined ? 'ok  ' : 'FAIL'} ${project.name}${project.runtime === undefined ? ` on Node ${version}` : ''}${wrong === undefined ? '' : `: ${wrong}`}`,
    );
  }
  console.log(`     ${project.name}: installed and run once after ${first?.toFixed(1)} s`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return failed;
}

const { values } = parseArgs({
  options: { node: { type: 'string', default: String(ownVersion) }, only: { type: 'string' } },
});
await ensureBuilt();
const root = mkdtempSync(join(tmpdir(), 'lostlock-fresh-'));
try {
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', root], { stdio: 'ignore' });
  const nodes = new Map(
    values.node
      .split(',')
      .map((version) => [version, version === MUSL ? muslNode() : nodeProgram(Number(version))] as const),
  );
  const only = values.only?.toLowerCase() ?? '';
  const chosen = projects.filter(({ name }) => name.toLowerCase().includes(only));
  if (chosen.length === 0)
    throw new Error(`--only ${values.only}: must be part of ${projects.map(({ name }) => name).join(', ')}`);
  let failed = 0;
  for (const project of chosen) failed += await tryProject(project, root, nodes);
  console.log(`${chosen.length} projects on Node ${[...nodes.keys()].join(', ')}: ${failed} failures`);
  if (failed > 0) process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}
