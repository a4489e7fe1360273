/** The processes of `--workers`: each explores its part of the worlds, and reports its progress. */

import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { LOSTLOCK_VERSION } from '../../base/version.ts';
import { toldFinding } from '../../explore/findings.ts';
import { added, brokenIn, mergeReports } from '../../explore/merging.ts';
import {
  askedOf,
  type ExploreOptions,
  type ExploreProgress,
  type FullOptions,
  fullOptions,
} from '../../explore/options.ts';
import { decodePlan } from '../../explore/plan.ts';
import { NO_ERROR } from '../../explore/promises/broken.ts';
import { ExploreReport } from '../../explore/report.ts';
import { type Finding, REPORT_VERSION, type ReportData } from '../../explore/report-data.ts';
import { type StuckNews, stuckText } from '../../explore/watchdog.ts';
import { isNode } from '../../start/running/runtime.ts';
import { UsageError } from '../usage.ts';
import type { Chosen } from './arguments.ts';

/** What a worker gets. */
export interface WorkerTask {
  readonly chosen: Chosen;
  /** Which of the file's explorations it plays. */
  readonly at: number;
}

/** What a worker sends. */
export type WorkerNews =
  | { readonly progress: ExploreProgress; readonly soFar: ReportData }
  | { readonly playing: string }
  | { readonly report: ReportData }
  | { readonly refused: string };

/**
 * V8's flags for a process that plays world after world. A world dies as a whole, so the young generation is large, and
 * nothing is allocated in the old one in advance: an object there keeps its whole world until the next full collection.
 * Together they halve the CPU time of a world.
 */
export const WORLD_FLAGS: readonly string[] = [
  '--no-allocation-site-pretenuring',
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
];

/** The flags but for those that the user sets in NODE_OPTIONS, which a process' own flags would override. */
function worldFlags(options = ''): string[] {
  if (!isNode) return [];
  return WORLD_FLAGS.filter((flag) => !options.includes(flag.split('=')[0] as string));
}

/** Lets a process load modules anew. */
export const MODULES_FLAG = '--experimental-vm-modules';

/** The file descriptor by which a worker's watchdog tells that its code does not return. */
export const NEWS = 4;
/** How long a worker may take to report after Ctrl-C, in milliseconds. */
const GRACE = 10_000;

/** What is known of a worker that has not reported yet. */
interface WorkerState {
  soFar: ReportData | undefined;
  /** What plays the world again in which it is. */
  playing: string;
}

/**
 * Shares the worlds among processes, and merges their reports. A process that ends in the middle of a world, because the code
 * ends it or it has no memory left, is a finding; what it had found is kept, and the others go on. Rejects with UsageError for
 * what `explore` refuses, and where no process may be started.
 */
export async function onWorkers(
  options: ExploreOptions,
  chosen: Chosen,
  at: number,
  signal: AbortSignal,
  show: (progress: ExploreProgress) => void,
): Promise<ExploreReport> {
  checkMayStart();
  const { shard } = chosen;
  const full = fullOptions(options);
  const total = full.budget.worlds;
  const workers = Math.min(chosen.workers, total);
  const latest = new Map<number, ExploreProgress>();
  const children: ChildProcess[] = [];
  const reports = Array.from({ length: workers }, (_, i) => {
    const part = { index: (shard.index - 1) * workers + i + 1, of: shard.of * workers };
    const { child, stuck } = startWorker(chosen.file);
    children.push(child);
    const worlds = Number.isFinite(total) ? Math.floor((total + i) / workers) : undefined;
    const own = { ...chosen, shard: part, worlds, workers: 1 };
    child.send({ chosen: own, at } satisfies WorkerTask);
    const known: WorkerState = { soFar: undefined, playing: '' };
    return new Promise<ReportData>((done, fail) => {
      child.on('message', (news: WorkerNews) => {
        if ('report' in news) return done(news.report);
        if ('refused' in news) return fail(new UsageError(news.refused));
        if ('playing' in news) {
          known.playing = news.playing;
          return;
        }
        known.soFar = news.soFar;
        latest.set(i, news.progress);
        show(together([...latest.values()], total));
      });
      // What is sent to a process that has just ended is lost, and 'close' tells that it has ended.
      child.on('error', (error) => child.pid === undefined && fail(error));
      // 'close' comes after the last message.
      child.once('close', (status, sign) => {
        // After Ctrl-C a process that was still loading has nothing to report.
        if (known.playing === '' && (signal.aborted || sign === 'SIGINT'))
          return done(reportOf({ ...full, shard: part }, known, []));
        const ended = `its process ended with ${status === null ? `signal ${sign}` : `status ${status}`}`;
        const how = stuck() ?? ended;
        if (known.playing === '') fail(new Error(`a worker cannot begin: ${how}`));
        else done(reportOfEnded({ ...full, shard: part }, known, how));
      });
    });
  });
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    for (const child of children) if (child.connected) child.send('stop');
    // Code that does not return to its event loop hears of nothing.
    grace = setTimeout(() => {
      for (const child of children) child.kill('SIGKILL');
    }, GRACE);
  };
  // After Ctrl-C, the explorations of the file that are left end at once as well.
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    const merged = mergeReports(await Promise.all(reports));
    // A worker takes its share of the default budget for one that was set.
    return new ExploreReport({ ...merged, asked: { ...askedOf(full), shard } });
  } catch (error) {
    for (const child of children) child.kill();
    throw error;
  } finally {
    clearTimeout(grace);
    signal.removeEventListener('abort', stop);
  }
}

