/** Runs a campaign in several processes: each takes the next few seeds until there were enough lives. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { draw } from './draw.ts';
import type { Violation } from './judge.ts';
import { type KindName, livesOf } from './plan.ts';
import type { Plant } from './plants.ts';
import { play } from './play.ts';

/** What to run. */
export interface Campaign {
  /** The first seed. */
  readonly seed: number;
  /** How many acquisitions, at least. */
  readonly lives: number;
  /** How many processes. */
  readonly jobs: number;
  /** Only this kind of lock. */
  readonly kind?: KindName | undefined;
  /** A defect to plant. */
  readonly plant?: Plant | undefined;
}

/** A world that broke a promise. */
export interface Failure {
  readonly seed: number;
  readonly kind: KindName;
  readonly violations: readonly Violation[];
}

/** The results of some seeds, or of all. */
export interface Tally {
  worlds: number;
  lives: number;
  grants: number;
  failures: Failure[];
}

/** Seeds that a process takes at a time. */
const SHARE = 50;

interface Order {
  readonly from: number;
  readonly kind?: KindName | undefined;
  readonly plant?: Plant | undefined;
}

/** Plays the worlds of so many seeds, in this process. */
export async function playSeeds(from: number, count: number, kind?: KindName, plant?: Plant): Promise<Tally> {
  const tally: Tally = { worlds: 0, lives: 0, grants: 0, failures: [] };
  for (let seed = from; seed < from + count; seed++) {
    const plan = draw(seed, kind);
    const { violations, grants } = await play(plan, { plant });
    tally.worlds++;
    tally.lives += livesOf(plan);
    tally.grants += grants;
    if (violations.length > 0) tally.failures.push({ seed, kind: plan.kind, violations });
  }
  return tally;
}

/** Runs a whole campaign. Rejects when one of its processes dies. @param told is called with the progress now and then */
export function runCampaign(campaign: Campaign, told: (soFar: Tally) => void = () => {}): Promise<Tally> {
  const { seed, lives, jobs, kind, plant } = campaign;
  const sum: Tally = { worlds: 0, lives: 0, grants: 0, failures: [] };
  let next = seed;
  const order = (worker: ChildProcess): void => {
    if (sum.lives >= lives) {
      worker.disconnect();
      return;
    }
    worker.send({ from: next, kind, plant } satisfies Order);
    next += SHARE;
  };
  const labour = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = fork(fileURLToPath(new URL('run.ts', import.meta.url)), ['--worker'], {
        execArgv: ['--import', 'tsx'],
      });
      worker.on('message', (share: Tally) => {
        sum.worlds += share.worlds;
        sum.lives += share.lives;
        sum.grants += share.grants;
        sum.failures.push(...share.failures);
        told(sum);
        order(worker);
      });
      worker.on('exit', (code, signal) => {
        if (code === 0) resolve();
        else
          reject(
            new Error(`a process of the campaign ended with ${signal ?? code}, at a seed below ${next}`),
          );
      });
      order(worker);
    });
  return Promise.all(Array.from({ length: jobs }, labour)).then(() => sum);
}

/** Runs the seeds that the parent process sends, until it sends no more. */
export function obey(): void {
  process.on('message', ({ from, kind, plant }: Order) => {
    void playSeeds(from, SHARE, kind, plant).then((tally) => process.send?.(tally));
  });
  process.on('disconnect', () => process.exit(0));
}
