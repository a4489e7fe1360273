/**
 * `npm run bench:oversell`: sells stock over HTTP under every step of the ladder, with all failures, and counts the
 * units that were sold but never deducted. It also measures what a segmented stock gains, and caches beside a database.
 * PARTS chooses among ladder, segments and cache; STEPS and SCENARIOS (parts of names, separated by commas) choose
 * within the ladder; SECONDS is the length of a run. Each part that runs completely writes its chapter of
 * bench/oversell.md.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { Redis } from 'ioredis';
import { hasRedisServer, startRedisServer } from '../../test/support/redis-server.ts';
import { cacheChapter, runCache } from './cache.ts';
import { BEHIND_MS, type LockServers, startIndependent, startPair } from './lock-servers.ts';
import { hasPostgres, PostgresClient, type RunningPostgres, startPostgres } from './postgres.ts';
import { plot, type Run, replaceChapter, table } from './report.ts';
import {
  SEGMENT_COUNTS,
  type SegmentRun,
  segmentChapter,
  segmentPlot,
  segmentStep,
  segmentsOf,
} from './segments.ts';
import type { ServiceConfig } from './service.ts';
import { steps } from './steps.ts';

const here = dirname(fileURLToPath(import.meta.url));
const SECONDS = Number(process.env.SECONDS ?? 3);
const PROCESSES = 3;
const CONNECTIONS = 8;
const STOCK = 1_000_000;
/** How long the work under the locks of a segmented stock takes, in milliseconds. */
const SEGMENT_WORK_MS = 10;
const LEASE_MS = 150;

type Trouble = Pick<ServiceConfig, 'workMs' | 'slowEvery' | 'stallEvery' | 'dieEvery'> & {
  failovers?: boolean;
};

const calm = { workMs: 1, slowEvery: 0, stallEvery: 0, dieEvery: 0 };
const scenarios: Record<string, Trouble> = {
  calm,
  'slow holders': { ...calm, slowEvery: 40 },
  'stalled processes': { ...calm, stallEvery: 60 },
  'crashes before release': { ...calm, dieEvery: 40 },
  failovers: { ...calm, workMs: 100, failovers: true },
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const chosen = (names: readonly string[], wanted: string | undefined): string[] =>
  names.filter((name) => !wanted || wanted.split(',').some((part) => name.includes(part)));

function startService(config: ServiceConfig): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(join(here, 'service.ts'), {
    env: { ...process.env, SERVICE: JSON.stringify(config) },
    execArgv: ['--import', 'tsx'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (port) => resolve({ child, port: Number(port) }));
    child.once('exit', (code) => reject(new Error(`the service exited with ${code}`)));
  });
}

