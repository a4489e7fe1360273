/** Reported failures in which a client waits for ever: missed wake-ups, stuck queues, starved writers, deadlocks, lost scripts. */
import type { ClientSession } from '../../../explore/index.ts';
import { fresh, give, LEASE, RETRY, type ReportedFailure, take, workIn } from './report.ts';

const WORK = 100;

/** Waits for messages on a channel of its own connection; resolves with the next one. */
async function listen({ connect }: ClientSession, channel: string): Promise<() => Promise<void>> {
  const ears = connect();
  let [heard, wake] = [0, (): void => {}];
  ears.on('message', () => {
    heard++;
    wake();
  });
  await ears.subscribe(channel);
  return async () => {
    if (heard === 0) await new Promise<void>((resolve) => (wake = resolve));
    heard = 0;
  };
}

/** A lock without polling: a release wakes the waiting clients. @param again true to ask once more before sleeping */
function sleeper(again: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis } = session;
    const ask = (): Promise<unknown> => redis.set('lock', name, 'NX');
    let got = await ask();
    if (got !== 'OK') {
      const message = await listen(session, 'free');
      if (again) got = await ask();
      while (got !== 'OK') {
        await message();
        got = await ask();
      }
    }
    await workIn(session, 'stock', WORK);
    await redis.del('lock');
    await redis.publish('free', name);
  };
}

/** Each client has two tasks, which share a queue of their process. @param frees whether an error frees the queue */
function queued(frees: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const waiting: (() => void)[] = [];
    let busy = false;
    const enterQueue = async (): Promise<void> => {
      if (busy) await new Promise<void>((resolve) => waiting.push(resolve));
      busy = true;
    };
    const leaveQueue = (): void => {
      busy = false;
      waiting.shift()?.();
    };
    const task = async (): Promise<void> => {
      await enterQueue();
      const token = fresh(session.name);
      try {
        const until = await take(session, 'lock', token);
        await workIn(session, 'stock', WORK, until);
        const left = (await session.redis.eval("return redis.call('del',KEYS[1])", 1, 'lock')) as number;
        if (left === 0) throw new Error('the lock was lost');
      } catch (error) {
        if (!frees) throw error;
      }
      leaveQueue();
    };
    await Promise.allSettled([task(), task().catch(() => {})]);
  };
}

const READ =
  "if redis.call('exists',KEYS[2])==1 then return nil end redis.call('hincrby',KEYS[1],'readers',1) redis.call('pexpire',KEYS[1],ARGV[1]) return 1";
const READ_APART =
  "if redis.call('exists',KEYS[2])==1 then return nil end redis.call('zadd',KEYS[1],ARGV[3]+ARGV[1],ARGV[2]) redis.call('pexpire',KEYS[1],ARGV[1]) return 1";
const UNREAD = "if redis.call('hincrby',KEYS[1],'readers',-1)<=0 then redis.call('del',KEYS[1]) end return 1";
const WRITE =
  "if redis.call('exists',KEYS[1])==1 then return nil end return redis.call('set',KEYS[2],1,'nx','px',1000)";
const WRITE_APART = `redis.call('zremrangebyscore',KEYS[1],'-inf',ARGV[1]) ${WRITE}`;

/** A and B read, and C writes, until the world ends. @param apart whether each reader has a deadline of its own */
function readersAndWriter(apart: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, resource, signal, sleep } = session;
    if (name === 'A' || name === 'B') {
      if (name === 'B') await sleep(70);
      while (!signal.aborted) {
        const ask = (): Promise<unknown> =>
          apart
            ? redis.eval(READ_APART, 2, 'rw', 'writer', LEASE, name, Date.now())
            : redis.eval(READ, 2, 'rw', 'writer', LEASE);
        while (!signal.aborted && (await ask()) === null) await sleep(10);
        if (signal.aborted) return;
        const inside = resource('page').enter({ shared: true });
        await sleep(40);
        inside.leave();
        await (apart ? redis.zrem('rw', name) : redis.eval(UNREAD, 1, 'rw'));
        await sleep(140);
      }
      return;
    }
    const ask = (): Promise<unknown> =>
      apart ? redis.eval(WRITE_APART, 2, 'rw', 'writer', Date.now()) : redis.eval(WRITE, 2, 'rw', 'writer');
    while (!signal.aborted) {
      await sleep(200);
      while (!signal.aborted && (await ask()) === null) await sleep(10);
      if (signal.aborted) return;
      resource('page').enter().leave();
      await redis.del('writer');
    }
  };
}

