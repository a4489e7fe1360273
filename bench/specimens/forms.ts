/** The forms of locks that specimens are made of: parts of a lock that can be replaced, and our own locks. */
import type { ClientSession } from '../../explore/index.ts';
import { createLocks } from '../../locks/index.ts';
import { asHeld, LEASE, none, work } from '../libraries/work.ts';

/** A client's code. */
export type Client = (session: ClientSession) => Promise<void>;

/** Milliseconds of the work, and between two attempts. */
export const [WORK, RETRY, STEP] = [250, 50, 50];
const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
const EXTEND =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end";

const always = (): boolean => true;

/**
 * Works in the resource in steps, as long as the client believes that it may. With a fence, the resource is at a distance: no lease
 * keeps a late write out of it, so that forms without a fence write in their own process.
 */
export async function inside(
  { sleep, resource }: ClientSession,
  { ms = WORK, goesOn = always, fence = undefined as number | undefined, permits = 1 } = {},
): Promise<void> {
  const visit = resource('stock', { permits }).enter(fence === undefined ? {} : { fence });
  for (let done = 0; done < ms && goesOn(); done += STEP) {
    await sleep(STEP);
    if (!goesOn()) continue;
    if (fence === undefined) visit.write();
    else if (!(await visit.send().catch(() => false))) break;
  }
  visit.leave();
}

/** Asks again until it is granted, also after errors. */
export async function until({ sleep }: ClientSession, ask: () => Promise<unknown>): Promise<void> {
  while (!(await ask().catch(() => undefined))) await sleep(RETRY);
}

/** Asks once for the key with a lease. */
export const take = ({ redis }: ClientSession, token: string): Promise<unknown> =>
  redis.set('lock', token, 'PX', LEASE, 'NX');
/** Deletes the key of this token. */
export const give = ({ redis }: ClientSession, token: string): Promise<unknown> =>
  redis.eval(RELEASE, 1, 'lock', token).catch(() => undefined);
/** Renews the lease of this token. */
export const extend = ({ redis }: ClientSession, token: string): Promise<unknown> =>
  redis.eval(EXTEND, 1, 'lock', token, LEASE);

/** A token for one acquisition. */
export const fresh = (name: string): string => `${name}:${Math.random()}`;

/** A lock whose parts can be replaced. Without changes it has a token and a script, and counts its lease from the request. */
export function lock(parts: {
  readonly take?: (session: ClientSession, token: string) => Promise<unknown>;
  readonly give?: (session: ClientSession, token: string) => Promise<unknown>;
  readonly token?: (name: string) => string;
  readonly ms?: number;
  readonly believes?: 'always' | 'from the reply' | 'from the request';
  readonly beside?: (session: ClientSession, token: string) => () => void;
}): Client {
  const { ms = WORK, believes = 'from the request', beside } = parts;
  return async (session) => {
    const token = (parts.token ?? fresh)(session.name);
    let [sent, heard] = [0, 0];
    await until(session, async () => {
      sent = performance.now();
      const got = await (parts.take ?? take)(session, token);
      heard = performance.now();
      return got;
    });
    const end = (believes === 'from the reply' ? heard : sent) + LEASE - 20;
    if (believes !== 'always' && performance.now() >= end) return;
    const stop = beside?.(session, token);
    // A step that would end after the lease is not begun.
    const goesOn = (): boolean => performance.now() + STEP < end;
    await inside(session, { ms, goesOn: believes === 'always' ? always : goesOn });
    stop?.();
    await (parts.give ?? give)(session, token);
  };
}

/** The lock without changes. One constant, so that its worlds can be played once for all specimens that it cures. */
export const plain: Client = lock({});

/** Renews at every third of the lease until it is stopped, whatever the replies are. */
export function renewing(
  renew: (session: ClientSession, token: string) => Promise<unknown>,
  stops = true,
): (session: ClientSession, token: string) => () => void {
  return (session, token) => {
    const timer = setInterval(() => void renew(session, token).catch(() => undefined), LEASE / 3);
    return () => {
      if (stops) clearInterval(timer);
    };
  };
}

/** Our simple lock: it measures its lease by its own clock, and stops when it is lost. */
export const ours: Client = async (session) => {
  await using locks = createLocks(session.redis);
  await work(session, { ...asHeld(await locks.simple('lock').acquire({ leaseMs: LEASE })), extend: none });
};

/** The same, with another lease in the middle of the work. */
export const renewed: Client = async (session) => {
  await using locks = createLocks(session.redis);
  await work(session, asHeld(await locks.simple('lock').acquire({ leaseMs: LEASE })));
};

/** Our fenced lock, which waits for its replica; the resource checks the fence. */
export const fenced: Client = async (session) => {
  await using locks = createLocks(session.redis, { replicas: 1 });
  const held = await locks.fenced('lock', { fence: 'clock' }).acquire({ leaseMs: LEASE });
  await inside(session, { fence: held.fence as number });
  await held.release().catch(() => undefined);
};

/** Our re-entrant lock, held twice for a while. */
export const reentrant: Client = async (session) => {
  await using locks = createLocks(session.redis);
  const name = locks.reentrant('lock');
  await name.using({ leaseMs: LEASE }, async (outer) => {
    await name.using({ leaseMs: LEASE }, () => session.sleep(STEP)).catch(() => undefined);
    // The release of the inner hold may have taken longer than the lease.
    const held = asHeld(outer);
    if (held.isValid()) await work(session, { ...held, extend: none, release: none });
  });
};

