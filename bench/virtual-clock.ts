/**
 * Measures how much faster than real time one core simulates a watchdog, and five clients that poll. Each has a process of
 * its own, because V8 optimises for all that a process does.
 */
import '../lab/router.ts';
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import { LabNode } from '../lab/virtual/node.ts';
import { World } from '../lab/virtual/world.ts';
import { figureOf, serveFigure } from './child.ts';
import { polling } from './platform/polling.ts';
import type { Row } from './report.ts';
import { worldsPlayed } from './worlds.ts';

/** Virtual milliseconds per millisecond of CPU time, for a world that `populate` has set up. */
async function speed(ms: number, populate: (world: World) => Promise<void>): Promise<number> {
  const world = new World();
  new LabNode(world, 'redis', 6379);
  await populate(world);
  const before = process.cpuUsage();
  await world.advance(ms);
  const { user, system } = process.cpuUsage(before);
  world.close();
  return ms / ((user + system) / 1000);
}

async function watchdog(world: World): Promise<void> {
  await world.run(async () => {
    const redis = new Redis({ host: 'redis' }) as never;
    await new Mutex(redis, 'job', { lockTimeout: 30_000, refreshInterval: 10_000 }).acquire();
  });
}

async function contender(redis: Redis): Promise<never> {
  const options = { lockTimeout: 10_000, acquireTimeout: 1e9, retryInterval: 100 };
  for (;;) {
    const mutex = new Mutex(redis as never, 'job', options);
    await mutex.acquire();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await mutex.release();
  }
}

async function contenders(world: World): Promise<void> {
  await world.run(() => {
    for (let i = 0; i < 5; i++) void contender(new Redis({ host: 'redis' }));
  });
}

const KINDS = { watchdog, contenders };
type Kind = keyof typeof KINDS;

/** The processes' part: times real time in the best round, for rounds of `ms` virtual milliseconds. */
async function simulate(kind: Kind, rounds: number, ms: number): Promise<number> {
  let best = 0;
  for (let i = 0; i < rounds; i++) best = Math.max(best, await speed(ms, KINDS[kind]));
  return best;
}

const simulated = (kind: Kind, rounds: number, ms: number): Promise<number> =>
  figureOf(import.meta.url, [kind, rounds, ms]);

/**
 * The rows of this chapter.
 * @param rounds how many rounds there are, of which the best one counts. In six processes, the best of ten rounds of a watchdog was
 *   904,000 to 1,077,000 times real time, and the best of 40 rounds was 998,000 to 1,101,000
 * @param minutes the virtual time of each measurement
 */
export async function virtualClock(rounds: number, minutes: number): Promise<Row[]> {
  const unit = 'times real time';
  const alone = 'the client libraries alone, without server, network and lab';
  const [long, short] = [minutes * 60 * 60_000, minutes * 60_000];
  const one = 'a lock renewed by a watchdog';
  const five = 'five contenders';
  return [
    { name: one, ours: await simulated('watchdog', rounds, long), other: 1_000_000, unit },
    { name: `${one}: ${alone}`, ours: await polling('watchdog', rounds, long), other: 1_000_000, unit },
    {
      name: `${five} polling every 100 ms`,
      ours: await simulated('contenders', rounds, short),
      other: 10_000,
      unit,
    },
    { name: `${five}: ${alone}`, ours: await polling('contenders', rounds, short), other: 10_000, unit },
    ...(await worldsPlayed(rounds, minutes * 60)),
  ];
}

await serveFigure(import.meta.url, ([kind, rounds, ms]) =>
  simulate(kind as Kind, Number(rounds), Number(ms)),
);
