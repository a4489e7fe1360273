/** The demo's command line: `demo [STORY] [--html FILE] [--seed N] [--json] [--step] [--redis]`. */
import { createInterface } from 'node:readline';
import { didYouMean } from '../../base/similar.ts';
import type { Played } from '../../lab/demo/recorder.ts';
import { type Cure, cures, namedStories } from '../../lab/demo/stories.ts';
import { checkTimelineFile, writeTimeline } from '../../lab/timeline/write.ts';
import { loadIoredis } from '../../lab/virtual/client.ts';
import type { Timeline } from '../../page/format.ts';
import { parseOptions, prepareOutput, refusalIn, UsageError } from '../usage.ts';
import { COLUMNS, painter, storyLines, verdictTable } from './print.ts';

const HELP = `Usage: lostlock demo [STORY] [options]

Plays how locks are lost and kept, on a virtual clock. Without STORY, all of them:
  ${Object.keys(namedStories).join(', ')}
  --html FILE   write the timelines to an HTML page (or their data, when the name ends in .json)
  --seed N      seed of the random choices (default 7)
  --json        print the stories as JSON
  --step        wait for Enter after each event
  --redis       play the failover on two real redis-servers
`;

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const OPTIONS = {
  seed: { ...TEXT, default: '7' },
  html: TEXT,
  json: FLAG,
  redis: FLAG,
  step: FLAG,
  help: FLAG,
} as const;

/** Runs the command. Returns the exit status: 0, or 2 for wrong usage. */
export async function demoCommand(argv: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseOptions(argv, { options: OPTIONS, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    if (!/^\d{1,9}$/.test(values.seed)) throw new UsageError(`--seed ${values.seed}: must be a whole number`);
    if (values.html !== undefined) {
      checkTimelineFile('--html', values.html);
      prepareOutput('--html', values.html);
    }
    const seed = Number(values.seed);
    const { played, cured } = values.redis
      ? { played: [await realStory()], cured: [] }
      : await play(positionals, seed);
    if (values.step) await stepThrough(played);
    else print(played, positionals, values.json);
    if (values.html === undefined) return 0;
    await writeTimeline(values.html, await timelinesOf(played, cured, seed));
    process.stdout.write(`\nWritten to ${values.html}\n`);
    return 0;
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal === undefined) throw error;
    process.stderr.write(`${refusal}\n`);
    return 2;
  }
}

async function realStory(): Promise<Played> {
  await loadIoredis(); // Rejects with what to install.
  return (await import('../../lab/demo/real-server-story.ts')).realServerFailover();
}

function noStory(name: string): string {
  const allowed = Object.keys(namedStories);
  return `there is no story '${name}'; the stories are ${allowed.join(', ')}${didYouMean(name, allowed)}`;
}

/** Plays the stories that are asked for, and says what would have prevented each loss. */
async function play(
  names: readonly string[],
  seed: number,
): Promise<{ readonly played: Played[]; readonly cured: (Cure | undefined)[] }> {
  const played: Played[] = [];
  const cured: (Cure | undefined)[] = [];
  for (const name of names.length > 0 ? names : Object.keys(namedStories)) {
    const story = Object.hasOwn(namedStories, name) ? namedStories[name] : undefined;
    if (story === undefined) throw new UsageError(noStory(name));
    played.push(await story(seed));
    cured.push(cures[name]);
  }
  return { played, cured };
}

/** The timelines, and after them the runs in which the losses are prevented. */
async function timelinesOf(
  played: readonly Played[],
  cured: readonly (Cure | undefined)[],
  seed: number,
): Promise<Timeline[]> {
  const runs: Timeline[] = [];
  const extra: Timeline[] = [];
  const titles = new Map<string, number>();
  for (const { timeline } of played) if (timeline !== undefined) titles.set(timeline.title, titles.size);
  for (const [i, { timeline }] of played.entries()) {
    if (timeline === undefined) continue;
    const cure = cured[i];
    const healthy = (await cure?.play(seed))?.timeline;
    if (cure === undefined || healthy === undefined || timeline.verdict === undefined) {
      runs.push(timeline);
      continue;
    }
    if (!titles.has(healthy.title)) {
      titles.set(healthy.title, titles.size);
      extra.push({ name: `${timeline.name}-cured`, ...healthy });
    }
    const verdict = { ...timeline.verdict, cure: cure.text, cured: titles.get(healthy.title) ?? 0 };
    runs.push({ ...timeline, verdict });
  }
  return [...runs, ...extra];
}

function coloured(): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', TERM } = process.env;
  if (NO_COLOR !== '') return false;
  if (FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  return process.stdout.isTTY === true && TERM !== 'dumb';
}

/** How wide the output may be: as the terminal, but not so wide that lines are hard to read. */
function columnsOf({ columns }: { readonly columns?: number }): number {
  return Math.max(40, Math.min(columns ?? COLUMNS, 120));
}

/** What to type next: the picture of what was played, the same by hand, and the page about it. */
function nextSteps(names: readonly string[]): string[] {
  const [name = 'failover'] = names;
  const steps = [
    [`npx lostlock demo ${name} --html out.html`, 'draws it, and the cure'],
    ['npx lostlock playground', 'breaks locks by hand'],
    ['npx lostlock init', 'writes a test of your lock'],
  ] as const;
  const width = Math.max(...steps.map(([command]) => command.length));
  return ['', ...steps.map(([command, what]) => `${command.padEnd(width)}  ${what}`)];
}

function print(played: readonly Played[], names: readonly string[], json: boolean): void {
  if (json) {
    const stories = played.map(({ timeline: _, ...story }) => story);
    process.stdout.write(`${JSON.stringify(stories, undefined, 2)}\n`);
    return;
  }
  const paint = painter(coloured());
  const columns = columnsOf(process.stdout);
  const lines = [
    ...played.flatMap((story) => storyLines(story, paint, columns)),
    ...verdictTable(played, paint),
    ...nextSteps(names),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Prints one event after the other: the next one with Enter, the end with q or Ctrl-D. */
async function stepThrough(played: readonly Played[]): Promise<void> {
  const paint = painter(coloured());
  const input = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const answers = input[Symbol.asyncIterator]();
  process.stdout.write('Enter shows the next event; q ends.\n');
  for (const story of played) {
    for (const line of storyLines(story, paint, columnsOf(process.stdout))) {
      process.stdout.write(`${line}\n`);
      if (!/^ *\S*\d/.test(line)) continue;
      const answer = await answers.next();
      if (answer.done === true || answer.value.trim() === 'q') {
        input.close();
        return;
      }
    }
  }
  input.close();
}
