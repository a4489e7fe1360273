/** Sound programs of many kinds: jobs, caches, streams, limiters, elections, semaphores, counters. Nothing may be found in them. */
import type { ClientSession } from '../../explore/index.ts';
import { fresh, give, LEASE, RETRY, take, workIn } from '../specimens/reported/report.ts';
import type { RecallCase } from './case.ts';

const WORK = 150;

type Client = (session: ClientSession) => Promise<void>;

/** A request that may fail: null then. */
function quiet<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch(() => null);
}

/** Does work under a lock with a token and a lease. */
async function under(session: ClientSession, key: string, resource: string, ms = WORK): Promise<void> {
  const token = fresh(session.name);
  const ends = await take(session, key, token);
  await workIn(session, resource, ms, ends);
  await give(session, key, token);
}

/** Tries once to do work under a lock. Returns whether it had it. */
async function once(session: ClientSession, key: string, resource: string, ms = WORK): Promise<boolean> {
  const token = fresh(session.name);
  const asked = performance.now();
  if ((await quiet(session.redis.set(key, token, 'PX', LEASE, 'NX'))) !== 'OK') return false;
  await workIn(session, resource, ms, asked + LEASE - 2 * RETRY);
  await give(session, key, token);
  return true;
}

const jobs: Client = async (session) => {
  const { name, redis, sleep } = session;
  await quiet(redis.rpush('jobs', `${name}1`, `${name}2`));
  for (let i = 0; i < 4; i++) {
    const job = await quiet(redis.lpop('jobs'));
    if (typeof job === 'string') await once(session, `lock:${job}`, `job ${job}`, 80);
    await sleep(20);
  }
  await under(session, 'report', 'report', 50);
};

const cache: Client = async (session) => {
  const { redis, sleep } = session;
  for (let i = 0; i < 3; i++) {
    if ((await quiet(redis.get('value'))) === null && (await once(session, 'lock:value', 'computation')))
      await quiet(redis.set('value', 'computed', 'PX', 400));
    await sleep(100);
  }
};

const stream: Client = async (session) => {
  const { name, redis, sleep } = session;
  for (let i = 0; i < 3; i++) {
    await quiet(redis.xadd('events', 'MAXLEN', 50, '*', 'from', name));
    await under(session, 'lock:writer', 'view', 60);
    await quiet(redis.xrange('events', '-', '+', 'COUNT', 10));
    await sleep(30);
  }
};

const consumers: Client = async (session) => {
  const { name, redis, sleep } = session;
  await quiet(redis.xgroup('CREATE', 'tasks', 'workers', '0', 'MKSTREAM'));
  await quiet(redis.xadd('tasks', '*', 'by', name));
  for (let i = 0; i < 3; i++) {
    const read = await quiet(redis.xreadgroup('GROUP', 'workers', name, 'COUNT', 1, 'STREAMS', 'tasks', '>'));
    const id = (read as [string, [string, unknown][]][] | null)?.[0]?.[1][0]?.[0];
    // However a consumer got the task, it takes the lock of the task first.
    if (id !== undefined && (await once(session, `lock:${id}`, `task ${id}`, 60)))
      await quiet(redis.xack('tasks', 'workers', id));
    await sleep(30);
  }
  await under(session, 'lock:done', 'summary', 40);
};

const WINDOW =
  "local n = redis.call('incr', KEYS[1]) if n == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end return n <= tonumber(ARGV[2]) and 1 or 0";

const window: Client = async ({ redis, resource, sleep }) => {
  for (let i = 0; i < 6; i++) {
    if ((await quiet(redis.eval(WINDOW, 1, 'window', 300, 2))) === 1)
      resource('api', { permits: 10 }).enter().leave();
    await sleep(70);
  }
};

const SLIDING = `local t = redis.call('time')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now - ARGV[1])
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('zadd', KEYS[1], now, ARGV[3])
redis.call('pexpire', KEYS[1], ARGV[1])
return 1`;

const sliding: Client = async ({ name, redis, resource, sleep }) => {
  for (let i = 0; i < 6; i++) {
    const got = await quiet(redis.eval(SLIDING, 1, 'requests', 300, 2, `${name}${i}${Math.random()}`));
    if (got === 1) resource('api', { permits: 10 }).enter().leave();
    await sleep(70);
  }
};

const bucket: Client = async ({ redis, resource, sleep }) => {
  const TAKE = `local level = tonumber(redis.call('get', KEYS[1]) or '5')
if level < 1 then return 0 end
redis.call('set', KEYS[1], level - 1, 'px', 500)
return 1`;
  for (let i = 0; i < 4; i++) {
    if ((await quiet(redis.eval(TAKE, 1, 'bucket'))) === 1) resource('api', { permits: 30 }).enter().leave();
    await sleep(90);
  }
};

const RENEW =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

