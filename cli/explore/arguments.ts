/** The arguments of `npx lostlock explore`. */
import { parseOptions, UsageError } from '../usage.ts';
import type { TestRunner } from './files.ts';

/** What `--help` prints. */
export const HELP = `Usage: lostlock explore FILE [options]
       lostlock explore [options] -- PROGRAM ...   explores a program in any language; --help -- lists its options

Runs each exploration that FILE exports (objects with the options of explore()), and prints the stories of what breaks.
  --worlds N        how many worlds to play (default: the file's budget)
  --ms N            stop after N milliseconds of real time (default: the file's budget)
  --exhaustive N    end when all worlds with one fault (1), or with one and two (2), are played
  --stop-at-first   end with the first finding
  --corpus DIR      keep the plans of worlds that broke a promise or reached new states in DIR, and play those of earlier runs first
  --seed N          seed of the random choices (default: the file's, or 1)
  --workers N       processes to use (default 1); each plays its part of the worlds
  --shard I/N       play the I-th of N parts, for several machines
  --merge A,B,...   print the report of several --json files, separated by commas, instead of exploring
  --replay TEXT     play one world again, and print its story
  --timeline FILE   with --replay: write its timeline, a page (.html) or its data (.json)
  --on PROGRAM      with --replay: play it on real servers as well, such as redis-server
  --accept A,B,...  what is known, and no finding: fingerprints of findings, and lease-limits
  --against FILE    say what is new, known and gone since the report that --json wrote to FILE
  --last            first play the findings of the last run again, and say whether they are fixed
  --out FOLDER      write stories, test files, histories and timelines there
  --runner NAME     what the test files are for: vitest (default), jest or node
  --json FILE       write the report as JSON
  --junit FILE      write the report as JUnit XML
  --github          print annotations for GitHub Actions (default: when GITHUB_ACTIONS is set)
  --progress        print a line of progress every second (default: on a terminal, one line that changes)
Ctrl-C ends the exploration, and reports what was found so far. The exit status is 1 when a promise is broken, 2
when an option is wrong or FILE cannot be loaded, and 3 when a report is inconclusive, which the report explains.
`;

/** The command's options. */
export interface Chosen {
  /** The file to explore; empty when reports are merged without it. */
  readonly file: string;
  readonly worlds: number | undefined;
  readonly ms: number | undefined;
  readonly seed: number | undefined;
  readonly exhaustive: 1 | 2 | undefined;
  readonly workers: number;
  readonly shard: { readonly index: number; readonly of: number };
  readonly runner: TestRunner;
  /** What is no finding, beside what the file accepts. */
  readonly accept: readonly string[];
  /** The reports to merge; undefined to explore. */
  readonly merge: readonly string[] | undefined;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

const RUNNERS: readonly string[] = ['vitest', 'jest', 'node'] satisfies TestRunner[];
const TEXTS = [
  'worlds',
  'ms',
  'exhaustive',
  'seed',
  'workers',
  'shard',
  'merge',
  'replay',
  'timeline',
  'on',
  'out',
  'runner',
  'json',
  'junit',
  'accept',
  'against',
  'corpus',
];
const FLAGS = ['github', 'progress', 'last', 'stop-at-first', 'help'];

/** The options that mean something when a world is replayed, and when reports are merged. */
const MEANS: Readonly<Record<'replay' | 'merge', readonly string[]>> = {
  replay: ['replay', 'timeline', 'on', 'accept'],
  merge: ['merge', 'out', 'runner', 'json', 'junit', 'github', 'against'],
};

/** Reads the arguments; undefined when the user asks for help. Throws UsageError. */
export function chosenFrom(argv: readonly string[]): Chosen | undefined {
  const options = Object.fromEntries([
    ...TEXTS.map((name) => [name, { type: 'string' as const }]),
    ...FLAGS.map((name) => [name, { type: 'boolean' as const }]),
  ]);
  const parsed = parseOptions(argv, { options, allowPositionals: true });
  const values = parsed.values as Chosen['values'];
  const [file = '', ...more] = parsed.positionals;
  if (values.help === true) return undefined;
  if (file === '' && values.merge === undefined)
    throw new UsageError('explore needs a file; lostlock explore --help lists the options');
  if (more.length > 0) throw new UsageError(`explore takes one file; unexpected: ${more.join(' ')}`);
  refuseIdle(values);
  const runner = String(values.runner ?? 'vitest');
  if (!RUNNERS.includes(runner))
    throw new UsageError(`--runner ${runner}: must be one of ${RUNNERS.join(', ')}`);
  return {
    file,
    worlds: numberOf(values, 'worlds'),
    ms: numberOf(values, 'ms'),
    seed: numberOf(values, 'seed', 0),
    exhaustive: exhaustiveOf(values.exhaustive),
    workers: workersOf(values),
    shard: shardOf(String(values.shard ?? '1/1')),
    runner: runner as TestRunner,
    accept: values.accept === undefined ? [] : String(values.accept).split(','),
    merge: values.merge === undefined ? undefined : String(values.merge).split(','),
    values,
  };
}

/** Throws for an option that would do nothing. */
function refuseIdle(values: Chosen['values']): void {
  for (const mode of ['replay', 'merge'] as const) {
    if (values[mode] === undefined) continue;
    const idle = Object.keys(values).find((name) => !MEANS[mode].includes(name));
    if (idle !== undefined) throw new UsageError(`--${idle} does nothing with --${mode}`);
  }
  for (const [name, needed] of [
    ['on', 'replay'],
    ['timeline', 'replay'],
    ['runner', 'out'],
  ] as const) {
    if (values[name] !== undefined && values[needed] === undefined)
      throw new UsageError(`--${name} needs --${needed}`);
  }
}

/** More processes than any machine has cores for are a mistake, which would exhaust its memory. */
const MOST_WORKERS = 256;

function workersOf(values: Chosen['values']): number {
  const workers = numberOf(values, 'workers') ?? 1;
  if (workers > MOST_WORKERS)
    throw new UsageError(`--workers ${workers}: must be a whole number from 1 to ${MOST_WORKERS}`);
  return workers;
}

function shardOf(text: string): Chosen['shard'] {
  const [index = 0, of = 0] = /^\d+\/\d+$/.test(text) ? text.split('/').map(Number) : [];
  if (index < 1 || index > of) throw new UsageError(`--shard ${text}: must be I/N, with I from 1 to N`);
  return { index, of };
}

function exhaustiveOf(value: string | boolean | undefined): 1 | 2 | undefined {
  if (value === undefined) return undefined;
  if (value !== '1' && value !== '2') throw new UsageError(`--exhaustive ${value}: must be 1 or 2`);
  return value === '1' ? 1 : 2;
}

function numberOf(values: Chosen['values'], name: string, least: 0 | 1 = 1): number | undefined {
  const value = values[name];
  if (value === undefined) return undefined;
  if (!/^(0|[1-9]\d{0,14})$/.test(String(value)) || Number(value) < least)
    throw new UsageError(`--${name} ${value}: must be a whole number from ${least}`);
  return Number(value);
}
