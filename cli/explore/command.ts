/** `npx lostlock explore FILE`: explores what a file describes, on several processes, and writes reports. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defined } from '../../base/defined.ts';
import { captured } from '../../explore/capture.ts';
import { Explorer, type ProgressWatch } from '../../explore/explorer.ts';
import {
  type ExploreOptions,
  type ExploreProgress,
  type ExploreReport,
  explore,
  type Finding,
  mergeReports,
  type ReportData,
  replay,
} from '../../explore/index.ts';
import { corpusOf } from '../../explore/kept-plans.ts';
import { codeOfFile, loadedOptions } from '../../explore/modules/client-file.ts';
import { loadsAnew } from '../../explore/modules/fresh.ts';
import { loadedAs, sharedText } from '../../explore/options.ts';
import { reportText } from '../../explore/report-text.ts';
import { seeText } from '../../explore/story/text.ts';
import { startWatchdog } from '../../explore/watchdog.ts';
import { checkTimelineFile } from '../../lab/timeline/write.ts';
import { isDebugged, isNode } from '../../start/running/runtime.ts';
import { prepareOutput, refusalIn, UsageError } from '../usage.ts';
import { type Chosen, chosenFrom, HELP } from './arguments.ts';
import { comparedLines, keepLast, lastLines, lastReports, readReports } from './earlier.ts';
import { annotations, historyLines, junit, testFile } from './files.ts';
import { type FindingFiles, indexPage, type ToldReport } from './index-page.ts';
import { markdown } from './markdown.ts';
import { Screen } from './screen.ts';
import { aboutTypeScript, isUnderTsx, NeedsTsx } from './typescript.ts';
import { MODULES_FLAG, NEWS, onWorkers, type WorkerNews, type WorkerTask } from './workers.ts';

/**
 * Runs the command. Returns the exit status: 0, 1 when a promise is broken, 2 for wrong usage or a file that cannot be loaded, or 3 when
 * a report is inconclusive.
 */
export async function exploreCommand(argv: readonly string[]): Promise<number> {
  const isSecond = process.env.LOSTLOCK_EXPLORE_MAIN !== undefined;
  const orphaned = (): never => process.exit(1);
  // Without the process that started it, nobody would hear its result.
  if (isSecond) process.once('disconnect', orphaned);
  try {
    const chosen = chosenFrom(argv);
    if (chosen === undefined) {
      process.stdout.write(HELP);
      return 0;
    }
    const plays = chosen.values.replay !== undefined || chosen.values.out !== undefined;
    if (plays && isNode && !loadsAnew() && !isUnderTsx() && !isDebugged()) return await inOwnProcess();
    return await run(chosen);
  } catch (error) {
    if (error instanceof NeedsTsx) return await inOwnProcess(error.flags, error.env);
    const refusal = refusalIn(error);
    if (refusal === undefined) throw error;
    process.stderr.write(`${refusal}\n`);
    return 2;
  } finally {
    process.off('disconnect', orphaned);
    if (isSecond && process.connected) process.disconnect();
  }
}

async function run(chosen: Chosen): Promise<number> {
  const explorations = chosen.file === '' ? [] : await load(chosen.file);
  prepareOutputs(chosen);
  // A file that is no report is refused before anything is played.
  if (chosen.values.against !== undefined) readReports('--against', String(chosen.values.against));
  if (chosen.merge !== undefined) return await conclude(chosen, mergedFrom(chosen.merge), explorations);
  if (chosen.values.replay !== undefined) return await playAgain(chosen, explorations);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const screen = new Screen(process.stderr, chosen.values.progress === true);
  const show = (progress: ExploreProgress): void => screen.show(progress);
  const reports: ExploreReport[] = [];
  const refusals: string[] = [];
  const last = chosen.values.last === true ? lastReports(chosen.file) : [];
  for (const [at, options] of explorations.entries()) {
    const own = { ...withChoices(options, chosen), signal: stop.signal };
    // A debugger shows this process only.
    const isHere = chosen.workers === 1 && isDebugged();
    try {
      for (const line of await lastLines(own, last)) process.stdout.write(`${line}\n`);
      reports.push(
        isHere
          ? await explore({ ...own, shard: chosen.shard, progress: show })
          : await onWorkers(own, chosen, at, stop.signal, show),
      );
    } catch (error) {
      // One exploration that cannot be played must not cost the reports of the others.
      const refusal = refusalIn(error);
      if (refusal === undefined && reports.length === 0) throw error;
      refusals.push(refusal ?? String(error));
    }
  }
  screen.clear();
  keepLast(chosen.file, reports);
  const status = reports.length === 0 ? 0 : await conclude(chosen, reports, explorations);
  for (const refusal of refusals) process.stderr.write(`${refusal}\n`);
  return refusals.length > 0 ? 2 : status;
}

