/** `npx lostlock explore --clients 3 -- python worker.py`: explores a program, whose processes are the clients. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../base/defined.ts';
import type { FaultName } from '../../explore/faults/index.ts';
import { sorted } from '../../explore/findings.ts';
import { judge } from '../../explore/judge.ts';
import { decodePlan } from '../../explore/plan.ts';
import { ProgramExplorer } from '../../explore/programs/explorer.ts';
import {
  type FullProgramOptions,
  fullProgramOptions,
  type ProgramOptions,
  type ProgramProgress,
} from '../../explore/programs/options.ts';
import type { PromiseName } from '../../explore/promises/index.ts';
import type { ExploreReport } from '../../explore/report.ts';
import { reportText } from '../../explore/report-text.ts';
import { storyOf } from '../../explore/story/story.ts';
import { playedTimeline } from '../../explore/timeline/played.ts';
import { checkTimelineFile, writeTimeline } from '../../lab/timeline/write.ts';
import { parseOptions, prepareOutput, refusalIn, UsageError } from '../usage.ts';
import { annotations, junit } from './files.ts';
import { markdown } from './markdown.ts';

/** What `explore --help` says about programs. */
const PROGRAM_HELP = `
       lostlock explore [options] -- PROGRAM [ARGUMENT...]

Starts PROGRAM once for each client, and explores it in real time: its processes take part by the protocol of
docs/programs.md, in any language. Beside --worlds, --ms, --seed, --accept, --replay, --timeline, --json, --junit,
--github and --progress:
  --clients N       how many clients, or their names separated by commas (default 3)
  --name TEXT       what is explored, for reports (default: the program's command)
  --faults A,B,...  the faults that may strike (default: all that can strike a process)
  --promises A,...  the promises to check (default: all that docs/explore.md marks)
  --replicas N      replicas of each primary (default 1, or 0 with several primaries)
  --primaries N     independent primaries (default 1)
  --on PROGRAM      real servers in place of lostlock's nodes: redis-server, or the path of one (needs ioredis)
  --lease N         the lease that the program is told to use, in milliseconds (default 300)
  --side-by-side N  worlds at a time at most (default 16; fewer while the machine does not keep up)
  --stop-at-first   end with the first finding that repeats
  --fresh           start new processes for every world
  --threads         the clients are threads of one process, which asks for several worlds
  --attach          print the URL at which a running program may ask for worlds, and start none
  --judge A,B,...   promises that another process judges: print the URL at which it asks for histories
  --exit-with-parent  end when standard input ends
`;

const TEXTS = [
  ...[
    'clients',
    'name',
    'faults',
    'promises',
    'replicas',
    'primaries',
    'lease',
    'on',
    'side-by-side',
    'worlds',
    'ms',
  ],
  ...['judge', 'seed', 'accept', 'replay', 'timeline', 'json', 'junit', 'out'],
] as const;
const FLAGS = [
  ...['fresh', 'threads', 'attach', 'stop-at-first', 'exit-with-parent', 'github', 'progress', 'help'],
] as const;

type Values = Readonly<
  Partial<Record<(typeof TEXTS)[number], string> & Record<(typeof FLAGS)[number], boolean>>
>;

/** Milliseconds between two lines of progress. */
const EACH_LINE = 1000;

/** Runs the command. Returns the exit status, as `lostlock explore FILE` does. */
export async function exploreProgram(argv: readonly string[]): Promise<number> {
  try {
    const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
    const values = parseOptions(argv.slice(0, end), {
      options: Object.fromEntries([
        ...TEXTS.map((name) => [name, { type: 'string' as const }]),
        ...FLAGS.map((name) => [name, { type: 'boolean' as const }]),
      ]),
    }).values as Values;
    if (values.help === true) {
      process.stdout.write(PROGRAM_HELP.trimStart());
      return 0;
    }
    return await run(values, argv.slice(end + 1));
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal === undefined) throw error;
    process.stderr.write(`${refusal}\n`);
    return 2;
  }
}

async function run(values: Values, program: readonly string[]): Promise<number> {
  const { json, junit: xml, out, timeline: page } = values;
  if (json !== undefined) prepareOutput('--json', json);
  if (xml !== undefined) prepareOutput('--junit', xml);
  if (out !== undefined) prepareOutput('--out', out, 'folder');
  if (page !== undefined) prepareOutput('--timeline', page);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  for (const sign of ['SIGINT', 'SIGTERM'] as const) process.on(sign, end);
  if (values['exit-with-parent'] === true) process.stdin.on('end', end).on('close', end).resume();
  const told = { at: -Infinity };
  const progress = (news: ProgramProgress): void => {
    if (performance.now() - told.at < EACH_LINE || !(values.progress === true || process.stderr.isTTY))
      return;
    told.at = performance.now();
    process.stderr.write(`${progressText(news)}\n`);
  };
  try {
    const options = fullProgramOptions({ ...optionsOf(values, program), signal: stop.signal, progress });
    if (values.replay !== undefined) return await replayed(values, options);
    const report = await new ProgramExplorer(options).explore();
    return await conclude(report, values, program);
  } finally {
    for (const sign of ['SIGINT', 'SIGTERM'] as const) process.off(sign, end);
    process.stdin.pause();
  }
}

/** How far the exploration is, on one line. */
function progressText({
  name,
  worlds,
  findings,
  perSecond,
  discarded,
  missed,
  sideBySide,
  cpuMs,
}: ProgramProgress): string {
  const cpu = cpuMs === undefined ? '' : `, ${cpuMs} ms of CPU each`;
  return (
    `${name}: ${worlds} worlds (${perSecond.toFixed(1)} a second in which the fault struck, ${missed} without, ` +
    `${discarded} discarded${cpu}, ${sideBySide} side by side), ${findings} found`
  );
}

