/** The processes of `--workers`: each explores its part of the worlds, and reports its progress. */
import { type ChildProcess, fork } from 'node:child_process';
import { isNode } from '../../embed/running/runtime.ts';
import { type ExploreOptions, type ExploreProgress, fullOptions } from '../options.ts';
import { type ExploreReport, mergeReports, type ReportData } from '../report.ts';
import { type Chosen, WrongUsage } from './arguments.ts';

/** What a worker gets. */
export interface WorkerTask {
  readonly chosen: Chosen;
  /** Which of the file's explorations it plays. */
  readonly at: number;
}

/** What a worker sends. */
export type WorkerNews =
  | { readonly progress: ExploreProgress }
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

/** Shares the worlds among processes, and merges their reports. Rejects with WrongUsage for what `explore` refuses. */
export async function onWorkers(
  options: ExploreOptions,
  chosen: Chosen,
  at: number,
  signal: AbortSignal,
  show: (progress: ExploreProgress) => void,
): Promise<ExploreReport> {
  const { shard } = chosen;
  const total = fullOptions(options).budget.worlds;
  const workers = Math.min(chosen.workers, total);
  const latest = new Map<number, ExploreProgress>();
  const children: ChildProcess[] = [];
  const reports = Array.from({ length: workers }, (_, i) => {
    const part = { index: (shard.index - 1) * workers + i + 1, of: shard.of * workers };
    const child = fork(process.argv[1] as string, ['explore', chosen.file], {
      env: { ...process.env, LOSTLOCK_EXPLORE_WORKER: '1' },
      execArgv: [...worldFlags(process.env.NODE_OPTIONS), ...process.execArgv],
    });
    children.push(child);
    const worlds = Number.isFinite(total) ? Math.floor((total + i) / workers) : undefined;
    const own = { ...chosen, shard: part, worlds, workers: 1 };
    child.send({ chosen: own, at } satisfies WorkerTask);
    return new Promise<ReportData>((done, fail) => {
      child.on('message', (news: WorkerNews) => {
        if ('report' in news) return done(news.report);
        if ('refused' in news) return fail(new WrongUsage(news.refused));
        latest.set(i, news.progress);
        show(together([...latest.values()], total));
      });
      child.once('exit', (status) => fail(new Error(`a worker ended with status ${status}`)));
    });
  });
  const stop = (): void => {
    for (const child of children) if (child.connected) child.send('stop');
  };
  // After Ctrl-C, the explorations of the file that are left end at once as well.
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  try {
    return mergeReports(await Promise.all(reports));
  } catch (error) {
    for (const child of children) child.kill();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The progress of all workers. They may have found the same: the most that one of them has found counts. */
function together(all: readonly ExploreProgress[], of: number): ExploreProgress {
  const sum = (key: 'worlds' | 'perSecond'): number => all.reduce((total, each) => total + each[key], 0);
  const most = (key: 'findings' | 'states' | 'struck'): number => Math.max(...all.map((each) => each[key]));
  return {
    ...(all.at(-1) as ExploreProgress),
    of,
    worlds: sum('worlds'),
    perSecond: sum('perSecond'),
    findings: most('findings'),
    states: most('states'),
    struck: most('struck'),
  };
}
