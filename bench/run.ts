/**
 * `npm run bench`: all measurements beside redis-server in one run, as ratios. `--smoke` is short and writes no file.
 * `--only CHAPTER` measures one chapter. For the chapters that use redis-benchmark (`wire`, `sizes`, `connections`,
 * `structures`, `commands`, `platform`), `--only CHAPTER:TEXT` measures the rows whose names contain the text, and `--profile FOLDER`
 * writes profiles of our server.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { hasRedisServer } from '../test/support/redis-server.ts';
import { allChapters, detailedChapters } from './chapters.ts';
import { drawCurves, panelsOf } from './curves.ts';
import { machine } from './machine.ts';
import { type Row, table } from './report.ts';
import type { Extent } from './tcp.ts';

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    only: { type: 'string' },
    profile: { type: 'string' },
  },
});
const { smoke, profile } = values;
const [chapter, text] = values.only?.split(':') ?? [];
const extent: Extent = {
  rounds: smoke ? 1 : 5,
  scale: smoke ? 0.05 : 1,
  wanted: (name) => name.includes(text ?? ''),
  ...(profile !== undefined && { profile: resolve(profile) }),
};

const detailed = detailedChapters(extent, smoke);
const all = allChapters(extent, smoke);

/** The error in the options, if there is one. */
function complaint(): string | undefined {
  const list = (table: object): string => Object.keys(table).join(', ');
  if (chapter !== undefined && !Object.hasOwn(all, chapter))
    return `--only is '${chapter}'; allowed: ${list(all)}`;
  const isDetailed = Object.hasOwn(detailed, chapter ?? '');
  if (text !== undefined && !isDetailed && chapter !== 'cliffs')
    return `--only is '${chapter}:${text}'; chapters with rows to choose from: ${list(detailed)}, cliffs`;
  if (profile !== undefined && !isDetailed) return `--profile needs --only with one of: ${list(detailed)}`;
  return undefined;
}

const wrong = complaint();
if (wrong !== undefined) {
  console.error(`bench: ${wrong}`);
  process.exitCode = 1;
} else if (!hasRedisServer) {
  console.log('The bench compares with redis-server, which is not installed: nothing to do.');
} else {
  const chapters: string[] = [];
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(all)) {
    if (chapter !== undefined && chapter !== name) continue;
    const result = await measure();
    if (text !== undefined && result.rows.length === 0) throw new Error(`no row's name contains '${text}'`);
    rows.push(...result.rows);
    const printed = table(result);
    console.log(printed);
    chapters.push(printed);
  }
  if (!smoke && chapter === undefined) {
    const head = `# Bench results\n\nPrinted by \`npm run bench\` ${machine()}.\nBoth servers run in turn on the same core, the load on another; figures are medians of five rounds, after one that is not counted.\nThe spread is the difference between our largest and smallest figure, as a share of the median.\n\n![ratios by the number of keys, connections, bytes and subscribers](curves.svg)\n`;
    writeFileSync(join(import.meta.dirname, 'results.md'), [head, ...chapters].join('\n'));
    const title =
      'CPU time per request: that of redis-server, divided by that of lostlock (above 1: lostlock takes less)';
    writeFileSync(join(import.meta.dirname, 'curves.svg'), drawCurves(title, panelsOf(rows)));
  }
}
