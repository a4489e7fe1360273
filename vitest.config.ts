/**
 * How the tests run: `npm test` leaves out the suites of `npm run test:beside` (`--mode quick`, `--mode beside`), and
 * `npm run test:long` runs in full what the others sample (`--mode long`).
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { sampledFiles } from './test/support/long.ts';
import { FailureReporter, RetriedReporter } from './test/support/retries/reporters.ts';

const report = process.env.LOSTLOCK_REPORT; // Where .ci/run expects the counts.

/**
 * The suites on real time, which use real servers, sockets, child processes or the machine's clock. On a busy machine
 * their tests can fail by chance. Every other test must give the same result every time, so that one failure is enough
 * to report a bug.
 */
export const realTime: string[] = [
  'test/cli.test.ts',
  'test/{pages,readme}.test.ts',
  'test/transcripts.test.ts',
  'test/clients/*.test.ts',
  'test/cluster/{moving,ports,real,stalls,tls}.test.ts',
  'test/differential/{failover,mixed,replication,sentinel}.test.ts',
  'test/differential/replicas/replicas.test.ts',
  'test/embed/*.test.ts',
  'test/embed/running/*.test.ts',
  'test/embed/conf/directives.test.ts',
  'test/explore/{cluster-on-real,command,on-real}.test.ts',
  'test/lab/{demo,pair}.test.ts',
  'test/lab/{processes,real,wire}/*.test.ts',
  'test/lab/routes/*.test.ts',
  'test/lab/virtual/{endings,standing}.test.ts',
  'test/locks/{odd-uses,options,wrong-options}.test.ts',
  'test/locks/asking/{hand-over,line,never-held}.test.ts',
  'test/locks/clients/*.test.ts',
  'test/locks/conformance/*.test.ts',
  'test/locks/holding/watchdog.test.ts',
  'test/locks/kinds/{own-holds-real,redlock,redlock-silence,segmented,session}.test.ts',
  'test/locks/lives/soak.test.ts',
  'test/locks/scripts/scripts.test.ts',
  'test/locks/server/*.test.ts',
  'test/packaging/*.test.ts',
  'test/page/playground.test.ts',
  'test/release/action.test.ts',
  'test/protocol/{corpus,hanging-up}.test.ts',
  'test/scripting/hostile.test.ts',
  'test/sentinel/{file,file-beside,real,tls}.test.ts',
  'test/server/clients/*.test.ts',
  'test/server/commands/{migrate,shutdown}.test.ts',
  'test/server/data/{between-servers,digest,saving}.test.ts',
  'test/server/figures/*.test.ts',
  'test/server/host/*.test.ts',
  'test/server/replication/*.test.ts',
  'test/server/scripts/*.test.ts',
  'test/server/settings/{config,rewrite-beside}.test.ts',
  'test/support/redis-server.test.ts',
];

/** Suites that replace timers, count handles, depend on the order of imports or measure memory: each file has a process of its own. */
const alone: string[] = [
  'test/embed/{ambient-clock,cycles,fake-timers}.test.ts',
  'test/lab/determinism.test.ts',
  'test/lab/routes/*.test.ts',
  'test/lab/virtual/world.test.ts',
  'test/locks/timing/deadlines.test.ts',
  'test/protocol/bytes.test.ts',
];

/**
 * The suites that say little without the real servers, that build and install the package, or that take long. They have
 * a command of their own, `npm run test:beside`, so that `npm test` is quick and takes the same time everywhere. CI runs
 * both.
 */
export const beside: string[] = [
  'test/clients/{lock-libraries,redis-tools}.test.ts',
  'test/cluster/{differential,ports,tls}.test.ts',
  'test/differential/{differential,failover,mixed,replication,sentinel,waiting}.test.ts',
  'test/differential/replicas/replicas.test.ts',
  'test/embed/{kept-code,thread}.test.ts',
  'test/embed/conf/directives.test.ts',
  'test/explore/{cluster,cluster-on-real,command,on-real}.test.ts',
  'test/keyspace/rdb/{dump,foreign,old-forms}.test.ts',
  'test/keyspace/stream.test.ts',
  'test/lab/processes/pair.test.ts',
  'test/locks/clients/clients.test.ts',
  'test/locks/conformance/{faces,real-redis,sentinel}.test.ts',
  'test/locks/kinds/{own-holds-real,redlock}.test.ts',
  'test/locks/lives/soak.test.ts',
  'test/locks/{odd-uses,options}.test.ts',
  'test/locks/scripts/scripts.test.ts',
  'test/locks/server/{lost-replies,replicas,replicated}.test.ts',
  'test/packaging/{api,bundles,package,runners}.test.ts',
  'test/page/{browser,pictures,playground}.test.ts',
  'test/pages.test.ts',
  'test/protocol/{glob,long-double}.test.ts',
  'test/release/action.test.ts',
  'test/sentinel/{file-beside,real,tls}.test.ts',
  'test/support/retries/retried.test.ts',
  'test/server/aof/{beside,starts}.test.ts',
  'test/server/clients/write-order.test.ts',
  'test/server/commands/{migrate,scan-changes}.test.ts',
  'test/server/commands/sorted-set/infinities.test.ts',
  'test/server/commands/vector/{conversations,filter,scores}.test.ts',
  'test/server/data/{between-servers,digest,eviction}.test.ts',
  'test/server/dialects/{clients,conversations,new-commands}.test.ts',
  'test/server/figures/resetstat.test.ts',
  'test/server/replication/wait-beside.test.ts',
  'test/server/settings/rewrite-beside.test.ts',
  'test/server/replication/replica-of-newer.test.ts',
];

