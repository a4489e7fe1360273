/** Public reports of broken Redis locks as models of some lines, and those that no such model can show, with the reason. */
import type { ClientSession, ExploreOptions } from '../../explore/index.ts';
import { LEASE } from '../libraries/work.ts';
import { fresh, give, inside, listening, lock, majority, PERMITS, take, until } from '../specimens/forms.ts';

/** A report, and code that fails in the way that it tells. */
export interface ReportModel extends Pick<ExploreOptions, 'topology' | 'faults' | 'promises' | 'clients'> {
  /** Where it was reported. */
  readonly report: string;
  readonly client: ExploreOptions['client'];
}

/** A report that no model can show. */
export interface ReportWithoutModel {
  readonly report: string;
  readonly why: string;
}

const EXCLUSION: ExploreOptions['promises'] = ['mutual-exclusion'];
const CLOSED: ExploreOptions['promises'] = ['no-orphan', 'progress'];

const COUNT = `
if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('hincrby', KEYS[1], ARGV[1], 1)
redis.call('pexpire', KEYS[1], ARGV[2])
return 1`;
const UNCOUNT = `
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then redis.call('persist', KEYS[1]) return 0 end
return redis.call('del', KEYS[1])`;

const TAKE = "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";

/** Takes the lock as a re-entrant one does, and gives it back once. */
async function countedOnce(session: ClientSession): Promise<void> {
  const { redis, name } = session;
  await until(session, () => redis.eval(COUNT, 1, 'lock', name, LEASE));
  await inside(session);
  await redis.eval(UNCOUNT, 1, 'lock', name).catch(() => undefined);
}

/** The value is the deadline by the client's clock. A client that finds the deadline passed takes the lock with GETSET. */
async function byTheClock(session: ClientSession): Promise<void> {
  const { redis } = session;
  const later = (): string => String(Date.now() + LEASE);
  await until(session, async () => {
    if ((await redis.setnx('lock', later())) === 1) return true;
    const before = await redis.get('lock');
    if (before === null || Number(before) > Date.now()) return false;
    return (await redis.getset('lock', later())) === before;
  });
  await inside(session);
  await redis.del('lock').catch(() => 0);
}

/** A permit is a token in a list. A client that has stalled gives it back although it was found to be stale. */
function tokens(session: ClientSession): Promise<void> {
  return (async () => {
    const { redis } = session;
    await until(session, async () => {
      if ((await redis.set('made', 1, 'NX')) === 'OK') await redis.rpush('free', 'a', 'b');
      return await redis.lpop('free');
    });
    await inside(session, { permits: PERMITS });
    await until(session, () => redis.rpush('free', 'a'));
  })();
}

/** Deletes locks that look old to it, in the place of their holders. */
async function withReaper(session: ClientSession): Promise<void> {
  const { name, redis, sleep, signal } = session;
  if (name !== 'A') {
    const token = fresh(name);
    await until(session, () => redis.set('lock', token, 'PX', 4 * LEASE, 'NX'));
    await inside(session, { ms: 600 });
    await give(session, token);
    return;
  }
  for (let i = 0; i < 8 && !signal.aborted; i++) {
    await sleep(300);
    await redis.del('lock').catch(() => 0);
  }
}