/** Two locks, whose leases are renewed as long as the client waits. @param ordered whether all take them in the same order */
function twoLocks(ordered: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, signal, sleep } = session;
    const token = fresh(name);
    let done = false;
    const renew = async (key: string): Promise<void> => {
      while (!done && !signal.aborted) {
        await redis.pexpire(key, LEASE).catch(() => 0);
        await sleep(LEASE / 3);
      }
    };
    const keys = ordered || name !== 'B' ? ['one', 'two'] : ['two', 'one'];
    if (name === 'B') await sleep(200);
    for (const key of keys) {
      while (!signal.aborted && (await redis.set(key, token, 'PX', LEASE, 'NX').catch(() => '')) !== 'OK')
        await sleep(RETRY);
      void renew(key);
      await sleep(30);
    }
    if (!signal.aborted) await workIn(session, 'both', WORK);
    done = true;
    for (const key of keys) await give(session, key, token);
  };
}

const ACQUIRE = "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return 1 end return 0";

/** Loads its script once. @param falls whether it sends the whole script when the server does not know it */
function evalsha(falls: boolean) {
  return async (session: ClientSession): Promise<void> => {
    const { name, redis, sleep } = session;
    const sha = (await redis.script('LOAD', ACQUIRE)) as string;
    for (let round = 0; round < 2; round++) {
      const token = fresh(name);
      const ask = async (): Promise<unknown> => {
        try {
          return await redis.evalsha(sha, 1, 'lock', token, LEASE);
        } catch (error) {
          if (!falls || !String(error).includes('NOSCRIPT')) return 0;
          return await redis.eval(ACQUIRE, 1, 'lock', token, LEASE).catch(() => 0);
        }
      };
      let asked = performance.now();
      while ((await ask()) !== 1) {
        await sleep(RETRY);
        asked = performance.now();
      }
      await workIn(session, 'stock', WORK, asked + LEASE - 2 * RETRY);
      await give(session, 'lock', token);
    }
  };
}

/** They all break `everyone-served`. */
export const served: readonly ReportedFailure[] = [
  {
    what: 'a waiter asks, and then subscribes: the release in between wakes nobody',
    source: 'redisson #1763, #3891, #763',
    ...{ breaks: 'everyone-served', faults: ['delay', 'node-pause'], within: 14 },
    ...{ unsafe: sleeper(false), sound: sleeper(true) },
  },
  {
    what: 'an error leaves the queue of the process closed',
    source: 'programs with an in-process mutex in front of the lock',
    ...{ breaks: 'everyone-served', faults: ['restart-empty'], within: 6 },
    ...{ unsafe: queued(false), sound: queued(true) },
  },
  {
    what: 'living readers renew the count of a dead one, and the writer starves',
    source: 'redisson PR #7098, #1458',
    ...{ breaks: 'everyone-served', faults: ['client-death'], within: 3 },
    ...{ unsafe: readersAndWriter(false), sound: readersAndWriter(true) },
  },
  {
    what: 'two locks are taken in two orders, and watchdogs renew them for ever',
    source: 'D19b of the review',
    ...{ breaks: 'everyone-served', faults: ['client-pause', 'delay'], clients: 2, within: 30 },
    ...{ unsafe: twoLocks(false), sound: twoLocks(true) },
  },
  {
    what: 'after a failover the script is unknown, and waiters send its hash for ever',
    source: 'symfony #59686, CSenshi/nestjs-redis #15, upstash/ratelimit-js #122',
    ...{ breaks: 'everyone-served', faults: ['script-flush', 'failover'], within: 6 },
    ...{ unsafe: evalsha(false), sound: evalsha(true) },
  },
];
