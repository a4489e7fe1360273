/**
 * `npm run bench`: all measurements beside redis-server in one run, as ratios. `--smoke` is short and writes no file.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hasRedisServer } from '../test/support/redis-server.ts';
import { entries } from './entries.ts';
import { footprint } from './footprint.ts';
import { lua } from './lua.ts';
import { type Chapter, table } from './report.ts';
import { roundTrips } from './round-trips.ts';
import { wire } from './wire.ts';

const { values } = parseArgs({
  options: { smoke: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const { smoke } = values;

const CHAPTERS: Record<string, () => Promise<Chapter>> = {
  wire: async () => ({
    title: 'Requests per second over TCP (redis-benchmark)',
    beside: 'redis-server',
    rows: await wire(smoke ? 1 : 3, smoke ? 0.05 : 1),
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
} else {
  const chapters: string[] = [];
  for (const [name, measure] of Object.entries(CHAPTERS)) {
    if (values.only !== undefined && values.only !== name) continue;
    const text = table(await measure());
    console.log(text);
    chapters.push(text);
  }
  if (!smoke && values.only === undefined) {
    const head = `# Bench results\n\nPrinted by \`npm run bench\` on Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? '?'}).\nBoth servers run in turn on the same core, the load on another; figures are medians.\n`;
    writeFileSync(join(import.meta.dirname, 'results.md'), [head, ...chapters].join('\n'));
  }
}
