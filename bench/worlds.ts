/** Measures how many worlds of an exploration one core plays: a pair, clients that lock or workers of a job queue, and a failover. */
import '../lab/router.ts';
import { WORLD_FLAGS } from '../cli/explore/workers.ts';
import type { ExploreOptions } from '../explore/index.ts';
import { fullOptions } from '../explore/options.ts';
import { playWorld } from '../explore/play.ts';
import { survey } from '../explore/search/survey.ts';
import type { ClientSession } from '../explore/session.ts';
import { figureOf, serveFigure } from './child.ts';
import type { Specimen } from './libraries/specimen.ts';
import type { Row } from './report.ts';

const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

async function client({ name, redis, sleep, resource }: ClientSession): Promise<void> {
  while ((await redis.set('lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
  const inside = resource('stock').enter();
  await sleep(300);
  inside.write();
  inside.leave();
  await redis.eval(RELEASE, 1, 'lock', name);
}

/** What is measured: so many clients of this file, or the workers of a job queue. */
const LOADS = ['2', '3', '10', '50', 'BullMQ'] as const;
type LoadOfWorlds = (typeof LOADS)[number];

/**
 * The rows of this measurement, each taken in a process like those of `npx lostlock explore`.
 * @param rounds how many rounds to play; the best one counts
 * @param worlds how many worlds of two clients each round plays; larger worlds are fewer
 */
export async function worldsPlayed(rounds: number, worlds: number): Promise<Row[]> {
  const rows: Row[] = [];
  // A smoke run, of one round, does not install a job queue.
  for (const load of rounds === 1 ? LOADS.slice(0, -1) : LOADS) {
    const clients =
      load === 'BullMQ' ? 'two BullMQ workers' : `${load === '2' ? 'two' : load} ioredis clients`;
    const name = `worlds of an exploration: a pair, ${clients}, a failover`;
    const ours = await figureOf(import.meta.url, [load, rounds, worlds], WORLD_FLAGS);
    rows.push({ name, ours, other: 1000, unit: 'worlds a second of CPU' });
  }
  return rows;
}

async function optionsFor(load: LoadOfWorlds): Promise<ExploreOptions> {
  if (load !== 'BullMQ') {
    const clients = Array.from({ length: Number(load) }, (_, i) => `C${i + 1}`);
    return { name: 'bench', client, clients };
  }
  const { folder, install } = await import('./libraries/install.ts');
  const { optionsOf, zoo } = await import('./libraries/zoo.ts');
  install();
  return optionsOf((await zoo(folder)).find(({ name }) => name === load) as Specimen);
}

/** Worlds a second of CPU, in the best round. */
async function play(load: LoadOfWorlds, rounds: number, worlds: number): Promise<number> {
  const full = fullOptions(await optionsFor(load));
  const { rules } = await survey(full);
  const failover = { kind: 'failover', at: 100, on: 'redis-1', ms: 20, by: 0, how: 'crash' } as const;
  const { clients } = full;
  const plan = { seed: 1, clients, jitter: 0, faults: [failover] };
  // The time of a world grows with the square of its clients. A world of the job queue takes as long as one of ten clients.
  const most = load === '2' ? worlds : Math.ceil(worlds / (Number(load) || 10) ** 2);
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < most; i++) await playWorld(rules, plan);
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, most / ((user + system) / 1e6));
  }
  return best;
}

await serveFigure(import.meta.url, ([load, rounds, worlds]) =>
  play(load as LoadOfWorlds, Number(rounds), Number(worlds)),
);