/** Counts holds in the client's hash field. A release that was not answered is sent again. */
export const countsTwice: Client = async (session) => {
  const { redis, name, sleep } = session;
  const release = async (): Promise<void> => {
    const script =
      "if redis.call('hincrby',KEYS[1],ARGV[1],-1) <= 0 then redis.call('del',KEYS[1]) end return 1";
    await until(session, () => redis.eval(script, 1, 'lock', name));
  };
  const acquire = `
if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('hincrby', KEYS[1], ARGV[1], 1)
redis.call('pexpire', KEYS[1], ARGV[2])
return 1`;
  await until(session, () => redis.eval(acquire, 1, 'lock', name, LEASE));
  const end = performance.now() + LEASE - 100;
  await redis.eval(acquire, 1, 'lock', name, LEASE).catch(() => 0);
  await sleep(STEP);
  await release();
  await inside(session, { goesOn: () => performance.now() < end });
  await release();
};

/** How many permits a pool has. */
export const PERMITS = 2;

/** A counter of free permits, as people write it. */
export function counting(
  release: (session: ClientSession, had: boolean) => Promise<unknown>,
  permits: number,
): Client {
  return async (session) => {
    const { redis } = session;
    await until(session, () => redis.set('free', permits, 'NX').then(() => true));
    await until(session, async () => {
      const had = (await redis.decr('free')) >= 0;
      if (!had) await redis.incr('free');
      return had;
    });
    await inside(session, { permits });
    await release(session, true);
  };
}

/** Permits of ours, each with a lease. */
export const permitted =
  (permits: number, replicas?: number): Client =>
  async (session) => {
    await using locks = createLocks(session.redis, replicas === undefined ? {} : { replicas });
    const pool = locks.expirablePermits('pool');
    await until(session, () => pool.trySetPermits(permits).then(() => true));
    const held = asHeld(await pool.acquire({ leaseMs: LEASE }));
    await work(session, { ...held, extend: none }, { permits, steps: WORK / STEP });
  };

/** WAIT says how many replicas have it. `enough` decides. */
export const waiting = (wait: (session: ClientSession, token: string) => Promise<boolean>): Client =>
  lock({ take: wait });

/** Asks several servers, and counts. `enough` decides from the votes and the time that it took. */
export function majority(enough: (votes: number, of: number, tookMs: number) => boolean): Client {
  return async (session) => {
    const { servers, name } = session;
    const token = fresh(name);
    const free = (): Promise<unknown> =>
      Promise.allSettled(servers.map((redis) => redis.eval(RELEASE, 1, 'lock', token)));
    await until(session, async () => {
      const sent = performance.now();
      const replies = await Promise.all(
        servers.map((redis) => redis.set('lock', token, 'PX', LEASE, 'NX').catch(() => null)),
      );
      const votes = replies.filter((reply) => reply === 'OK').length;
      const got = enough(votes, servers.length, performance.now() - sent);
      if (!got) {
        await free();
        await session.sleep(Math.random() * 4 * RETRY);
      }
      return got;
    });
    await inside(session, {});
    await free();
  };
}

/** Waits for the message of a release. `again` looks after the subscription whether the lock is free now. */
export function listening(again: boolean): Client {
  return async (session) => {
    const { redis, connect } = session;
    const token = fresh(session.name);
    const listener = connect();
    listener.on('error', () => {});
    while ((await take(session, token)) !== 'OK') {
      const message = new Promise((resolve) => listener.once('message', resolve));
      await listener.subscribe('freed');
      if (again && (await take(session, token)) === 'OK') break;
      await message;
    }
    listener.disconnect();
    await inside(session, {});
    await give(session, token);
    await redis.publish('freed', '1');
  };
}

const HAND_OVER = `redis.call('lrem', KEYS[2], 0, ARGV[1])
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
local next = redis.call('lpop', KEYS[2])
if next then redis.call('set', KEYS[1], next, 'px', ARGV[2]) else redis.call('del', KEYS[1]) end
return 1`;
const LEFT = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pttl', KEYS[1]) or 0";
const LEFT_WRITTEN_AGAIN = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
local left = redis.call('pttl', KEYS[1])
redis.call('pexpire', KEYS[1], left)
return left`;

/**
 * A lock whose release hands it to the first client in line. That client finds its token in the lock, and asks WAIT.
 * `writes` writes the lock again as it is before that, so that WAIT is about the lock.
 */
export function handedOver(writes: boolean): Client {
  return async (session) => {
    const { redis } = session;
    const token = fresh(session.name);
    await until(session, () => redis.rpush('line', token));
    let end = 0;
    await until(session, async () => {
      const sent = performance.now();
      const asked = redis.pipeline().set('lock', token, 'PX', LEASE, 'NX');
      const replies = await asked
        .eval(writes ? LEFT_WRITTEN_AGAIN : LEFT, 1, 'lock', token)
        .wait(1, 50)
        .exec();
      const [, [, left] = [], [, copies] = []] = replies ?? [];
      end = sent + Number(left) - 20;
      return Number(left) > 0 && Number(copies) >= 1;
    });
    const goesOn = (): boolean => performance.now() + STEP < end;
    if (goesOn()) await inside(session, { ms: 0.7 * LEASE, goesOn });
    await redis.eval(HAND_OVER, 2, 'lock', 'line', token, LEASE).catch(() => undefined);
  };
}
