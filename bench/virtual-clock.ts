/** Measures how much faster than real time one core simulates a watchdog, and five clients that poll. */
import '../lab/router.ts';
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import { LabNode } from '../lab/virtual/node.ts';
import { World } from '../lab/virtual/world.ts';
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

/**
 * The rows of this chapter.
 * @param minutes the virtual time of each measurement; the best round counts
 */
export async function virtualClock(rounds: number, minutes: number): Promise<Row[]> {
  const best = { one: 0, five: 0 };
  for (let i = 0; i < rounds; i++) {
    best.one = Math.max(best.one, await speed(minutes * 60 * 60_000, watchdog));
    best.five = Math.max(best.five, await speed(minutes * 60_000, contenders));
  }
  const unit = 'times real time';
  const alone = 'the client libraries alone, without server, network and lab';
  return [
    { name: 'a lock renewed by a watchdog', ours: best.one, other: 1_000_000, unit },
    {
      name: `a lock renewed by a watchdog: ${alone}`,
      ours: await polling('watchdog', rounds, minutes * 60 * 60_000),
      other: 1_000_000,
      unit,
    },
    { name: 'five contenders polling every 100 ms', ours: best.five, other: 10_000, unit },
    {
      name: `five contenders: ${alone}`,
      ours: await polling('contenders', rounds, minutes * 60_000),
      other: 10_000,
      unit,
    },
    await worldsPlayed(rounds, minutes * 60),
  ];
}