function numberOf(values: Values, name: (typeof TEXTS)[number]): number | undefined {
  const value = values[name];
  if (value === undefined) return undefined;
  if (!/^(0|[1-9]\d{0,14})$/.test(value)) throw new UsageError(`--${name} ${value}: must be a whole number`);
  return Number(value);
}

/** The options that the flags name. Throws UsageError for a wrong one. */
function optionsOf(values: Values, program: readonly string[]): ProgramOptions {
  const { clients, faults, promises, accept, name, fresh, threads, attach, on } = values;
  if (program.length === 0 && attach !== true) throw new UsageError('explore needs a program behind --');
  if (program.length > 0 && attach === true) throw new UsageError('--attach starts no program');
  const list = <T extends string>(text: string | undefined): T[] | undefined =>
    text?.split(',') as T[] | undefined;
  const count = clients !== undefined && /^\d+$/.test(clients) ? Number(clients) : list<string>(clients);
  const topology = defined({
    replicas: numberOf(values, 'replicas'),
    primaries: numberOf(values, 'primaries'),
  });
  const budget = defined({ worlds: numberOf(values, 'worlds'), ms: numberOf(values, 'ms') });
  const judged = list<string>(values.judge);
  if (judged !== undefined && values.replay !== undefined)
    throw new UsageError(
      '--judge has no value together with --replay: worlds that are played again are judged here',
    );
  const judge = (url: string): void => void process.stdout.write(`LOSTLOCK_JUDGE=${url}\n`);
  const announce = (url: string): void => void process.stdout.write(`LOSTLOCK_LAB=${url}\n`);
  return {
    program,
    topology,
    budget,
    ...(judged !== undefined && { judged, judge }),
    ...defined({
      ...{ name, on, fresh, threads, clients: count, accept: list<string>(accept) },
      ...{ faults: list<FaultName>(faults), promises: list<PromiseName>(promises) },
      ...{ seed: numberOf(values, 'seed'), lease: numberOf(values, 'lease') },
      stopAtFirst: values['stop-at-first'],
      ...{ sideBySide: numberOf(values, 'side-by-side'), attached: attach === true ? announce : undefined },
    }),
  };
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command line that plays a world again. */
function again(values: Values, program: readonly string[], replay: string): string {
  const kept = Object.entries(values).flatMap(([name, value]) => {
    if (!['clients', 'faults', 'promises', 'replicas', 'primaries', 'lease', 'on', 'threads'].includes(name))
      return [];
    return [value === true ? `--${name}` : `--${name} ${quoted(String(value))}`];
  });
  const words = [...kept, `--replay '${replay}'`, '--timeline world.html', '--', ...program.map(quoted)];
  return `lostlock explore ${words.join(' ')}`;
}

async function conclude(report: ExploreReport, values: Values, program: readonly string[]): Promise<number> {
  const width = process.stdout.isTTY ? Math.max(20, process.stdout.columns - 1) : 100;
  const see = (replay: string): string => `replay: ${replay}\nsee it: ${again(values, program, replay)}`;
  process.stdout.write(`${reportText(report, width, see)}\n`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify([report], undefined, 2)}\n`);
  if (values.junit !== undefined) writeFileSync(values.junit, junit([report]));
  if (values.github === true || process.env.GITHUB_ACTIONS !== undefined) {
    process.stdout.write(annotations(program.join(' '), [report]));
    const { GITHUB_STEP_SUMMARY: summary = '' } = process.env;
    if (summary !== '') appendFileSync(summary, markdown([report]));
  }
  if (values.out !== undefined) writeStories(values.out, report, see);
  return { broken: 1, inconclusive: 3, clean: 0 }[report.verdict];
}

/** Writes the story of each finding to a file of its own. */
function writeStories(out: string, report: ExploreReport, see: (replay: string) => string): void {
  const folder = join(out, 'findings');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [i, { story, promise, replay }] of report.findings.entries())
    writeFileSync(join(folder, `${i + 1}-${promise}.txt`), `${story}\n${see(replay)}\n`);
  process.stdout.write(`Written to ${folder}\n`);
}

/** Plays one world again. */
async function replayed(values: Values, options: FullProgramOptions): Promise<number> {
  const text = String(values.replay);
  const decoded = decodePlan(text);
  if (decoded === undefined)
    throw new UsageError(`--replay ${text}: must be the text of a finding, such as 2:1:0:A,B::000000000000`);
  if (values.timeline !== undefined) checkTimelineFile('--timeline', values.timeline);
  const { world, stalled } = await new ProgramExplorer(options).replay(decoded.plan);
  const { full } = options;
  const [breach] = sorted(world, judge(world, full.promises, full.own), full.accept).others;
  const what = breach === undefined ? 'no promise is broken' : `${breach.breach.promise} is broken`;
  const title = `${full.name}: ${what}`;
  const missed = decoded.plan.faults.filter(
    (fault) => !world.struck.some(({ kind, on }) => kind === fault.kind && on === fault.on),
  );
  process.stdout.write(`${breach === undefined ? title : storyOf(world, breach.breach, title).text}\n`);
  for (const { kind } of missed) process.stdout.write(`${kind} did not strike: its moment did not come\n`);
  if (stalled !== undefined) process.stdout.write(`the machine stood still meanwhile: ${stalled}\n`);
  if (values.timeline !== undefined) {
    await writeTimeline(values.timeline, [playedTimeline(world, title, breach?.breach)]);
    process.stdout.write(`timeline: ${values.timeline}\n`);
  }
  return breach === undefined ? 0 : 1;
}
