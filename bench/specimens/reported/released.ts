/** Reported failures in which a client ends the lock of another: releases without a token, in two commands, reapers. */
import type { ClientSession } from '../../../explore/index.ts';
import { fresh, give, type ReportedFailure, take, workIn } from './report.ts';

const WORK = 300;

type Release = (session: ClientSession, token: string) => Promise<unknown>;

/** A lock with a token and a lease, and two rounds. @param release how it is given back */
function lock(release: Release) {
  return async (session: ClientSession): Promise<void> => {
    for (let round = 0; round < 2; round++) {
      const token = fresh(session.name);
      const until = await take(session, 'lock', token);
      await workIn(session, 'stock', WORK, until);
      await release(session, token).catch(() => undefined);
    }
  };
}

const byToken: Release = (session, token) => give(session, 'lock', token);

/** Works, and looks every now and then for locks of workers that have stopped. @param asks whether it asks how old a sign of life is */
function reaper(asks: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, sleep } = session;
    if (name !== 'A') return lock(byToken)(session);
    for (let i = 0; i < 12; i++) {
      await sleep(100);
      const owner = await redis.get('lock').catch(() => null);
      if (owner === null) continue;
      // A lease that is over ends by itself. What it looks for is a lock without one.
      const isOld = asks ? (await redis.pttl('lock').catch(() => 0)) === -1 : Math.random() < 0.2;
      if (isOld) await give(session, 'lock', owner);
    }
    session.resource('report').enter().leave();
  };
}

const WATCHED: Release = async ({ connect }, token) => {
  // A transaction that is sent again on a new connection has no WATCH there.
  const redis = connect({ autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  await redis.watch('lock');
  if ((await redis.get('lock')) === token) await redis.multi().del('lock').exec();
  redis.disconnect();
};

/** They all break `released-by-holder`. */
export const released: readonly ReportedFailure[] = [
  {
    what: 'a release deletes the key without a look at its token',
    source: 'laravel/framework #26213, #20709',
    ...{ breaks: 'released-by-holder', faults: ['client-pause'], within: 20 },
    ...{ unsafe: lock(({ redis }) => redis.del('lock')), sound: lock(byToken) },
  },
  {
    what: 'a release reads the token and deletes the key in two commands',
    source: 'redis-py PR #1031',
    ...{ breaks: 'released-by-holder', faults: ['client-pause', 'delay'], within: 80 },
    unsafe: lock(async ({ redis }, token) => {
      if ((await redis.get('lock')) === token) await redis.del('lock');
    }),
    sound: lock(WATCHED),
  },
  {
    what: 'a reaper deletes the locks of jobs that run',
    source: 'sidekiq-unique-jobs #580, #779',
    ...{ breaks: 'released-by-holder', faults: ['client-pause'], within: 10 },
    ...{ unsafe: reaper(false), sound: reaper(true) },
  },
];
