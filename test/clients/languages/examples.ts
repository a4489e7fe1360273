/**
 * `npm run test:clients`, second part: the examples for pytest, Go and JUnit lose a lock on demand. What is not installed, or
 * cannot be fetched, is named and left out.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureBuilt } from '../../support/built.ts';
import { findProgram } from '../../support/redis-server.ts';

const LIMIT_MS = 240_000;
const examples = resolve(import.meta.dirname, '../../../examples');
const env = { ...process.env, LOSTLOCK: `${process.execPath} ${resolve('dist/cli.js')}` };

function call(program: string, args: readonly string[], folder: string): void {
  execFileSync(program, args, {
    cwd: join(examples, folder),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LIMIT_MS,
  });
}

interface Example {
  readonly folder: string;
  readonly needs: readonly string[];
  /** Fetches third-party libraries. Throws when they cannot be fetched. */
  fetch(scratch: string): void;
  run(scratch: string): void;
}

const maven = (goals: readonly string[]): string[] => [
  '-q',
  '-B',
  ...(process.env.MAVEN_REPOSITORY ? [`-Dmaven.repo.local=${process.env.MAVEN_REPOSITORY}`] : []),
  ...goals,
];

const all: readonly Example[] = [
  {
    folder: 'pytest',
    needs: ['python3'],
    fetch(scratch) {
      call('python3', ['-m', 'venv', scratch], 'pytest');
      call(join(scratch, 'bin', 'pip'), ['install', '-q', '-r', 'requirements.txt'], 'pytest');
    },
    run: (scratch) =>
      call(join(scratch, 'bin', 'python'), ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], 'pytest'),
  },
  {
    folder: 'go',
    needs: ['go'],
    fetch: () => call('go', ['mod', 'download'], 'go'),
    run: () => call('go', ['test', '-count=1', './...'], 'go'),
  },
  {
    folder: 'junit',
    needs: ['java', 'mvn'],
    // Compiles the test as well, which fetches everything but the runner of JUnit.
    fetch: () => call('mvn', maven(['test-compile']), 'junit'),
    run: () => call('mvn', maven(['test']), 'junit'),
  },
];

await ensureBuilt();
for (const { folder, needs, fetch, run } of all) {
  const missing = needs.filter((program) => !findProgram(program));
  if (missing.length > 0) {
    console.log(`skipped examples/${folder}: ${missing.join(' and ')} not installed`);
    continue;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'lostlock-example-'));
  try {
    fetch(scratch);
  } catch (error) {
    console.log(
      `skipped examples/${folder}: could not be fetched (${(error as Error).message.split('\n')[0]})`,
    );
    rmSync(scratch, { recursive: true, force: true, maxRetries: 10 });
    continue;
  }
  try {
    run(scratch);
    console.log(`ok   examples/${folder}: a lock was lost on demand`);
  } catch (error) {
    console.log(`FAIL examples/${folder}: ${(error as { stdout?: Buffer }).stdout ?? error}`);
    process.exitCode = 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 10 });
  }
}