/** Throws UsageError where a process cannot be started. Deno would end the command with an error that nothing can catch. */
function checkMayStart(): void {
  const { Deno: deno } = globalThis as {
    Deno?: {
      readonly permissions: {
        querySync(wanted: { name: 'run'; command: string }): { readonly state: string };
      };
    };
  };
  if (
    deno === undefined ||
    deno.permissions.querySync({ name: 'run', command: process.execPath }).state === 'granted'
  )
    return;
  throw new UsageError('explore plays worlds in processes of its own: run it with --allow-run');
}

/** Starts a worker. `stuck` says why its watchdog has ended it, if it has. */
function startWorker(file: string): { readonly child: ChildProcess; stuck(): string | undefined } {
  const child = fork(process.argv[1] as string, ['explore', file], {
    env: { ...process.env, LOSTLOCK_EXPLORE_WORKER: '1', LOSTLOCK_EXPLORE_MAIN: undefined },
    execArgv: [
      ...(isNode ? [MODULES_FLAG] : []),
      ...worldFlags(process.env.NODE_OPTIONS),
      ...process.execArgv,
    ],
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
  // What its watchdog says comes by a pipe of its own: code that never returns sends no message.
  let news = '';
  (child.stdio[NEWS] as Readable | null)?.setEncoding('utf8').on('data', (text: string) => {
    news += text;
  });
  return {
    child,
    stuck: () => (news === '' ? undefined : stuckText((JSON.parse(news) as StuckNews).client)),
  };
}

/** What is left of a worker whose process has ended: what it had found, and the world in which it ended. */
function reportOfEnded(full: FullOptions, known: WorkerState, how: string): ReportData {
  const broken = { promise: NO_ERROR, what: `this world was not played to its end: ${how}` };
  const worlds = (known.soFar?.worlds ?? 0) + 1;
  const finding = toldFinding(full.name, broken, causeOf(known.playing), worlds, known.playing);
  return { ...reportOf(full, known, [finding]), worlds };
}

/** What a worker had found when its process ended, with further findings. */
function reportOf(full: FullOptions, { soFar }: WorkerState, more: readonly Finding[]): ReportData {
  const { name } = full;
  const coverage = {
    ...{ faults: Object.fromEntries(full.faults.map((kind) => [kind, 0])), calm: 0, broken: {}, states: 0 },
    ...{ contended: 0, strategies: {}, singles: { all: 0, share: 0, played: 0, cut: 0 } },
    ...{
      leases: [],
      scale: 0,
      judged: {},
      errors: {},
      gaveUp: 0,
      waiting: 0,
      fenced: 0,
      recorded: 0,
      triedAgain: 0,
      leaseEnded: 0,
    },
    ...{ calmErrors: [], calmRefusals: [], labErrors: [] },
  };
  const { findings = [], ...rest } = soFar ?? { accepted: [] };
  const output = { lines: [], count: 0 };
  return {
    ...{ version: REPORT_VERSION, versions: { lostlock: LOSTLOCK_VERSION, node: process.version }, name },
    ...{ asked: askedOf(full), coverage, worlds: 0, ms: 0, output, ...rest },
    ...{ findings: [...findings, ...more], interrupted: true },
  };
}

/** The kinds of the faults of a world that may have struck. */
function causeOf(replay: string): string {
  const kinds = decodePlan(replay)?.plan.faults.map(({ kind }) => kind) ?? [];
  return [...new Set(kinds)].sort().join(' + ') || 'no fault';
}

/** The progress of all workers. They may have found the same: the most that one of them has found counts. */
function together(all: readonly ExploreProgress[], of: number): ExploreProgress {
  const sum = (key: 'worlds' | 'perSecond'): number => all.reduce((total, each) => total + each[key], 0);
  const most = (key: 'findings' | 'states'): number => Math.max(...all.map((each) => each[key]));
  const coverage = {
    faults: added(all.map((each) => each.coverage.faults)),
    calm: all.reduce((total, each) => total + each.coverage.calm, 0),
    broken: brokenIn(all.map((each) => each.coverage.broken)),
  };
  return {
    ...(all.at(-1) as ExploreProgress),
    ...{ of, coverage },
    worlds: sum('worlds'),
    perSecond: sum('perSecond'),
    findings: most('findings'),
    states: most('states'),
    struck: Object.values(coverage.faults).filter((count) => count > 0).length,
  };
}
