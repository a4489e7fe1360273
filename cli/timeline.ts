/** `npx lostlock timeline FILE`: makes the page of a trace that a program in any language has written to a file. */
import { readFileSync } from 'node:fs';
import { checkTimelineFile, writeTimeline } from '../lab/timeline/write.ts';
import type { Timeline } from '../page/format.ts';
import { parseOptions, prepareOutput, refusalIn, UsageError } from './usage.ts';

const HELP = `Usage: lostlock timeline FILE... [--out FILE]

Writes the timeline of a trace as a page for a browser. FILE has what LAB TRACE or pair.timelineData() returned, or is -
for standard input. The runs of several files are shown in one page.
  --out FILE   where to write it (default: the first file's name, with .html at its end)
`;

const OPTIONS = { out: { type: 'string' }, help: { type: 'boolean' } } as const;

/** The lists that each run has. */
const LISTS = ['lanes', 'messages', 'marks', 'holds', 'keys', 'overlaps', 'story'] as const;

/** Runs the command. Returns the exit status: 0, or 2 for wrong usage and a file without a trace. */
export async function timelineCommand(argv: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseOptions(argv, { options: OPTIONS, allowPositionals: true });
    if (values.help === true) {
      process.stdout.write(HELP);
      return 0;
    }
    const [first] = positionals;
    if (first === undefined)
      throw new UsageError('timeline needs a file with a trace; lostlock timeline --help says more');
    const out = values.out ?? (first === '-' ? 'timeline.html' : `${first.replace(/\.json$/, '')}.html`);
    checkTimelineFile('--out', out);
    prepareOutput('--out', out);
    const runs = positionals.flatMap(runsIn);
    await writeTimeline(out, runs);
    process.stdout.write(`Written to ${out}\n`);
    return 0;
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal === undefined) throw error;
    process.stderr.write(`${refusal}\n`);
    return 2;
  }
}

/** The runs of a file. Throws UsageError for a file that is no trace, so that no page stays empty. */
function runsIn(file: string): readonly Timeline[] {
  const name = file === '-' ? 'standard input' : file;
  let data: { format?: unknown; version?: unknown; runs?: unknown } | null;
  try {
    data = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8')) as typeof data;
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`);
  }
  if (data?.format !== 'lostlock-timeline' || !Array.isArray(data.runs))
    throw new UsageError(`${name}: not a trace; LAB TRACE and pair.timelineData() return one`);
  if (data.version !== 1)
    throw new UsageError(`${name}: its version is ${data.version}, and this lostlock reads version 1`);
  for (const [i, run] of (data.runs as readonly Partial<Timeline>[]).entries()) {
    const lacking = LISTS.find((list) => !Array.isArray(run?.[list]));
    if (lacking !== undefined) throw new UsageError(`${name}: run ${i + 1} has no list ${lacking}`);
    if (!Number.isFinite(run.end)) throw new UsageError(`${name}: run ${i + 1} has no time at which it ends`);
  }
  return data.runs as Timeline[];
}