const election: Client = async (session) => {
  const { redis, resource, sleep } = session;
  const token = fresh(session.name);
  let ends = await take(session, 'leader', token);
  if (performance.now() + 100 < ends) {
    const inside = resource('board').enter();
    for (let term = 0; term < 6 && performance.now() + 100 < ends; term++) {
      await sleep(100);
      if (performance.now() < ends) inside.write();
      const asked = performance.now();
      const renewed = await quiet(redis.eval(RENEW, 1, 'leader', token, LEASE));
      if (renewed === 0) break;
      if (renewed === 1) ends = asked + LEASE - 2 * RETRY;
    }
    inside.leave();
  }
  await give(session, 'leader', token);
};

const standby: Client = async (session) => {
  // A client that is refused stays a follower, and does not try again.
  await once(session, 'leader', 'board', 300);
};

const ENTER = `local t = redis.call('time')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('pexpire', KEYS[1], 2 * ARGV[2])
return 1`;

const semaphore: Client = async (session) => {
  const { redis, resource, sleep } = session;
  const token = fresh(session.name);
  let asked = performance.now();
  while ((await quiet(redis.eval(ENTER, 1, 'pool', token, LEASE, 2))) !== 1) {
    await sleep(RETRY);
    asked = performance.now();
  }
  const ends = asked + 0.95 * LEASE;
  if (performance.now() + WORK < ends) {
    const inside = resource('pool', { permits: 2 }).enter();
    await sleep(WORK);
    if (performance.now() < ends) inside.write();
    inside.leave();
  }
  await quiet(redis.zrem('pool', token));
};

const counter: Client = async ({ redis, resource, sleep }) => {
  for (let i = 0; i < 5; i++) {
    if ((await quiet(redis.incrby('visits', 2))) !== null) resource('page', { permits: 100 }).enter().leave();
    await sleep(40);
  }
};

const balance: Client = async (session) => {
  const { connect, record, sleep } = session;
  // Nothing is sent again on a new connection: there EXEC has lost its WATCH, and WAIT counts no write of the old one.
  const redis = connect({ retryStrategy: () => null });
  redis.on('error', () => {});
  for (let tries = 0; tries < 4; tries++) {
    const update = record('update');
    try {
      await redis.watch('balance');
      const before = await redis.get('balance');
      await sleep(20);
      const after = `${Number((before ?? '0').split(':')[0]) + 10}:${fresh(session.name)}`;
      const done = await redis.multi().set('balance', after).exec();
      if (done === null) update.failed();
      else {
        // Where a replica does not have it, a failover may lose it: nobody may rely on it.
        const copies = await quiet(redis.wait(1, 300));
        if (copies === 1) update.ok({ read: before, wrote: after });
        break;
      }
    } catch {
      break; // Nobody knows whether it was written.
    }
  }
  redis.disconnect();
  session.resource('account', { permits: 10 }).enter().leave();
};

const READ = `local t = redis.call('time')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('exists', KEYS[2]) == 1 then return 0 end
redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('pexpire', KEYS[1], 2 * ARGV[2])
return 1`;
const WRITE = `local t = redis.call('time')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('exists', KEYS[1]) == 1 then return 0 end
return redis.call('set', KEYS[2], ARGV[1], 'nx', 'px', ARGV[2]) and 1 or 0`;

const readersWriter: Client = async (session) => {
  const { name, redis, resource, sleep } = session;
  const token = fresh(name);
  const reads = name !== 'A';
  let asked = performance.now();
  while ((await quiet(redis.eval(reads ? READ : WRITE, 2, 'readers', 'writer', token, LEASE))) !== 1) {
    await sleep(RETRY);
    asked = performance.now();
  }
  const ends = asked + 0.95 * LEASE;
  if (performance.now() + WORK < ends) {
    const inside = resource('page').enter({ shared: reads });
    await sleep(WORK);
    if (!reads && performance.now() < ends) inside.write();
    inside.leave();
  }
  await (reads ? quiet(redis.zrem('readers', token)) : give(session, 'writer', token));
};

const reentrant: Client = async (session) => {
  const { redis, sleep } = session;
  const owner = fresh(session.name);
  const LOCK = `if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('hset', KEYS[1], ARGV[1], ARGV[3])
redis.call('pexpire', KEYS[1], ARGV[2])
return 1`;
  const UNLOCK = `if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
if ARGV[2] == '0' then return redis.call('del', KEYS[1]) end
return redis.call('hset', KEYS[1], ARGV[1], ARGV[2])`;
  let asked = performance.now();
  // The count is sent, not added: a request that is executed twice says the same.
  while ((await quiet(redis.eval(LOCK, 1, 'lock', owner, LEASE, 1))) !== 1) {
    await sleep(RETRY);
    asked = performance.now();
  }
  const ends = asked + LEASE - 2 * RETRY;
  if ((await quiet(redis.eval(LOCK, 1, 'lock', owner, LEASE, 2))) === 1) {
    await workIn(session, 'stock', WORK, ends);
    await quiet(redis.eval(UNLOCK, 1, 'lock', owner, 1));
  }
  await quiet(redis.eval(UNLOCK, 1, 'lock', owner, 0));
};

