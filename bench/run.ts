/**
 * `npm run bench`: all measurements beside redis-server in one run, as ratios. `--smoke` is short and writes no file.
 * `--only CHAPTER` measures one chapter. For the chapters that use redis-benchmark (`wire`, `sizes`, `connections`,
 * `structures`, `platform`), `--only CHAPTER:TEXT` measures the rows whose names contain the text, and `--profile FOLDER`
 * writes profiles of our server.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { hasRedisServer } from '../test/support/redis-server.ts';
import { crowds } from './crowds.ts';
import { drawCurves, panelsOf } from './curves.ts';
import { entries } from './entries.ts';
import { footprint } from './footprint.ts';
import { hosting } from './hosting.ts';
import { CONNECTIONS, type Load, SIZES, STRUCTURES, WIRE } from './loads.ts';
import { lua } from './lua.ts';
import { platform } from './platform/index.ts';
import { type Chapter, type Row, table } from './report.ts';
import { roundTrips } from './round-trips.ts';
import { type Extent, wire } from './wire.ts';

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
  ...(text !== undefined && { only: text }),
  ...(profile !== undefined && { profile: resolve(profile) }),
};

/** A chapter of what redis-benchmark measures. */
const measured = (title: string, loads: readonly Load[]) => async (): Promise<Chapter> => ({
  title,
  beside: 'redis-server',
  rows: await wire(loads, extent),
});

/** The chapters that `--only CHAPTER:TEXT` and `--profile` apply to. */
const DETAILED: Record<string, () => Promise<Chapter>> = {
  wire: measured('Requests per second over TCP (redis-benchmark)', WIRE),
  sizes: measured('Larger values (redis-benchmark)', SIZES),
  connections: measured('Fewer and more connections (redis-benchmark)', CONNECTIONS),
  structures: measured('Sorted sets and streams (redis-benchmark)', STRUCTURES),
  platform: async () => ({
    title: 'What Node itself takes',
    beside: 'redis-server',
    rows: await platform(extent),
  }),
};

const CHAPTERS: Record<string, () => Promise<Chapter>> = {
  ...DETAILED,
  crowds: async () => ({
    title: 'Many connections',
    beside: 'redis-server',
    rows: await crowds(extent.rounds, extent.scale),
  }),
  trips: async () => ({
    title: 'Sequential round trips through ioredis 6',
    beside: 'the other',
    rows: await roundTrips(smoke ? 1 : 5, smoke ? 500 : 20_000),
  }),
  lua: async () => ({
    title: 'Scripts that compute',
    beside: 'redis-server',
    rows: await lua(smoke ? 1 : 9),
  }),
  footprint: async () => ({
    title: 'Start and memory',
    beside: 'redis-server',
    rows: await footprint(smoke ? 2 : 9, smoke ? 20_000 : 1_000_000),
  }),
  hosting: async () => ({
    title: 'What a server costs its host',
    beside: 'redis-server',
    rows: await hosting(smoke ? 1 : 5, smoke ? 10 : 100),
  }),
  entries: async () => ({
    title: 'Loading an entry, above a bare node',
    beside: 'the goal',
    rows: entries(smoke ? 1 : 21),
  }),
  // Last, and loaded only then, because it replaces the timers and clocks that the other chapters use.
  lab: async () => ({
    title: 'Virtual time in the lab, per CPU time',
    beside: 'the goal',
    rows: await (await import('./virtual-clock.ts')).virtualClock(smoke ? 1 : 10, smoke ? 1 : 30),
  }),
};

/** The error in the options, if there is one. */
function complaint(): string | undefined {
  const list = (table: object): string => Object.keys(table).join(', ');
  if (chapter !== undefined && !Object.hasOwn(CHAPTERS, chapter))
    return `--only is '${chapter}'; allowed: ${list(CHAPTERS)}`;
  const isDetailed = Object.hasOwn(DETAILED, chapter ?? '');
  if (text !== undefined && !isDetailed)
    return `--only is '${chapter}:${text}'; chapters with rows to choose from: ${list(DETAILED)}`;
  if (profile !== undefined && !isDetailed) return `--profile needs --only with one of: ${list(DETAILED)}`;
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
  for (const [name, measure] of Object.entries(CHAPTERS)) {
    if (chapter !== undefined && chapter !== name) continue;
    const result = await measure();
    if (text !== undefined && result.rows.length === 0) throw new Error(`no row's name contains '${text}'`);
    rows.push(...result.rows);
    const printed = table(result);
    console.log(printed);
    chapters.push(printed);
  }
  if (!smoke && chapter === undefined) {
    const head = `# Bench results\n\nPrinted by \`npm run bench\` on Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? '?'}), beside ${realVersion()}.\nBoth servers run in turn on the same core, the load on another; figures are medians of five rounds, after one that is not counted.\nThe spread is the difference between our largest and smallest figure, as a share of the median.\n\n![ratios by the number of keys, connections, bytes and subscribers](curves.svg)\n`;
    writeFileSync(join(import.meta.dirname, 'results.md'), [head, ...chapters].join('\n'));
    const title =
      'CPU time per request: that of redis-server, divided by that of lostlock (above 1: lostlock takes less)';
    writeFileSync(join(import.meta.dirname, 'curves.svg'), drawCurves(title, panelsOf(rows)));
  }
}

function realVersion(): string {
  const [, version = '?'] =
    /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' })) ?? [];
  return `redis-server ${version}`;
}
