/**
 * `npm run test:clients`, first half: unmodified clients and lock libraries of Python, Go and Java print what they hear from
 * redis-server and from lostlock, alone, behind Sentinels and in clusters, which must be the same. What is not installed, or cannot be fetched, is named and left out.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from '../../../index.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { findProgram, hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { onRealTime } from '../attempts.ts';
import { followed, ourCluster, realCluster } from '../cluster-group.ts';
import { buildProject, resolveProject } from '../maven.ts';
import { hurry, startRealGroup } from '../sentinel-group.ts';

const here = import.meta.dirname;
const run = promisify(execFile);

/** How long fetching and building may take, and one run with its failovers, in milliseconds. */
const PREPARE_MS = 240_000;
const RUN_MS = 400_000;

interface Programs {
  readonly talk: readonly string[];
  readonly cluster: readonly string[];
}

interface Language {
  readonly name: string;
  readonly needs: readonly string[];
  /** Fetches third-party libraries, into `scratch` where possible; throws when they cannot be fetched. */
  fetch(scratch: string): void;
  /** Builds our programs. Returns the command lines: to `talk` the ports of a server and of Sentinels are added, to `cluster` those of nodes. */
  build(scratch: string): Programs;
}

function call(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], timeout: PREPARE_MS });
}

const languages: readonly Language[] = [
  {
    name: 'redis-py, python-redis-lock and pottery',
    needs: ['python3'],
    fetch(scratch) {
      call('python3', ['-m', 'venv', scratch], here);
      call(join(scratch, 'bin', 'pip'), ['install', '-q', '-r', 'requirements.txt'], join(here, 'python'));
    },
    build(scratch) {
      const python = join(scratch, 'bin', 'python');
      return {
        talk: [python, join(here, 'python', 'talk.py')],
        cluster: [python, join(here, 'python', 'cluster.py')],
      };
    },
  },
  {
    name: 'go-redis, redsync and redislock',
    needs: ['go'],
    fetch: () => call('go', ['mod', 'download'], join(here, 'go')),
    build(scratch) {
      call('go', ['build', '-mod=readonly', '-o', join(scratch, 'talk'), '.'], join(here, 'go'));
      const talk = join(scratch, 'talk');
      return { talk: [talk], cluster: [talk, 'cluster'] };
    },
  },
  {
    name: 'Jedis and Lettuce',
    needs: ['java', 'mvn'],
    fetch: () => resolveProject(join(here, 'java')),
    build() {
      const talk = ['java', '-cp', buildProject(join(here, 'java')), 'lostlock.Talk'];
      return { talk, cluster: [...talk, 'cluster'] };
    },
  },
];

/** What the program prints beside the server of that port, line by line. Our server runs in this process: nothing may block. */
async function heard([program, ...args]: readonly string[], port: number, sentinels: readonly number[]) {
  const { stdout } = await run(program!, [...args, String(port), sentinels.join(',')], { timeout: RUN_MS });
  return stdout.trimEnd().split('\n');
}

function compare(name: string, theirs: readonly string[], ours: readonly string[]): boolean {
  const lines = Math.max(theirs.length, ours.length);
  const apart = Array.from({ length: lines }, (_, i) => i).filter((i) => theirs[i] !== ours[i]);
  // A program says so when it has waited in vain.
  const gaveUp = [...theirs, ...ours].filter((line) => line.startsWith('never'));
  if (gaveUp.length > 0) console.log(`FAIL ${name}: waited in vain ${gaveUp.length} times`);
  else if (apart.length === 0) console.log(`ok   ${name}: ${lines} answers, the same from both`);
  else console.log(`FAIL ${name}: ${apart.length} of ${lines} answers differ`);
  for (const i of apart) console.log(`  redis-server  ${theirs[i]}\n  lostlock      ${ours[i]}`);
  return apart.length === 0 && gaveUp.length === 0;
}

/** The programs of a language; undefined when something is not installed or cannot be fetched. */
function prepare(language: Language, scratch: string): Programs | undefined {
  const missing = language.needs.filter((program) => !findProgram(program));
  if (missing.length > 0) {
    console.log(`skipped ${language.name}: ${missing.join(' and ')} not installed`);
    return undefined;
  }
  try {
    language.fetch(scratch);
  } catch (error) {
    console.log(
      `skipped ${language.name}: could not be fetched (${(error as Error).message.split('\n')[0]})`,
    );
    return undefined;
  }
  return language.build(scratch);
}

async function talk(name: string, programs: Programs): Promise<boolean> {
  const isSame = await onRealTime(name, () => besideReal(name, programs.talk));
  return (await onRealTime(`${name} on a cluster`, () => onClusters(name, programs.cluster))) && isSame;
}

/** The program on single servers, and behind Sentinels. */
async function besideReal(name: string, command: readonly string[]): Promise<boolean> {
  await using real = await startRedisServer({ tcp: true });
  await using ours = await startServer({ dialect: INSTALLED });
  await using realGroup = await startRealGroup();
  await using group = await startServer({
    dialect: INSTALLED,
    replicas: 2,
    sentinels: { count: 3, downAfter: 60_000 },
  });
  const ports = group.sentinels.map((sentinel) => sentinel.port);
  await hurry(ports);
  const [theirs, own] = await Promise.all([
    heard(command, real.port, realGroup.sentinels),
    heard(command, ours.port, ports),
  ]);
  return compare(name, theirs, own);
}

/** The same program on a real cluster and on ours: each of its clients holds a lock while a primary dies. */
async function onClusters(name: string, command: readonly string[]): Promise<boolean> {
  await using real = await realCluster(findProgram('redis-server')!);
  await using ours = await ourCluster(INSTALLED);
  const [theirs, own] = await Promise.all([followed(command, real), followed(command, ours)]);
  return compare(`${name} on a cluster`, theirs, own);
}

/** Words of the names of the languages to run, such as `go-redis`; without them all run. */
const only = process.argv.slice(2);

process.setMaxListeners(100); // Each real server is killed when this process exits.

if (!hasRedisServer) console.log('skipped: there is no redis-server to compare with');
else {
  const scratch = mkdtempSync(join(tmpdir(), 'lostlock-talk-'));
  try {
    const chosen = languages.filter(
      ({ name }) => only.length === 0 || only.some((word) => name.includes(word)),
    );
    // Fetching and building block this process, so they come before the servers start.
    const prepared = chosen.map((language, i) => prepare(language, join(scratch, String(i))));
    // Clients spend most of their time waiting for failovers, so they wait side by side.
    const same = await Promise.all(
      chosen.map(({ name }, i) => prepared[i] === undefined || talk(name, prepared[i])),
    );
    if (same.includes(false)) process.exitCode = 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