/** Makes the folders of what the command writes. Throws UsageError when it cannot be written. */
function prepareOutputs({ values: { json, junit, out } }: Chosen): void {
  if (json !== undefined) prepareOutput('--json', String(json));
  if (junit !== undefined) prepareOutput('--junit', String(junit));
  if (out !== undefined) prepareOutput('--out', String(out), 'folder');
}

/** Runs this command again in a process that can load modules anew, as the workers can. Resolves to its exit status. */
async function inOwnProcess(
  flags: readonly string[] = [MODULES_FLAG],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const execArgv = [...flags, ...process.execArgv];
  const child = fork(process.argv[1] as string, process.argv.slice(2), {
    execArgv,
    env: { ...process.env, ...env, LOSTLOCK_EXPLORE_MAIN: '1' },
  });
  // In a terminal, Ctrl-C reaches the other process too, which reports.
  process.on('SIGINT', () => {});
  const [status] = (await once(child, 'exit')) as [number | null];
  return status ?? 2;
}

/** The explorations that a file exports: objects with `name` and `client`, and arrays of them. */
async function load(file: string): Promise<ExploreOptions[]> {
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}`);
  const { importModule } = await import('../../start/running/import-module.ts');
  const exported = await importModule(pathToFileURL(resolve(file)).href).catch((error: unknown) => {
    throw aboutTypeScript(file, error) ?? new UsageError(`${file} cannot be loaded: ${stackOfUser(error)}`);
  });
  const found = explorationsIn(exported as object);
  if (found.length === 0)
    throw new UsageError(`${file} exports no exploration: an object with name and client`);
  // The process that starts the others runs no code of a client.
  if (isUnderTsx()) for (const { client } of found) loadedAs.set(client, sharedText('tsx loads them'));
  if (!loadsAnew() || isUnderTsx()) return found;
  const codeOf = async (options: ExploreOptions, at: number): Promise<ExploreOptions> => {
    if (options.client instanceof URL) return options;
    const find = (again: object): unknown => explorationsIn(again)[at]?.client;
    return { ...options, client: await codeOfFile(resolve(file), find, options.modules) };
  };
  return await Promise.all(found.map(codeOf));
}

/** The stack of an error without the lines of Node's own loader. */
function stackOfUser(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = (error.stack ?? error.message).split('\n');
  return lines.filter((line) => !/^\s+at .*\bnode:internal\//.test(line)).join('\n');
}

function explorationsIn(exported: object): ExploreOptions[] {
  const { default: whole } = exported as { default?: object };
  // What a CommonJS module exports stands in its default.
  const values = [
    ...Object.values(exported),
    ...Object.values(typeof whole === 'object' ? (whole ?? {}) : {}),
  ];
  const all = [...new Set(values.flat())] as Partial<ExploreOptions>[];
  return all.filter(
    (each): each is ExploreOptions =>
      (typeof each?.client === 'function' || each?.client instanceof URL) && typeof each.name === 'string',
  );
}

/** The merged reports of the files, one for each exploration. Throws UsageError for a file that has no report. */
function mergedFrom(files: readonly string[]): ExploreReport[] {
  const reports = files.flatMap((file) => readReports('--merge', file));
  const names = [...new Set(reports.map(({ name }) => name))];
  return names.map((name) => {
    try {
      const merged = mergeReports(reports.filter((report) => report.name === name));
      const { index, of } = merged.asked.shard;
      if (of > 1) throw new RangeError(`${name}: this is shard ${index} of ${of}; the others are missing`);
      return merged;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError(`--merge: ${error.message}`);
    }
  });
}

/** Plays one world again, of the exploration whose trace it has. */
async function playAgain(chosen: Chosen, explorations: readonly ExploreOptions[]): Promise<number> {
  const { values } = chosen;
  const text = String(values.replay);
  const on = values.on === undefined ? {} : { on: String(values.on) };
  const page = values.timeline === undefined ? undefined : String(values.timeline);
  if (page !== undefined) {
    checkTimelineFile('--timeline', page);
    prepareOutput('--timeline', page);
  }
  const troubles: string[] = [];
  for (const options of explorations) {
    try {
      const played = await replay(withChoices(options, chosen), text, on);
      const { story, breaches } = played;
      process.stdout.write(`${story}\n`);
      if (page !== undefined) {
        await played.timeline(page);
        process.stdout.write(`timeline: ${page}\n`);
      }
      return breaches.length > 0 ? 1 : 0;
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal === undefined) throw error;
      troubles.push(`${options.name}: ${refusal}`);
    }
  }
  throw new UsageError(troubles.join('\n'));
}

function withChoices(
  options: ExploreOptions,
  { worlds, ms, seed, exhaustive, accept, values }: Chosen,
): ExploreOptions {
  const budget = {
    ...options.budget,
    ...defined({ worlds, ms }),
  };
  return {
    ...options,
    ...(accept.length > 0 && { accept: [...(options.accept ?? []), ...accept] }),
    budget,
    ...defined({ seed, exhaustive }),
    ...(values['stop-at-first'] === true && { stopAtFirst: true }),
    ...(values.corpus !== undefined && { corpus: String(values.corpus) }),
  };
}

/** Milliseconds between two messages of a worker about its progress. */
const EACH_CHANGE = 100;

/** The status of a process that Ctrl-C has ended, as shells have it. */
const ENDED_BY_SIGINT = 130;

/** Runs as one of the processes of `--workers`: explores its part, and sends its report. */
export function exploreAsWorker(): void {
  const stop = new AbortController();
  let isLoaded = false;
  // Until then there is nothing to report, and the file may take long to load.
  const end = (): void => (isLoaded ? stop.abort() : process.exit(ENDED_BY_SIGINT));
  // Ctrl-C in a terminal reaches the workers too: they end with a report, as the process that started them asks them to.
  process.on('SIGINT', end);
  // Without that process, nobody would ever stop the worker.
  const orphaned = (): never => process.exit(1);
  process.once('disconnect', orphaned);
  const send = (news: WorkerNews): void => void process.send?.(news);
  let last = -Infinity;
  let soFar: () => ReportData;
  const watch: ProgressWatch = {
    playing: (playing) => send({ playing }),
    played: (report) => {
      soFar = report;
    },
  };
  const progress = (news: ExploreProgress): void => {
    if (performance.now() - last < EACH_CHANGE) return;
    last = performance.now();
    send({ progress: news, soFar: { ...soFar() } });
  };
  process.on('message', async ({ chosen, at }: WorkerTask & string) => {
    if (chosen === undefined) return end();
    try {
      const options = (await load(chosen.file))[at] as ExploreOptions;
      isLoaded = true;
      const own = { ...withChoices(options, chosen), shard: chosen.shard, signal: stop.signal, progress };
      const full = await loadedOptions(own);
      startWatchdog(full.budget.ms, NEWS);
      const corpus = corpusOf(full);
      const report = await captured((output) => new Explorer(full, output, watch, corpus).explore());
      send({ report: { ...report } });
    } catch (error) {
      const refused = refusalIn(error);
      if (refused === undefined) throw error;
      send({ refused });
    }
    process.off('disconnect', orphaned);
    process.disconnect();
  });
}

/** Prints and writes the reports. */
async function conclude(
  chosen: Chosen,
  reports: readonly ExploreReport[],
  explorations: readonly ExploreOptions[],
): Promise<number> {
  const { file, values } = chosen;
  const width = process.stdout.isTTY ? Math.max(20, process.stdout.columns - 1) : 100;
  for (const report of reports)
    process.stdout.write(`${reportText(report, width, file === '' ? undefined : file)}\n\n`);
  if (values.against !== undefined) {
    const earlier = String(values.against);
    const lines = comparedLines(reports, readReports('--against', earlier));
    process.stdout.write(`against ${earlier}:\n${lines.join('\n')}\n\n`);
  }
  if (values.json !== undefined)
    writeFileSync(String(values.json), `${JSON.stringify(reports, undefined, 2)}\n`);
  if (values.junit !== undefined) writeFileSync(String(values.junit), junit(reports));
  const out = values.out === undefined ? undefined : String(values.out);
  const told = out === undefined ? [] : await writeFolder(out, chosen, reports, explorations);
  if (values.github === true || process.env.GITHUB_ACTIONS !== undefined) {
    const pages = told.map(({ files }) =>
      files.map(({ timeline }) => (timeline === undefined ? undefined : join(out ?? '', timeline))),
    );
    process.stdout.write(annotations(file, reports, pages));
    const { GITHUB_STEP_SUMMARY: summary = '' } = process.env;
    if (summary !== '') appendFileSync(summary, markdown(reports));
  }
  if (out === undefined && file !== '') process.stdout.write(nextText(file, reports));
  if (reports.some(({ verdict }) => verdict === 'broken')) return 1;
  return reports.some(({ verdict }) => verdict === 'inconclusive') ? 3 : 0;
}

/** What to type after a finding; empty when there is none. */
function nextText(file: string, reports: readonly ExploreReport[]): string {
  const first = reports.flatMap(({ findings }) => findings).find(({ replay: text }) => text !== '');
  if (first === undefined) return '';
  const again = `npx lostlock explore ${file}`;
  return [
    `draw the first one:       ${again} --replay '${first.replay}' --timeline world.html`,
    `play them after a change: ${again} --last`,
    'read them:                npx lostlock help failures',
    '',
  ].join('\n');
}

/** Writes what was found into a folder: a page with all of it, and for each finding its files. */
async function writeFolder(
  out: string,
  chosen: Chosen,
  reports: readonly ExploreReport[],
  explorations: readonly ExploreOptions[],
): Promise<readonly ToldReport[]> {
  const folder = join(out, 'findings');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const told: ToldReport[] = [];
  for (const report of reports) {
    const found = explorations.find(({ name }) => name === report.name);
    const options = found && withChoices(found, chosen);
    told.push({ report, files: await writeFindings(folder, chosen, report, options) });
  }
  const page = join(out, 'index.html');
  writeFileSync(page, indexPage(told));
  process.stdout.write(`Written to ${page}\n`);
  return told;
}

/** Writes the files of each finding, and returns their names without endings. */
async function writeFindings(
  folder: string,
  { file, runner }: Chosen,
  report: ExploreReport,
  options: ExploreOptions | undefined,
): Promise<FindingFiles[]> {
  const written: FindingFiles[] = [];
  for (const [i, finding] of report.findings.entries()) {
    const { promise, cause, story, replay: text } = finding;
    const parts = [
      basename(file).replace(/\..*$/, ''),
      plainName(report.name),
      i + 1,
      promise,
      plainName(cause),
    ];
    const name = parts.filter((part) => part !== '').join('-');
    const base = join(folder, name);
    writeFileSync(`${base}.txt`, `${story}\n${seeText(text, file)}\n`);
    const files: Record<keyof FindingFiles, string | undefined> = { test: undefined, timeline: undefined };
    if (options !== undefined && text !== '') {
      const path = relative(dirname(base), file).replaceAll('\\', '/');
      const kind = extname(file).endsWith('ts') ? '.ts' : extname(file).replace('.cjs', '.mjs');
      const test = testFile(runner, path.startsWith('.') ? path : `./${path}`, report.name, finding);
      writeFileSync(`${base}.test${kind}`, test);
      files.test = `findings/${name}.test${kind}`;
      // A world that ended its process would end this one too.
      if (finding.events.length > 0 && (await writeHistory(base, report.name, finding, options)))
        files.timeline = `findings/${name}.html`;
    }
    written.push(files);
  }
  return written;
}

/** A text as a part of a file's name. */
function plainName(text: string): string {
  return text
    .replace(/[^\w-]+/g, '-')
    .replace(/-+$/, '')
    .slice(0, 60);
}

/** Writes the history of a finding, and its timeline. Returns false when its world cannot be played. */
async function writeHistory(
  base: string,
  name: string,
  finding: Finding,
  options: ExploreOptions,
): Promise<boolean> {
  try {
    const played = await replay(options, finding.replay);
    writeFileSync(`${base}.jsonl`, historyLines(name, finding, played.history));
    await played.timeline(`${base}.html`);
    return true;
  } catch (error) {
    process.stderr.write(`${base}: no history and no timeline: ${(error as Error).message}\n`);
    return false;
  }
}
