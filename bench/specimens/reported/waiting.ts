/** Reported failures of waiters and releases: lost events, refused releases, a blocked loop, a stampede, a lost counter. */
import type { ClientSession } from '../../../explore/index.ts';
import { fresh, give, LEASE, RETRY, type ReportedFailure, take, workIn } from './report.ts';

const WORK = 200;

/** Waits for the keyspace event of the lock's end. @param looks whether it also looks every now and then */
function byEvents(looks: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { connect, redis, signal, sleep } = session;
    const token = fresh(session.name);
    const ears = connect();
    let wake = (): void => {};
    ears.on('pmessage', () => wake());
    await redis.config('SET', 'notify-keyspace-events', 'Kgx').catch(() => undefined);
    await ears.psubscribe('__keyspace@0__:lock').catch(() => undefined);
    while (!signal.aborted) {
      const heard = new Promise<void>((resolve) => (wake = resolve));
      const asked = performance.now();
      if ((await redis.set('lock', token, 'PX', LEASE, 'NX').catch(() => null)) === 'OK') {
        await workIn(session, 'stock', WORK, asked + LEASE - 2 * RETRY);
        await give(session, 'lock', token);
        return;
      }
      await (looks ? Promise.race([heard, sleep(4 * RETRY)]) : heard);
    }
  };
}

/** Two tasks of one process share one object, which remembers that it has a permit. @param shares whether they do */
function sharedPermit(shares: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, resource, sleep } = session;
    let mine: string | undefined;
    const TAKE = `redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[1])
if redis.call('zcard', KEYS[1]) < 1 then return redis.call('zadd', KEYS[1], ARGV[2], ARGV[3]) end return 0`;
    const acquire = async (token: string): Promise<number> => {
      for (;;) {
        const now = Date.now();
        const got = await redis.eval(TAKE, 1, 'permits', now, now + LEASE, token).catch(() => 0);
        if (got === 1) return performance.now() + LEASE - 4 * RETRY;
        await sleep(RETRY);
      }
    };
    const task = async (owner: string): Promise<void> => {
      const token = shares ? (mine ??= fresh(name)) : fresh(name);
      // The object believes that it has the permit already, and lets its second user through.
      const until = shares && owner === 'two' && mine !== undefined ? Infinity : await acquire(token);
      if (performance.now() + WORK < until) {
        const inside = resource('stock').enter({ owner });
        await sleep(WORK);
        inside.leave();
      }
      await redis.zrem('permits', token).catch(() => 0);
    };
    await Promise.all([task('one'), task('two')]);
  };
}

/** Releases once. @param again whether a refused release is sent again, and the lock has a lease */
function refused(again: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { redis, sleep } = session;
    const token = fresh(session.name);
    let until = Infinity;
    if (again) until = await take(session, 'lock', token);
    else while ((await redis.set('lock', token, 'NX').catch(() => null)) !== 'OK') await sleep(RETRY);
    await workIn(session, 'stock', WORK, until);
    await give(session, 'lock', token);
  };
}

/** Renews with a timer, and then computes for longer than the lease. @param looks whether it looks at its deadline before it writes */
function computing(looks: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { block, redis, resource } = session;
    const token = fresh(session.name);
    const until = await take(session, 'lock', token);
    const timer = setInterval(() => void redis.pexpire('lock', LEASE).catch(() => 0), LEASE / 3);
    const inside = resource('stock').enter();
    block(looks ? 100 : 1.5 * LEASE);
    if (!looks || performance.now() < until) inside.write();
    inside.leave();
    clearInterval(timer);
    await give(session, 'lock', token);
  };
}