/**
 * Samples of the lab's, the explorer's and the determinism tests that run with ioredis 5 as well, which most projects have: the
 * lab's clients are then those of ioredis 5.
 */
const withIoredis5: string[] = [
  'test/explore/{explore,worlds}.test.ts',
  'test/lab/determinism.test.ts',
  'test/lab/scenarios/wait.test.ts',
  'test/lab/virtual/clients.test.ts',
];

const isIn = (globs: readonly string[]) => (name: string) => globs.some((glob) => matchesGlob(name, glob));

/** The files on real time: the runner retries their tests, and no others. */
const names = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((name) => join('test', name));
const realTimeFiles = names.filter(isIn(realTime));

const jsonIn = (outputFile: string): ['json', { outputFile: string }] => ['json', { outputFile }];

/** A project of the run, with what all projects have in common. */
function suites(test: NonNullable<TestProjectInlineConfiguration['test']>): TestProjectInlineConfiguration {
  return { extends: true, test };
}

/** Compiled sources, which Node itself loads. */
const loader = ['--import', './test/support/loader/register.mjs'];
/** The workers share two cores, so a collector with threads gains nothing. */
const collector = ['--max-semi-space-size=64', '--single-threaded-gc'];

/** The samples with ioredis 5. Each file has a process of its own, as some of them need it. */
const ioredis5 = suites({
  name: 'with ioredis 5',
  include: withIoredis5,
  execArgv: [...loader, '--import', './test/support/loader/with-ioredis5.mjs', ...collector],
  isolate: true,
});

/** Of a long run, what needs processes of its own, and what must not run beside suites that compute. */
function afterwards(sampled: readonly string[]): TestProjectInlineConfiguration[] {
  const own = sampled.filter(isIn(alone));
  const timed = sampled.filter(isIn(realTime)).filter((name) => !own.includes(name));
  return [
    suites({ name: 'alone', include: own, isolate: true }),
    suites({
      name: 'on real time',
      include: timed,
      setupFiles: ['lab/router.ts'],
      maxWorkers: 1,
      sequence: { groupOrder: 1 },
    }),
  ];
}

export default defineConfig(({ mode: own }) => {
  // Vitest evaluates this again for each project, in a mode of its own. The first evaluation is about the command line.
  process.env.LOSTLOCK_TEST_MODE ??= own;
  const mode = process.env.LOSTLOCK_TEST_MODE;
  const isLong = mode === 'long';
  // A long run runs nothing that `npm test` and `npm run test:beside` run in full.
  const sampled = isLong ? sampledFiles(names) : [];
  const include = mode === 'beside' ? beside : isLong ? sampled : ['test/**/*.test.ts'];
  const left = mode === 'quick' ? beside : isLong ? realTime : [];
  // The lab's router has to be loaded before any client: in a shared process, before the first file.
  const setupFiles = ['lab/router.ts'];
  return {
    test: {
      // Three workers a core, because the suites on real time mostly wait for a server or a timer. In a long run they compute.
      maxWorkers: availableParallelism() * (isLong ? 1 : 3),
      env: {
        LOSTLOCK_LONG: isLong ? '1' : '',
        LOSTLOCK_REAL_TIME: JSON.stringify(realTimeFiles),
      },
      // CI's machine is crowded. A test that needed a retry is named at the end of .ci/run's output.
      runner: 'test/support/retries/runner.ts',
      // A test that asserts nothing cannot fail.
      expect: { requireAssertions: true },
      // Limits for a broken test on a busy machine. No test asserts a duration.
      testTimeout: isLong ? 3_600_000 : 60_000,
      hookTimeout: 60_000,
      reporters: [
        'default',
        ...(report ? [jsonIn(report), new RetriedReporter(`${report}.retried`)] : []),
        ...(isLong ? [new FailureReporter()] : []),
      ],
      coverage: {
        include: ['**/*.ts'],
        exclude: ['{test,bench,docs,examples,integrations,tools}/**'],
      },
      // The files of a worker share the modules that they import, which saves half of the time. A file must leave no trace.
      isolate: false,
      // The sources are compiled once and loaded by Node itself. Vite would compile and send them to each worker anew,
      // which takes longer than most tests.
      globalSetup: 'test/support/loader/compile.mjs',
      execArgv: [...loader, ...collector],
      experimental: { viteModuleRunner: false, nodeLoader: false },
      projects: [
        suites({ name: 'together', include, exclude: [...alone, ...left], setupFiles }),
        ...(mode === 'beside' || isLong
          ? []
          : [suites({ name: 'alone', include: alone, isolate: true }), ioredis5]),
        ...(isLong ? afterwards(sampled) : []),
      ],
    },
  };
});
