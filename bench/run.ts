/**
 * `npm run bench`: all measurements beside redis-server in one run, as ratios. `--smoke` is short and writes no file.
 * `--only CHAPTER` or `--only CHAPTER:TEXT` measures one chapter, or those of its rows whose names contain the text.
 * `--profile FOLDER` lets Node write profiles of our server there.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { hasRedisServer } from '../test/support/redis-server.ts';
import { crowds } from './crowds.ts';
import { curvesOf, drawCurves } from './curves.ts';
import { entries } from './entries.ts';
import { footprint } from './footprint.ts';
import { hosting } from './hosting.ts';
import { SIZES, STRUCTURES, WIRE } from './loads.ts';
import { lua } from './lua.ts';
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
const { smoke } = values;
const [chapter, text] = values.only?.split(':') ?? [];
const extent: Extent = {
  rounds: smoke ? 1 : 5,
  scale: smoke ? 0.05 : 1,
  ...(text !== undefined && { only: text }),
  ...(values.profile !== undefined && { profile: resolve(values.profile) }),
};

const CHAPTERS: Record<string, () => Promise<Chapter>> = {
  wire: async () => ({
    title: 'Requests per second over TCP (redis-benchmark)',
    beside: 'redis-server',
    rows: await wire(WIRE, extent),
  }),
  sizes: async () => ({
    title: 'Larger values (redis-benchmark)',
    beside: 'redis-server',
    rows: await wire(SIZES, extent),
  }),
  structures: async () => ({
    title: 'Sorted sets and streams (redis-benchmark)',
    beside: 'redis-server',
    rows: await wire(STRUCTURES, extent),
  }),
  crowds: async () => ({
    title: 'Many connections',
    beside: 'redis-server',
    rows: await crowds(extent.rounds, extent.scale),
  }),
  trips: async () => ({
    title: 'Sequential round trips through ioredis 6',
    beside: 'the other',
    rows: await roundTrips(smoke ? 1 : 5, smoke ? 500 : 10_000),
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
    rows: await (await import('./virtual-clock.ts')).virtualClock(smoke ? 1 : 5, smoke ? 1 : 30),
  }),
};

if (!hasRedisServer) {
  console.log('The bench compares with redis-server, which is not installed: nothing to do.');
} else if (chapter !== undefined && !(chapter in CHAPTERS)) {
  console.error(`bench: --only is '${chapter}'; allowed: ${Object.keys(CHAPTERS).join(', ')}`);
  process.exitCode = 1;
} else {
  const chapters: string[] = [];
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(CHAPTERS)) {
    if (chapter !== undefined && chapter !== name) continue;
    const measured = await measure();
    rows.push(...measured.rows);
    const printed = table(measured);
    console.log(printed);
    chapters.push(printed);
  }
  if (!smoke && chapter === undefined) {
    const head = `# Bench results\n\nPrinted by \`npm run bench\` on Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? '?'}), beside ${realVersion()}.\nBoth servers run in turn on the same core, the load on another; figures are medians of five rounds, after one that is not counted.\nThe spread is the difference between our largest and smallest figure, as a share of the median.\n\n![ratios by the number of keys](curves.svg)\n`;
    writeFileSync(join(import.meta.dirname, 'results.md'), [head, ...chapters].join('\n'));
    const title =
      'Requests per second, as a multiple of redis-server, by the number of keys (pipelines of 16)';
    writeFileSync(join(import.meta.dirname, 'curves.svg'), drawCurves(title, curvesOf(rows)));
  }
}

function realVersion(): string {
  const [, version = '?'] =
    /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' })) ?? [];
  return `redis-server ${version}`;
}