const barrier: Client = async (session) => {
  const { name, redis, sleep } = session;
  await quiet(redis.sadd('there', name));
  // It does not wait longer for clients that come late.
  for (let i = 0; i < 20 && Number(await quiet(redis.scard('there'))) < 3; i++) await sleep(30);
  await under(session, 'phase', 'second phase', 60);
};

const woken: Client = async (session) => {
  const { connect, redis, sleep } = session;
  const token = fresh(session.name);
  const ears = connect();
  let wake = (): void => {};
  ears.on('message', () => wake());
  await quiet(ears.subscribe('freed'));
  for (;;) {
    const heard = new Promise<void>((resolve) => (wake = resolve));
    const asked = performance.now();
    if ((await quiet(redis.set('lock', token, 'PX', LEASE, 'NX'))) === 'OK') {
      await workIn(session, 'stock', WORK, asked + LEASE - 2 * RETRY);
      break;
    }
    // A message may get lost: it looks again in any case.
    await Promise.race([heard, sleep(200)]);
  }
  await give(session, 'lock', token);
  await quiet(redis.publish('freed', '1'));
  ears.disconnect();
};

const schedule: Client = async (session) => {
  const { redis, sleep } = session;
  await quiet(redis.zadd('due', 'NX', 100, 'mail', 200, 'report', 300, 'backup'));
  const start = performance.now();
  for (let i = 0; i < 8; i++) {
    const due = (await quiet(redis.zrangebyscore('due', 0, performance.now() - start))) ?? [];
    for (const job of due)
      if (await once(session, `lock:${job}`, `job ${job}`, 40)) await quiet(redis.zrem('due', job));
    await sleep(60);
  }
};

const transfer: Client = async (session) => {
  const { name } = session;
  const keys = [`account:${name === 'A' ? 1 : 2}`, `account:${name === 'C' ? 1 : 3}`].sort();
  const tokens = keys.map(() => fresh(name));
  let ends = Infinity;
  // All clients take their locks in the same order.
  for (const [i, key] of keys.entries())
    ends = Math.min(ends, await take(session, key, tokens[i] as string, 2 * LEASE));
  if (performance.now() + 100 < ends) {
    const inside = keys.map((key) => session.resource(key).enter());
    await session.sleep(80);
    for (const each of inside) if (performance.now() < ends) each.write();
    for (const each of inside) each.leave();
  }
  for (const [i, key] of keys.entries()) await give(session, key, tokens[i] as string);
};

const byDigest: Client = async (session) => {
  const { redis, sleep } = session;
  const TAKE = "if redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then return 1 end return 0";
  const sha = await quiet(redis.script('LOAD', TAKE));
  const token = fresh(session.name);
  const ask = (): Promise<unknown> =>
    redis
      .evalsha(String(sha), 1, 'lock', token, LEASE)
      .catch((error: unknown) =>
        String(error).includes('NOSCRIPT') ? redis.eval(TAKE, 1, 'lock', token, LEASE) : 0,
      );
  let asked = performance.now();
  while ((await quiet(ask())) !== 1) {
    await sleep(RETRY);
    asked = performance.now();
  }
  await workIn(session, 'stock', WORK, asked + LEASE - 2 * RETRY);
  await give(session, 'lock', token);
};

const patient: Client = async (session) => {
  const { sleep } = session;
  // It waits for a second at most, longer each time, and then does without.
  for (let wait = 20, waited = 0; waited < 1000; wait = Math.min(200, wait * 2)) {
    if (await once(session, 'lock', 'stock')) return;
    await sleep(wait + Math.random() * 10);
    waited += wait;
  }
};

const versions: Client = async (session) => {
  const { connect, sleep } = session;
  const redis = connect();
  for (let tries = 0; tries < 5; tries++) {
    const done = await quiet(
      (async () => {
        await redis.watch('version');
        const version = Number(await redis.get('version'));
        await sleep(10);
        return await redis
          .multi()
          .set('version', version + 1)
          .exec();
      })(),
    );
    if (done !== null) break;
    await sleep(10);
  }
  redis.disconnect();
  await under(session, 'lock:config', 'config', 60);
};

const presence: Client = async (session) => {
  const { name, redis } = session;
  const beat = setInterval(() => void quiet(redis.set(`here:${name}`, 1, 'PX', 90)), 30);
  await under(session, 'room', 'room');
  clearInterval(beat);
};

/** All of them. */
export const soundPrograms: readonly RecallCase[] = Object.entries({
  ...{
    jobs,
    cache,
    stream,
    consumers,
    window,
    sliding,
    bucket,
    election,
    standby,
    semaphore,
    counter,
    balance,
  },
  ...{ readersWriter, reentrant, barrier, woken, schedule, transfer, byDigest, patient, versions, presence },
}).map(([name, sound]) => ({ name: `sound: ${name}`, group: 'program' as const, sound }));
