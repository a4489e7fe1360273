/** Measures how many worlds of an exploration one core plays: a pair, two ioredis clients that lock, and a failover. */
import '../lab/router.ts';
import { WORLD_FLAGS } from '../cli/explore/workers.ts';
import { fullOptions } from '../explore/options.ts';
import { playWorld } from '../explore/play.ts';
import { survey } from '../explore/search/survey.ts';
import type { ClientSession } from '../explore/session.ts';
import { figureOf, serveFigure } from './child.ts';
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

/**
 * The row of this measurement, taken in a process like those of `npx lostlock explore`.
 * @param rounds how many rounds to play; the best one counts
 * @param worlds how many worlds each round plays
 */
export async function worldsPlayed(rounds: number, worlds: number): Promise<Row> {
  const best = await figureOf(import.meta.url, [rounds, worlds], WORLD_FLAGS);
  const name = 'worlds of an exploration: a pair, two ioredis clients, a failover';
  return { name, ours: best, other: 1000, unit: 'worlds a second of CPU' };
}

/** Worlds a second of CPU, in the best round. */
async function play(rounds: number, worlds: number): Promise<number> {
  const { rules } = await survey(fullOptions({ name: 'bench', client, clients: 2 }));
  const failover = { kind: 'failover', at: 100, on: 'redis-1', ms: 20, by: 0, how: 'crash' } as const;
  const plan = { seed: 1, clients: ['A', 'B'], jitter: 0, faults: [failover] };
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < worlds; i++) await playWorld(rules, plan);
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, worlds / ((user + system) / 1e6));
  }
  return best;
}

await serveFigure(import.meta.url, ([rounds, worlds]) => play(Number(rounds), Number(worlds)));
