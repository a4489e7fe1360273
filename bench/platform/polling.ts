/**
 * What ioredis and redis-semaphore themselves take when five clients poll, and when a watchdog renews a lock: on timers of a
 * few lines, and on a stream that answers by itself. No virtual time can be faster with these libraries. Runs in a process
 * of its own, because it replaces the timers.
 */
import type { Redis } from 'ioredis';
import { figureOf, serveFigure } from '../child.ts';
import { type Answer, answeredBy } from './answering.ts';

/** A timer. The one that is due first is the last one in the list. */
interface Timer {
  readonly at: number;
  task: (() => void) | undefined;
}

const timers: Timer[] = [];
let now = 0;

function later(task: () => void, ms: number): Timer {
  const timer = { at: now + ms, task };
  let place = timers.length;
  while (place > 0 && (timers[place - 1] as Timer).at <= timer.at) place--;
  timers.splice(place, 0, timer);
  return timer;
}

/** What setInterval returns. */
class Interval {
  #timer: Timer;

  constructor(task: () => void, ms: number) {
    const again = (): void => {
      this.#timer = later(again, ms);
      task();
    };
    this.#timer = later(again, ms);
  }

  unref(): void {}

  clear(): void {
    this.#timer.task = undefined;
  }
}

/** Moves time: each timer has a macrotask of its own, so that everything that it has caused comes before the next one. */
function advance(ms: number): Promise<void> {
  const end = now + ms;
  return new Promise((resolve) => {
    let left = 0;
    let done = false;
    const step = (): void => {
      if (done) return;
      const next = timers.at(-1);
      if (next === undefined || next.at > end) {
        now = end;
        done = true;
        resolve();
        return;
      }
      timers.pop();
      now = next.at;
      next.task?.();
      if (--left === 0) batch();
    };
    const batch = (): void => {
      left = 64;
      for (let i = 0; i < left; i++) setImmediate(step);
    };
    batch();
  });
}

const TAKEN = Buffer.from('$-1\r\n');
const FREED = Buffer.from(':1\r\n');
const OK = Buffer.from('+OK\r\n');

/** One lock, as far as these clients use it. */
function lock(): Answer {
  let held = false;
  return (request) => {
    const text = request.toString();
    if (text.includes('eval')) {
      held = false;
      return FREED;
    }
    // While it connects, a client sends other requests.
    if (held || !text.startsWith('*6\r\n$3\r\nset')) return TAKEN;
    held = true;
    return OK;
  };
}

/** Who uses the lock. */
export type Users = 'contenders' | 'watchdog';

/** The process' part: virtual milliseconds per millisecond of CPU time, in the best round. */
async function poll(users: Users, rounds: number, ms: number): Promise<number> {
  Object.assign(globalThis, {
    setTimeout: (task: () => void, delay = 1) => later(task, Math.max(1, delay)),
    clearTimeout: (timer?: Timer) => {
      if (timer !== undefined) timer.task = undefined;
    },
    setInterval: (task: () => void, ms: number) => new Interval(task, ms),
    clearInterval: (interval?: Interval) => interval?.clear(),
  });
  Date.now = () => now;
  const { Redis } = await import('ioredis');
  const { Mutex } = await import('redis-semaphore');
  const contender = async (redis: Redis): Promise<never> => {
    const options = { lockTimeout: 10_000, acquireTimeout: 1e9, retryInterval: 100 };
    for (;;) {
      const mutex = new Mutex(redis as never, 'job', options);
      await mutex.acquire();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await mutex.release();
    }
  };
  const answer = lock();
  // A round trip takes 3 ms, as it does in the lab on average.
  const client = (): Redis => new Redis(answeredBy(answer, (task) => later(task, 3)));
  if (users === 'contenders') for (let i = 0; i < 5; i++) void contender(client());
  else void new Mutex(client() as never, 'job', { lockTimeout: 30_000, refreshInterval: 10_000 }).acquire();
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    await advance(ms);
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, ms / ((user + system) / 1000));
  }
  return best;
}

/** Times real time that the libraries alone allow. */
export const polling = (users: Users, rounds: number, ms: number): Promise<number> =>
  figureOf(import.meta.url, [users, rounds, ms]);

await serveFigure(import.meta.url, ([users, rounds, ms]) => poll(users as Users, Number(rounds), Number(ms)));
