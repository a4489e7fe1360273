/** `npx lostlock explore FILE`: explores what a file describes, on several processes, and writes reports. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type ExploreOptions,
  type ExploreReport,
  explore,
  mergeReports,
  type ReportData,
  replay,
} from '../index.ts';
import { annotations, historyLines, junit, progressLine, type TestRunner, testFile } from './files.ts';

const HELP = `Usage: lostlock explore FILE [options]

Explores each exploration that FILE exports (objects with the options of explore()), and prints the stories of what breaks.
  --worlds N        how many worlds to play (default: the file's budget)
  --ms N            how many milliseconds to take
  --seed N          decides everything random
  --workers N       processes to use (default 1); each plays its part of the worlds
  --shard I/N       play the I-th of N parts, for several machines
  --merge FILES     print the report of several --json files, separated by commas, instead of exploring
  --replay TEXT     play one world again, and print its story
  --out FOLDER      write stories, test files and histories there
  --runner NAME     what the test files are for: vitest (default), jest or node
  --json FILE       write the report as JSON
  --junit FILE      write the report as JUnit XML
  --github          print annotations for GitHub Actions (default: when GITHUB_ACTIONS is set)
Ctrl-C ends the exploration, and reports what there is. The exit status is 1 when a promise is broken.
`;

/** The command's options. */
interface Chosen {
  readonly file: string;
  readonly worlds: number | undefined;
  readonly ms: number | undefined;
  readonly seed: number | undefined;
  readonly workers: number;
  readonly shard: { readonly index: number; readonly of: number };
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

class WrongUsage extends Error {}

/** Runs the command. Returns the exit status: 0, or 1 when a promise is broken, or 2 for wrong usage. */
export async function exploreCommand(argv: readonly string[]): Promise<number> {
  try {
    const chosen = chosenFrom(argv);
    if (chosen === undefined) {
      process.stdout.write(HELP);
      return 0;
    }
    return await run(chosen);
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

function chosenFrom(argv: readonly string[]): Chosen | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    ...{
      worlds: text,
      ms: text,
      seed: text,
      workers: text,
      shard: text,
      merge: text,
      replay: text,
      out: text,
    },
    ...{ runner: text, json: text, junit: text, github: flag, help: flag },
  } as const;
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    throw new WrongUsage((error as Error).message);
  }
  const values = parsed.values as Chosen['values'];
  const [file = ''] = parsed.positionals;
  if (values.help === true || (file === '' && values.merge === undefined)) return undefined;
  const [index = 0, of = 0] = /^\d+\/\d+$/.test(String(values.shard ?? '1/1'))
    ? String(values.shard ?? '1/1')
        .split('/')
        .map(Number)
    : [];
  if (index < 1 || index > of)
    throw new WrongUsage(`--shard ${values.shard}: allowed is I/N, with I from 1 to N`);
  if (!RUNNERS.includes(String(values.runner ?? 'vitest')))
    throw new WrongUsage(`--runner ${values.runner}: allowed are ${RUNNERS.join(', ')}`);
  const workers = numberOf(values, 'workers') ?? 1;
  return {
    file,
    worlds: numberOf(values, 'worlds'),
    ms: numberOf(values, 'ms'),
    seed: numberOf(values, 'seed'),
    workers,
    shard: { index, of },
    values,
  };
}

const RUNNERS: readonly string[] = ['vitest', 'jest', 'node'] satisfies TestRunner[];

function numberOf(values: Chosen['values'], name: string): number | undefined {
  const value = values[name];
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(String(value)))
    throw new WrongUsage(`--${name} ${value}: allowed are whole numbers from 1`);
  return Number(value);
}

async function run(chosen: Chosen): Promise<number> {
  const { values } = chosen;
  if (values.merge !== undefined) {
    const reports = String(values.merge)
      .split(',')
      .map((path) => JSON.parse(readFileSync(path, 'utf8')) as ReportData[]);
    const names = reports[0]?.map(({ name }) => name) ?? [];
    return conclude(
      chosen,
      names.map((name) =>
        mergeReports(reports.flatMap((all) => all.filter((report) => report.name === name))),
      ),
      [],
    );
  }
  const explorations = await load(chosen.file);
  if (values.replay !== undefined) {
    for (const options of explorations)
      process.stdout.write(`${(await replay(options, String(values.replay))).story}\n`);
    return 0;
  }
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const reports: ExploreReport[] = [];
  for (const [at, options] of explorations.entries()) {
    const own = { ...withChoices(options, chosen), signal: stop.signal };
    reports.push(
      chosen.workers > 1
        ? await onWorkers(own, chosen, at, stop.signal)
        : await explore({ ...own, shard: chosen.shard, progress: show }),
    );
  }
  clearLine();
  return conclude(chosen, reports, explorations);
}