/** All reports with a model. */
export const reportModels: readonly ReportModel[] = [
  {
    ...{ report: 'laravel/framework #26213, #20709', promises: EXCLUSION },
    client: lock({ give: ({ redis }) => redis.del('lock').catch(() => 0) }),
  },
  {
    ...{
      report: 'redis/redis-py #554, #818',
      promises: CLOSED,
      faults: ['client-death', 'connection-reset', 'lost-reply'],
    },
    client: lock({
      take: async ({ redis }, token) => {
        const got = await redis.setnx('lock', token);
        if (got === 1) await redis.pexpire('lock', LEASE);
        return got;
      },
    }),
  },
  {
    ...{ report: 'redis-py PR #1031', promises: EXCLUSION },
    client: lock({
      give: async ({ redis }, token) => {
        await redis.watch('lock');
        if ((await redis.get('lock')) === token) await redis.del('lock');
        await redis.unwatch();
      },
    }),
  },
  { report: 'redis-py #415', promises: EXCLUSION, client: byTheClock },
  {
    ...{
      report: 'sibson/redbeat #208, #238',
      promises: EXCLUSION,
      faults: ['busy', 'read-only', 'out-of-memory'],
    },
    client: lock({ take: (session, token) => take(session, token).catch(() => 'OK') }),
  },
  {
    ...{
      report: 'dv/redis-semaphore #23',
      promises: CLOSED,
      faults: ['client-death', 'lost-reply', 'connection-reset'],
    },
    client: lock({
      take: async ({ redis }, token) => {
        if ((await redis.setnx('lock', token)) === 1) return await redis.pexpire('lock', LEASE);
        // Another candidate looks at the value, and takes the lease away with it.
        const before = await redis.get('lock');
        if (before !== null) await redis.set('lock', before);
        return 0;
      },
    }),
  },
  { report: 'dv/redis-semaphore #58, #13, #49', promises: ['permits', 'no-orphan'], client: tokens },
  {
    ...{ report: 'leandromoreira/redlock-rb #36, aioredlock PR #21', promises: EXCLUSION },
    client: lock({
      ...{ ms: 1500, believes: 'always' },
      beside: ({ redis }, token) => {
        const timer = setInterval(
          () => void redis.set('lock', token, 'PX', LEASE).catch(() => undefined),
          LEASE / 3,
        );
        return () => clearInterval(timer);
      },
    }),
  },
  {
    report: 'redisson #4822',
    promises: CLOSED,
    faults: ['lost-reply', 'connection-reset'],
    client: countedOnce,
  },
  {
    ...{ report: 'sidekiq-unique-jobs #580, #779', promises: EXCLUSION },
    client: withReaper,
  },
  {
    ...{
      report: 'sidekiq-unique-jobs #691, #861, resque-scheduler #591',
      promises: CLOSED,
      faults: ['client-death'],
    },
    client: async (session) => {
      await until(session, () => session.redis.setnx('lock', session.name));
      await inside(session);
      await session.redis.del('lock').catch(() => 0);
    },
  },
  {
    ...{ report: 'PrefectHQ/prefect PR #23045', promises: EXCLUSION },
    client: async (session) => {
      const { redis, sleep, name } = session;
      const token = fresh(name);
      await until(session, () => take(session, token));
      const renewal = setInterval(() => void redis.pexpire('lock', LEASE).catch(() => 0), 250);
      await inside(session, { ms: 400 });
      clearInterval(renewal);
      await give(session, token);
      // The list of leases that are over was read before they were renewed.
      const isOver = (await redis.pttl('lock').catch(() => 0)) < 900;
      await sleep(60);
      if (isOver) await redis.del('lock').catch(() => 0);
    },
  },
  {
    ...{ report: 'samcook/RedLock.net #68, #6', promises: CLOSED, clients: 2, faults: ['client-death'] },
    client: lock({
      beside: ({ redis }) => {
        const timer = setInterval(() => void redis.pexpire('lock', LEASE).catch(() => undefined), LEASE / 3);
        // The work is over, and the watchdog goes on.
        return () => void timer;
      },
    }),
  },
  {
    ...{ report: 'redsync #149, #147', promises: EXCLUSION, topology: { primaries: 3 } },
    ...{ faults: ['restart-empty'], client: majority((votes, of) => votes > of / 2) },
  },
  {
    ...{ report: 'aphyr, Jepsen: Redis and Sentinel (2013)', promises: EXCLUSION },
    ...{ faults: ['failover-behind', 'failover'], client: lock({ believes: 'always' }) },
  },
  {
    ...{
      report: 'redisson #1104, #2099, #3730',
      promises: EXCLUSION,
      faults: ['client-pause', 'lost-reply'],
    },
    // The first client of the queue enters. The others compute from their place how long they may have to wait.
    client: async (session) => {
      const { redis, name, sleep, signal } = session;
      await until(session, () => redis.rpush('queue', name));
      const from = performance.now();
      while (!signal.aborted) {
        const first = await redis.lindex('queue', 0).catch(() => null);
        if (first === name) break;
        if (performance.now() - from > 2 * LEASE && first !== null)
          await redis.lrem('queue', 1, first).catch(() => 0);
        await sleep(50);
      }
      await inside(session);
      await redis.lrem('queue', 1, name).catch(() => 0);
    },
  },
  {
    ...{ report: 'redisson #1763, #3891, #763', promises: ['everyone-served'], faults: [] },
    client: listening(false),
  },
  {
    ...{ report: 'redisson #3829', promises: ['everyone-served'], faults: ['restart-empty'] },
    client: listening(false),
  },
  {
    ...{
      report: 'ShedLock #6, laravel PR #20021, sidekiq-scheduler #156, redisson #2851',
      promises: ['once'],
    },
    ...{ faults: ['client-pause', 'delay'] },
    // The tick is due for all of them; the lock is gone when the last of them asks.
    client: async (session) => {
      const { redis, name, resource, sleep } = session;
      if ((await redis.set('lock:tick', name, 'PX', LEASE, 'NX').catch(() => null)) !== 'OK') return;
      const tick = resource('tick', { once: true }).enter();
      await sleep(100);
      tick.write();
      tick.leave();
      await redis.del('lock:tick').catch(() => 0);
    },
  },
  {
    ...{
      report: 'symfony #59686, CSenshi/nestjs-redis #15, upstash/ratelimit-js #122',
      promises: ['everyone-served'],
    },
    ...{ faults: ['script-flush', 'failover'] },
    client: async (session) => {
      const { redis } = session;
      const token = fresh(session.name);
      const sha = (await redis.script('LOAD', TAKE)) as string;
      await until(session, () => redis.evalsha(sha, 1, 'lock', token, LEASE));
      await inside(session);
      await give(session, token);
    },
  },
];

/** The reports that no model of some lines can show. */
export const withoutModel: readonly ReportWithoutModel[] = [
  {
    report: 'redisson #4214, redis-py #3543',
    why: 'it needs keyspace events, and a waiter without any other wake-up',
  },
  { report: 'redisson PR #7098, #1458', why: 'a writer starves: nobody is inside who may not be' },
  {
    report: 'redis-semaphore #205',
    why: 'it is about tasks of one process that share an object of that library',
  },
  {
    report: 'python-redis-lock #59, redisson #1098, bull #459',
    why: 'CROSSSLOT is answered at once, and nobody enters',
  },
  {
    report: 'BullMQ #3056, #3183, #596, bull #308',
    why: 'it needs the library: a stalled job is a state of its queues',
  },
  { report: 'cacheable #1201', why: 'it needs the library: its processes share nothing but the cache' },
  { report: 'redis-semaphore #9, #24', why: 'a blocked event loop stops the world as well' },
  { report: 'node-redlock #11', why: 'no fault makes a server answer MISCONF' },
  {
    report: 'e2b PR #2594, rueidis #372, #602',
    why: 'it is about the number of requests, not about who is inside',
  },
  { report: 'rate-limiter-flexible 11.4.0', why: 'a limiter lets many in: it has no holder' },
];