function end(child: ChildProcess): Promise<void> {
  child.removeAllListeners('exit');
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

/** The number of units sold and left, wherever the step stores them. */
async function books(
  step: string,
  stock: Redis,
  postgres: PostgresClient | undefined,
): Promise<[number, number]> {
  if (step.startsWith('PostgreSQL')) {
    const { rows } = await postgres!.query("SELECT sold, units FROM stock WHERE name = 'it'");
    return rows[0]!.map(Number) as [number, number];
  }
  const sold = Number((await stock.get('sold')) ?? 0);
  const segments = segmentsOf(step);
  if (segments === 0) return [sold, Number(await stock.get('stock'))];
  const parts = await stock.mget(Array.from({ length: segments }, (_, index) => `stock:${index}`));
  return [sold, parts.reduce((sum, part) => sum + Number(part), 0)];
}

async function fill(step: string, stock: Redis, postgres: PostgresClient | undefined): Promise<void> {
  await stock.flushall();
  await stock.set('stock', STOCK);
  const segments = segmentsOf(step);
  for (let index = 0; index < segments; index++) await stock.set(`stock:${index}`, STOCK / segments);
  await postgres?.query('DROP TABLE IF EXISTS stock');
  await postgres?.query('CREATE TABLE stock (name text PRIMARY KEY, units int, sold int, version int)');
  await postgres?.query(`INSERT INTO stock VALUES ('it', ${STOCK}, 0, 0)`);
}

/** Loads all processes at once, while the lock servers fail if the scenario requires it. */
async function load(ports: readonly number[], seconds: number, servers: LockServers, failovers: boolean) {
  let over = false;
  const failing = (async () => {
    while (failovers && !over) {
      await pause(300);
      if (!over) await servers.fail();
    }
  })();
  const results = await Promise.all(
    ports.map((port) =>
      autocannon({
        url: `http://127.0.0.1:${port}/deduct`,
        method: 'POST',
        connections: CONNECTIONS,
        duration: seconds,
        timeout: 10,
      }),
    ),
  );
  over = true;
  await failing;
  return results;
}

async function run(
  step: string,
  scenario: string,
  stockPort: number,
  pg?: RunningPostgres,
  { failovers = false, ...trouble } = scenarios[scenario]!,
): Promise<Run> {
  const seconds = failovers ? 2 * SECONDS : SECONDS;
  const servers = step.includes('Redlock') ? await startIndependent(3) : await startPair();
  const stock = new Redis(stockPort, '127.0.0.1');
  const postgres = pg && (await PostgresClient.connect(pg.dir));
  await fill(step, stock, postgres);
  const config = { step, lockPorts: servers.ports, stockPort, postgres: pg?.dir, ...trouble };
  const services = await Promise.all(
    Array.from({ length: PROCESSES }, () =>
      startService({ ...config, leaseMs: LEASE_MS, badMs: 2 * LEASE_MS }),
    ),
  );
  const ports = services.map(({ port }) => port);
  const results = await load(ports, seconds, servers, failovers);
  // Requests under way finish before the result is counted.
  await Promise.all(services.map(({ child }) => end(child)));
  const [sold, left] = await books(step, stock, postgres);
  stock.disconnect();
  postgres?.close();
  await servers.stop();
  return {
    step,
    scenario,
    sold,
    refused: results.reduce(
      (sum, { statusCodeStats: codes }) => sum + (codes[503]?.count ?? 0) + (codes[500]?.count ?? 0),
      0,
    ),
    oversold: sold - (STOCK - left),
    perSecond: sold / seconds,
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
  };
}

const page = join(here, '..', 'oversell.md');

function write(name: string, chapter: string): void {
  const before = existsSync(page) ? readFileSync(page, 'utf8') : '# Selling more than there is\n';
  writeFileSync(page, replaceChapter(before, name, chapter));
}

function ladderChapter(runs: readonly Run[]): string {
  return `\`npm run bench:oversell\`: a stock-deduction service over HTTP (read the stock, deduct one, write it back), ${PROCESSES}
processes, ${CONNECTIONS} connections each, ${SECONDS} s a run, a lease of ${LEASE_MS} ms, ${cpus().length} cores for everything. The locks are on a real
redis-server 7.0 with one replica (Redlock: three independent servers), the stock on another server. *Oversold* units
were sold but never deducted: for each of them, two clients were in the critical section at the same time.

- slow holders: every 40th holder works twice as long as the lease
- stalled processes: at every 60th request the process is blocked for that long, between reading and writing
- crashes before release: every 40th holder dies while it holds the lock
- failovers: work takes 100 ms; every 0.4 s the replica is promoted, ${BEHIND_MS} ms behind (Redlock: one server
  restarts empty)

${table(runs)}

![share of oversold units](oversell.svg)

After a crash without a lease (steps 0 and 1) nothing is oversold, but nothing is sold either, because the lock stays
closed. The watchdog (step 5) handles slow holders, but not always a process that is blocked between its last check of
the lock and its write. Only a resource that refuses old fences handles that. A failover loses a lock on a primary with
an asynchronous replica unless the grant waited for the replica (WAIT 1). The cases that remain are
S32 to S40 in [scenarios.md](../docs/scenarios.md).
`;
}

async function ladder(stockPort: number): Promise<void> {
  if (!hasPostgres) console.log('skipped: the PostgreSQL steps, for want of /usr/lib/postgresql/15');
  const names = chosen(Object.keys(steps), process.env.STEPS).filter(
    (step) => hasPostgres || !step.startsWith('Postgre'),
  );
  const kinds = chosen(Object.keys(scenarios), process.env.SCENARIOS);
  const postgres = names.some((step) => step.startsWith('Postgre')) ? await startPostgres() : undefined;
  const runs: Run[] = [];
  for (const step of names) {
    for (const scenario of kinds) {
      if (step.startsWith('PostgreSQL') && scenario === 'failovers') continue;
      const each = await run(step, scenario, stockPort, postgres);
      runs.push(each);
      const { oversold, sold, perSecond, p99, refused } = each;
      console.log(
        `${step} | ${scenario}: ${oversold} oversold of ${sold}, ${Math.round(perSecond)}/s, p99 ${p99} ms, ${refused} refused`,
      );
    }
  }
  await postgres?.stop();
  if (process.env.STEPS || process.env.SCENARIOS) return;
  write('ladder', ladderChapter(runs));
  writeFileSync(join(here, '..', 'oversell.svg'), plot(runs));
}

async function segmentLadder(stockPort: number): Promise<void> {
  const runs: SegmentRun[] = [];
  for (const segments of SEGMENT_COUNTS) {
    const work = { ...calm, workMs: SEGMENT_WORK_MS };
    const { perSecond, p99, oversold } = await run(segmentStep(segments), 'calm', stockPort, undefined, work);
    runs.push({ segments, perSecond, p99, oversold });
    console.log(`${segments} segments: ${Math.round(perSecond)}/s, p99 ${p99} ms, ${oversold} oversold`);
  }
  write('segments', segmentChapter(runs, SEGMENT_WORK_MS));
  writeFileSync(join(here, '..', 'segments.svg'), segmentPlot(runs));
}

async function main(): Promise<void> {
  if (!hasRedisServer) {
    console.log('skipped: redis-server is not installed');
    return;
  }
  const parts = chosen(['ladder', 'segments', 'cache'], process.env.PARTS);
  await using stock = await startRedisServer({ tcp: true });
  if (parts.includes('ladder')) await ladder(stock.port);
  if (parts.includes('segments')) await segmentLadder(stock.port);
  if (!parts.includes('cache')) return;
  const chapter = cacheChapter(await runCache());
  console.log(chapter);
  write('cache', chapter);
}

await main();
