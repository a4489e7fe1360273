/**
 * `npm run test:integrations`: the tests of the pytest plugin, the Go helper and the JUnit extension start the packaged
 * server. On Linux x64 that is the single executable, and no Node is on their PATH; elsewhere it is dist/cli.js. What is not
 * installed, or cannot be fetched, is named and left out.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { ensureBuilt } from '../test/support/built.ts';
import { findProgram } from '../test/support/redis-server.ts';

const LIMIT_MS = 240_000;
const here = import.meta.dirname;
const nodePrograms = new Set(['node', 'npm', 'npx', 'corepack', 'nodejs']);

interface Integration {
  readonly folder: string;
  readonly needs: readonly string[];
  /** Fetches third-party libraries, into `scratch` where possible. Throws when they cannot be fetched. */
  fetch(scratch: string): void;
  /** Installs our part. Throws when that fails. */
  install(scratch: string): void;
  /** The command that runs the tests. */
  tests(scratch: string): readonly string[];
}

const maven = (goal: string): string[] => [
  '-q',
  '-B',
  '-Dstyle.color=never',
  ...(process.env.MAVEN_REPOSITORY ? [`-Dmaven.repo.local=${process.env.MAVEN_REPOSITORY}`] : []),
  goal,
];

const integrations: readonly Integration[] = [
  {
    folder: 'pytest',
    needs: ['python3'],
    fetch(scratch) {
      call(['python3', '-m', 'venv', scratch], 'pytest');
      const pip = join(scratch, 'bin', 'pip');
      call([pip, 'install', '-q', '--disable-pip-version-check', '-r', 'requirements.txt'], 'pytest');
    },
    install(scratch) {
      const copy = join(scratch, 'plugin'); // pip writes into the folder that it builds.
      mkdirSync(copy);
      for (const file of readdirSync(join(here, 'pytest')).filter((name) => /\.(py|toml|md)$/.test(name)))
        copyFileSync(join(here, 'pytest', file), join(copy, file));
      call(
        [
          join(scratch, 'bin', 'pip'),
          'install',
          '-q',
          '--disable-pip-version-check',
          '--no-deps',
          '--no-build-isolation',
          copy,
        ],
        'pytest',
      );
    },
    tests: (scratch) => [
      join(scratch, 'bin', 'python'),
      '-B',
      '-m',
      'pytest',
      '-q',
      '-p',
      'no:cacheprovider',
      'tests',
    ],
  },
  {
    folder: 'go',
    needs: ['go'],
    fetch: () => {},
    install: () => {},
    tests: () => ['go', 'test', '-count=1', './...'],
  },
  {
    folder: 'junit',
    needs: ['java', 'mvn'],
    fetch: () => call(['mvn', ...maven('dependency:resolve')], 'junit'),
    install: () => call(['mvn', ...maven('test-compile')], 'junit'),
    tests: () => ['mvn', ...maven('test').filter((word) => word !== '-q')],
  },
];

function call([program, ...args]: readonly string[], folder: string): void {
  execFileSync(program as string, args, {
    cwd: join(here, folder),
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LIMIT_MS,
  });
}

/** PATH without Node: folders that have it are replaced by one with links to their other programs. */
function pathWithoutNode(scratch: string): string {
  const linked = join(scratch, 'programs');
  mkdirSync(linked);
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => existsSync(folder));
  const hasNode = (folder: string): boolean => readdirSync(folder).some((name) => nodePrograms.has(name));
  const taken = new Set(nodePrograms);
  for (const folder of folders.filter(hasNode)) {
    for (const name of readdirSync(folder)) {
      if (taken.has(name)) continue;
      taken.add(name);
      symlinkSync(join(folder, name), join(linked, name));
    }
  }
  return [...folders.filter((folder) => !hasNode(folder)), linked].join(delimiter);
}

/** The environment of the tests: how they start the server, and a PATH without Node if they need none. */
function environment(scratch: string): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...env } = process.env;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { ...env, LOSTLOCK: `${process.execPath} ${resolve('dist/cli.js')}` };
  }
  execFileSync('npm', ['run', '--silent', 'build:executable'], { stdio: 'inherit', timeout: LIMIT_MS });
  const PATH = pathWithoutNode(scratch);
  const found = spawnSync('node', ['--version'], { env: { PATH } });
  if (found.status !== null) throw new Error('Node is still on the PATH of the tests');
  return { ...env, PATH, LOSTLOCK: resolve('dist-executable/lostlock') };
}

/** Fetches and runs one integration. Prints one line about it. */
function test(
  { folder, needs, fetch, install, tests }: Integration,
  env: NodeJS.ProcessEnv,
): 'ok' | 'FAIL' | 'skipped' {
  const missing = needs.filter((program) => !findProgram(program));
  const skip = (why: string): 'skipped' => {
    console.log(`skipped integrations/${folder}: ${why}`);
    return 'skipped';
  };
  if (missing.length > 0) return skip(`${missing.join(' and ')} not installed`);
  const scratch = mkdtempSync(join(tmpdir(), 'lostlock-integration-'));
  try {
    try {
      fetch(scratch);
    } catch (error) {
      return skip(`could not be fetched (${(error as Error).message.split('\n')[0]})`);
    }
    install(scratch);
    const [program, ...args] = tests(scratch);
    const cwd = join(here, folder);
    const done = spawnSync(program as string, args, { cwd, env, encoding: 'utf8', timeout: LIMIT_MS });
    if (done.status !== 0 && /Could not (?:transfer|resolve|find) /.test(done.stdout)) {
      return skip('the runner of its tests could not be fetched');
    }
    const summary = /^.*(?:\d passed|^ok\s|Tests run: \d+, F).*$/gm.exec(done.stdout)?.[0] ?? '';
    const verdict = done.status === 0 ? 'ok' : 'FAIL';
    console.log(
      `${verdict} integrations/${folder}: ${verdict === 'ok' ? summary.replace('[INFO] ', '') : `${done.stdout}${done.stderr}${done.error ?? ''}`}`,
    );
    return verdict;
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 10 });
  }
}

await ensureBuilt();
const scratch = mkdtempSync(join(tmpdir(), 'lostlock-integrations-'));
try {
  const env = environment(scratch);
  const verdicts = integrations.map((integration) => test(integration, env));
  const count = (verdict: string): number => verdicts.filter((each) => each === verdict).length;
  console.log(`${count('ok')} passed, ${count('FAIL')} failed, ${count('skipped')} skipped`);
  if (count('FAIL') > 0) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
