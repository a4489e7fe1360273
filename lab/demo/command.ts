/** The demo's command line: `demo [STORY] [--html FILE] [--seed N] [--json] [--redis]`. */
import { parseArgs } from 'node:util';
import { checkTimelineFile, writeTimeline } from '../timeline/write.ts';
import { painter, storyLines, verdictTable } from './print.ts';
import type { Played } from './stage.ts';
import { namedStories } from './stories.ts';

const HELP = `Usage: lostlock demo [STORY] [options]

Plays how locks are lost and kept, on a virtual clock. Without STORY, all of them:
  ${Object.keys(namedStories).join(', ')}
  --html FILE   write the timelines to a page for the browser (or their data, when the name ends in .json)
  --seed N      decides everything random (default 7)
  --json        print the stories as JSON
  --redis       play the failover on two real redis-servers
`;

/** Runs the command. Returns the exit status: 0, or 2 for wrong usage. */
export async function demoCommand(argv: readonly string[]): Promise<number> {
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean', default: false } as const;
    const options = {
      seed: { ...text, default: '7' },
      html: text,
      json: flag,
      redis: flag,
      help: flag,
    } as const;
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    if (!/^\d{1,9}$/.test(values.seed))
      throw new TypeError(`--seed ${values.seed}: allowed is a whole number`);
    if (values.html !== undefined) checkTimelineFile('--html', values.html);
    const played = values.redis ? [await realStory()] : await play(positionals, Number(values.seed));
    await show(played, values.json, values.html);
    return 0;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

async function realStory(): Promise<Played> {
  return (await import('./real-story.ts')).realFailover();
}

async function play(names: readonly string[], seed: number): Promise<Played[]> {
  const played: Played[] = [];
  for (const name of names.length > 0 ? names : Object.keys(namedStories)) {
    const story = Object.hasOwn(namedStories, name) ? namedStories[name] : undefined;
    if (story === undefined)
      throw new TypeError(`${name} is no story: allowed are ${Object.keys(namedStories).join(', ')}`);
    played.push(await story(seed));
  }
  return played;
}

async function show(played: readonly Played[], json: boolean, html: string | undefined): Promise<void> {
  if (json) {
    const stories = played.map(({ timeline: _, ...story }) => story);
    process.stdout.write(`${JSON.stringify(stories, undefined, 2)}\n`);
  } else {
    const paint = painter(process.stdout.isTTY === true && process.env.NO_COLOR === undefined);
    const lines = [...played.flatMap((story) => storyLines(story, paint)), ...verdictTable(played, paint)];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  if (html === undefined) return;
  await writeTimeline(
    html,
    played.flatMap(({ timeline }) => timeline ?? []),
  );
  process.stdout.write(`\nWritten to ${html}\n`);
}
