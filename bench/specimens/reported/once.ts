/** Reported failures in which a job or a tick is done twice, one after the other. */
import type { ClientSession } from '../../../explore/index.ts';
import { fresh, give, RETRY, type ReportedFailure, take } from './report.ts';

const WORK = 150;

/** Two ticks, each of which every client tries. @param lease how long the key of a tick stays; for ever without one */
function ticks(lease?: number) {
  return async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    for (let tick = 1; tick <= 2; tick++) {
      const key = `tick:${tick}`;
      const asked =
        lease === undefined ? redis.set(key, name, 'NX') : redis.set(key, name, 'PX', lease, 'NX');
      const got = await asked.catch(() => undefined);
      if (got === 'OK') {
        const inside = resource(`tick ${tick}`, { once: true }).enter();
        await sleep(WORK);
        inside.leave();
      }
      await sleep(1000);
    }
  };
}

/** One job behind a lock. @param marks whether the work and its mark are one write, which only the first client makes */
function job(marks: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, resource, sleep } = session;
    const token = fresh(name);
    await take(session, 'lock', token);
    const todo = (await redis.get('done').catch(() => 'unknown')) === null;
    if (todo) {
      const inside = resource('job', { once: true }).enter();
      await sleep(WORK);
      if (marks) {
        // One command stores the result and marks the job as done, so a second client does nothing.
        if ((await redis.setnx('done', name).catch(() => 0)) === 1) inside.write();
      } else {
        inside.write();
        await sleep(RETRY);
        await redis.set('done', name).catch(() => '');
      }
      inside.leave();
    }
    await give(session, 'lock', token);
  };
}

/** They all break `once`. */
export const twice: readonly ReportedFailure[] = [
  {
    what: 'the lock of a cron tick ends before the slowest client asks for it',
    source: 'ShedLock #6, laravel PR #20021 and #35582, sidekiq-scheduler #156, redisson #2851',
    ...{ breaks: 'once', faults: ['client-pause', 'node-pause', 'delay'], within: 12 },
    ...{ unsafe: ticks(400), sound: ticks() },
  },
  {
    what: 'a job is marked as done after its work, and its client stalls or dies in between',
    source: 'BullMQ #3056, #3183, #596, bull #308',
    ...{ breaks: 'once', faults: ['client-death', 'client-pause'], within: 40 },
    ...{ unsafe: job(false), sound: job(true) },
  },
];