/** The explorations that a file exports: objects with `name` and `client`, and arrays of them. */
async function load(file: string): Promise<ExploreOptions[]> {
  const exported = (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>;
  const all = [...new Set(Object.values(exported).flat())] as Partial<ExploreOptions>[];
  const found = all.filter(
    (each): each is ExploreOptions => typeof each?.client === 'function' && typeof each.name === 'string',
  );
  if (found.length === 0)
    throw new WrongUsage(`${file} exports no exploration: an object with name and client`);
  return found;
}

function withChoices(options: ExploreOptions, { worlds, ms, seed }: Chosen): ExploreOptions {
  const budget = {
    ...options.budget,
    ...(worlds !== undefined && { worlds }),
    ...(ms !== undefined && { ms }),
  };
  return { ...options, budget, ...(seed !== undefined && { seed }) };
}

/** What a worker gets and sends back. */
interface WorkerTask {
  readonly chosen: Chosen;
  readonly at: number;
}

/** Shares the worlds among processes, and merges their reports. */
async function onWorkers(
  options: ExploreOptions,
  chosen: Chosen,
  at: number,
  signal: AbortSignal,
): Promise<ExploreReport> {
  const { workers, shard } = chosen;
  const worlds = Math.ceil((options.budget?.worlds ?? 5000) / workers);
  const children: ChildProcess[] = [];
  const reports = Array.from({ length: workers }, (_, i) => {
    const part = { index: (shard.index - 1) * workers + i + 1, of: shard.of * workers };
    const child = fork(process.argv[1] as string, ['explore', chosen.file], {
      env: { ...process.env, LOSTLOCK_EXPLORE_WORKER: '1' },
    });
    children.push(child);
    child.send({ chosen: { ...chosen, shard: part, worlds, workers: 1 }, at } satisfies WorkerTask);
    return new Promise<ReportData>((done, fail) => {
      child.once('message', (report) => done(report as ReportData));
      child.once('exit', (status) => fail(new Error(`a worker ended with status ${status}`)));
    });
  });
  signal.addEventListener('abort', () => {
    for (const child of children) if (child.connected) child.send('stop');
  });
  return mergeReports(await Promise.all(reports));
}

/** Runs as one of the processes of `--workers`: explores its part, and sends its report. */
export function exploreAsWorker(): void {
  const stop = new AbortController();
  process.on('SIGINT', () => stop.abort());
  process.on('message', async (message: WorkerTask | 'stop') => {
    if (message === 'stop') return stop.abort();
    const options = (await load(message.chosen.file))[message.at] as ExploreOptions;
    const report = await explore({
      ...withChoices(options, message.chosen),
      shard: message.chosen.shard,
      signal: stop.signal,
    });
    process.send?.({ ...report }, () => process.disconnect());
  });
}

function show(progress: Parameters<NonNullable<ExploreOptions['progress']>>[0]): void {
  if (process.stderr.isTTY && progress.worlds % 10 === 0) process.stderr.write(`\r${progressLine(progress)}`);
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

/** Prints and writes the reports. */
async function conclude(
  { file, values }: Chosen,
  reports: readonly ExploreReport[],
  explorations: readonly ExploreOptions[],
): Promise<number> {
  for (const report of reports) process.stdout.write(`${report}\n\n`);
  if (values.json !== undefined)
    writeFileSync(String(values.json), `${JSON.stringify(reports, undefined, 2)}\n`);
  if (values.junit !== undefined) writeFileSync(String(values.junit), junit(reports));
  if (values.github === true || process.env.GITHUB_ACTIONS !== undefined)
    process.stdout.write(annotations(file, reports));
  if (values.out !== undefined) {
    const folder = String(values.out);
    rmSync(join(folder, 'findings'), { recursive: true, force: true });
    mkdirSync(join(folder, 'findings'), { recursive: true });
    for (const [at, report] of reports.entries())
      await writeFindings(folder, file, report, explorations[at], (values.runner ?? 'vitest') as TestRunner);
  }
  return reports.some(({ findings }) => findings.length > 0) ? 1 : 0;
}

async function writeFindings(
  folder: string,
  file: string,
  report: ExploreReport,
  options: ExploreOptions | undefined,
  runner: TestRunner,
): Promise<void> {
  for (const [i, finding] of report.findings.entries()) {
    const base = join(
      folder,
      'findings',
      `${basename(file).replace(/\..*$/, '')}-${i + 1}-${finding.promise}`,
    );
    writeFileSync(`${base}.txt`, `${finding.story}\nreplay: ${finding.replay}\n`);
    if (options === undefined || finding.replay === '') continue;
    writeFileSync(`${base}.test.ts`, testFile(runner, file, report.name, finding));
    writeFileSync(
      `${base}.jsonl`,
      historyLines(report.name, finding, (await replay(options, finding.replay)).history),
    );
  }
}