/** The value is computed once for each process that finds none. @param locked whether a lock lets one process compute */
function cached(locked: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, resource, signal, sleep } = session;
    const compute = async (): Promise<void> => {
      const inside = resource('computation', { once: true }).enter();
      await sleep(WORK);
      // What counts is the first value that is stored.
      if ((await redis.set('value', name, 'NX').catch(() => null)) === 'OK' || !locked) inside.write();
      inside.leave();
    };
    if ((await redis.get('value').catch(() => 'unknown')) !== null) return;
    if (!locked) return await compute();
    while (!signal.aborted && (await redis.get('value').catch(() => null)) === null) {
      const token = fresh(name);
      if ((await redis.set('lock', token, 'PX', LEASE, 'NX').catch(() => null)) === 'OK') {
        if ((await redis.get('value').catch(() => 'unknown')) === null) await compute();
        await give(session, 'lock', token);
      } else await sleep(RETRY);
    }
  };
}

/** A window of two requests. The counter of a window is lost with the server. @param permits how many requests the resource allows */
function limited(permits: number) {
  return async ({ redis, resource, sleep }: ClientSession): Promise<void> => {
    const count =
      "local n = redis.call('incr', KEYS[1]) if n == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end return n";
    for (let i = 0; i < 4; i++) {
      const asked = Math.floor(performance.now());
      const n = (await redis.eval(count, 1, 'window', 600).catch(() => Infinity)) as number;
      if (n <= 2) {
        const inside = resource('window', { permits }).enter();
        await sleep(Math.max(0, 150 - (performance.now() - asked)));
        inside.leave();
      }
      await sleep(100);
    }
  };
}

/** In a cluster: the release names two keys, which are on two nodes. @param tagged whether a tag keeps them on one */
function twoKeys(tagged: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, sleep } = session;
    const [lock, queue] = tagged ? ['{l}:lock', '{l}:queue'] : ['lock', 'queue'];
    const token = fresh(name);
    let asked = performance.now();
    while ((await redis.set(lock, token, 'PX', LEASE, 'NX').catch(() => null)) !== 'OK') {
      await sleep(RETRY);
      asked = performance.now();
    }
    await workIn(session, 'stock', WORK, asked + LEASE - 2 * RETRY);
    const script =
      "if redis.call('get',KEYS[1])==ARGV[1] then redis.call('del',KEYS[1]) end redis.call('del',KEYS[2]) return 1";
    const released = redis.eval(script, 2, lock, queue, token);
    await (tagged ? released.catch(() => 0) : released);
  };
}

/** They break what their names say. */
export const refusals: readonly ReportedFailure[] = [
  {
    what: 'waiters hear of the end of the lock by keyspace events, which a new primary does not send',
    source: 'redisson #4214, redis-py #3543',
    ...{ breaks: 'everyone-served', faults: ['failover', 'restart-empty', 'connection-reset'], within: 60 },
    ...{ unsafe: byEvents(false), sound: byEvents(true) },
  },
  {
    what: 'tasks of one process share the object that has a permit',
    source: 'redis-semaphore #205',
    ...{ breaks: 'mutual-exclusion', faults: [], within: 2 },
    ...{ unsafe: sharedPermit(true), sound: sharedPermit(false) },
  },
  {
    what: 'a release that the server refuses is not sent again, and the lock has no lease',
    source: 'node-redlock #11',
    ...{ breaks: 'no-orphan', faults: ['misconf'], within: 60 },
    ...{ unsafe: refused(false), sound: refused(true) },
  },
  {
    what: 'a process computes for longer than its lease, and its timer does not renew meanwhile',
    source: 'redis-semaphore #9, #24',
    ...{ breaks: 'mutual-exclusion', faults: [], within: 2 },
    ...{ unsafe: computing(false), sound: computing(true) },
  },
  {
    what: 'each process computes the same value, because only calls of one process are joined',
    source: 'cacheable #1201',
    ...{ breaks: 'mutual-exclusion', faults: [], within: 2 },
    ...{ unsafe: cached(false), sound: cached(true) },
  },
  {
    what: 'the counter of a window is lost with its server, and more requests pass than the limit',
    source: 'rate-limiter-flexible 11.4.0',
    ...{ breaks: 'permits', faults: ['restart-empty'], within: 80 },
    ...{ unsafe: limited(2), sound: limited(4) },
  },
];

/** The release throws in every world, and nobody notices: a report is inconclusive for it. */
export const crossSlot = { unsafe: twoKeys(false), sound: twoKeys(true) };
