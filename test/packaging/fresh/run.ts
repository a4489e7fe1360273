/**
 * `npm run test:fresh`: makes a fresh folder for each runner and compiler, installs the packed package as a newcomer would,
 * and runs what the documentation tells newcomers to write. `-- --node 20,22,24` chooses the Node versions, which npm fetches,
 * and `-- --only jest` the projects whose names have that word. Prints how long the first run took, with the installation.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../../package.json' with { type: 'json' };
import { ensureBuilt } from '../../support/built.ts';
import { nodeProgram, ownVersion } from './node-versions.ts';
import { type FreshProject, projects } from './projects.ts';

const LIMIT_MS = 240_000;
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
  const args = ['install', ...quiet, tarball, ...project.packages];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MS });
}

/** Runs a project on a Node version. Returns what is wrong; undefined when nothing is. */
function failure(project: FreshProject, folder: string, node: string): string | undefined {
  const [program = '', ...args] = project.run;
  const bin = join(folder, 'node_modules', program);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const done = spawnSync(node, [existsSync(bin) ? bin : program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...env, NO_COLOR: '1', REDIS_URL: '', PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
    timeout: LIMIT_MS,
  });
  const output = `${done.stdout}${done.stderr}`;
  if (done.status === 0 && project.expected.test(output)) return undefined;
  return `status ${done.status ?? done.signal}\n${output.slice(-4000)}`;
}

/** Installs and runs one project on each version. Returns the number of failures. */
async function tryProject(
  project: FreshProject,
  root: string,
  nodes: ReadonlyMap<number, string>,
): Promise<number> {
  const folder = join(root, project.name.replaceAll(/\W+/g, '-'));
  const started = Date.now();
  await install(project, folder, join(root, `lostlock-${manifest.version}.tgz`));
  let failed = 0;
  let first: number | undefined;
  for (const [version, node] of nodes) {
    const wrong = failure(project, folder, node);
    first ??= (Date.now() - started) / 1000;
    if (wrong !== undefined) failed++;
    console.log(
      `${wrong === undefined ? 'ok  ' : 'FAIL'} ${project.name} on Node ${version}${wrong === undefined ? '' : `: ${wrong}`}`,
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
    values.node.split(',').map((version) => [Number(version), nodeProgram(Number(version))]),
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
