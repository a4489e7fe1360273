/** Programs with one defect each, and the same programs repaired: the kinds that a review of the explorer tried. */
import type { ClientSession } from '../../explore/index.ts';
import { fenced } from '../specimens/forms.ts';
import { fresh, give, LEASE, RETRY, take, workIn } from '../specimens/reported/report.ts';
import type { RecallCase } from './case.ts';

/** Milliseconds. */
const WORK = 250;

const GIVE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

type Client = (session: ClientSession) => Promise<void>;

const none = async (): Promise<null> => null;

/** A request that may fail: null then. */
function quiet<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch(none);
}

/** Asks until the answer is not null, not 0 and not false. Throws when the world is about to end. */
async function until({ sleep, signal }: ClientSession, ask: () => Promise<unknown>): Promise<void> {
  while (!(await ask().catch(none))) {
    signal.throwIfAborted();
    await sleep(RETRY);
  }
}

/** D01: a leader publishes. The board does not check, when a message arrives, whether its sender is still the leader. */
const leader: Client = async (session) => {
  const { resource, sleep } = session;
  const token = fresh(session.name);
  const ends = await take(session, 'leader', token);
  if (performance.now() < ends) {
    const inside = resource('board').enter();
    for (let i = 0; i < 3 && performance.now() < ends; i++) {
      await sleep(60);
      if (performance.now() < ends) await inside.send().catch(() => false);
    }
    inside.leave();
  }
  await give(session, 'leader', token);
};

/** D02: a window of requests. @param atomic whether the count and its lease are one script */
function limiter(atomic: boolean): Client {
  const SCRIPT =
    "local n = redis.call('incr', KEYS[1]) if n == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end return n";
  return async (session) => {
    const { redis, resource, sleep } = session;
    const passes = async (): Promise<boolean> => {
      if (atomic) return ((await redis.eval(SCRIPT, 1, 'window', 400)) as number) <= 2;
      const n = await redis.incr('window');
      if (n === 1) await redis.pexpire('window', 400);
      return n <= 2;
    };
    await until(session, passes);
    const inside = resource('window', { permits: 6 }).enter();
    await sleep(20);
    inside.leave();
  };
}

/** D06: a writer that becomes a reader. @param atomic whether both steps are one script */
function downgrade(atomic: boolean): Client {
  const WRITE =
    "if redis.call('exists', KEYS[1], KEYS[2]) > 0 then return 0 end redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2]) return 1";
  const DOWN =
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end redis.call('del', KEYS[1]) redis.call('set', KEYS[2], ARGV[1], 'px', ARGV[2]) return 1";
  return async (session) => {
    const { name, redis, resource, sleep } = session;
    const token = fresh(name);
    let ends = 0;
    await until(session, async () => {
      ends = performance.now() + LEASE - 100;
      return await redis.eval(WRITE, 2, 'writer', 'reader', token, LEASE);
    });
    if (performance.now() + 2 * 80 > ends) return;
    const inside = resource('page').enter();
    await sleep(60);
    if (performance.now() < ends) inside.write();
    // It goes on as a reader: nobody may have written in between.
    let isReader = true;
    if (atomic) isReader = (await quiet(redis.eval(DOWN, 2, 'writer', 'reader', token, LEASE))) === 1;
    else {
      await quiet(redis.eval(GIVE, 1, 'writer', token));
      await quiet(redis.set('reader', token, 'PX', LEASE));
    }
    if (isReader && performance.now() + 40 < ends) await sleep(40);
    inside.leave();
    await give(session, 'reader', token);
    await give(session, 'writer', token);
  };
}

/** D07: what a client believes to hold is forgotten only when its release was answered. @param forgets whether it forgets before it asks */
function remembered(forgets: boolean): Client {
  return async (session) => {
    let token: string | undefined;
    let ends = 0;
    for (let round = 0; round < 3; round++) {
      if (token === undefined) {
        token = fresh(session.name);
        ends = await take(session, 'lock', token);
      } else ends = performance.now() + LEASE;
      await workIn(session, 'stock', 150, ends);
      const released = token;
      if (forgets) token = undefined;
      // Sent again after a lost reply, the release finds nothing to delete: so it "was not released".
      if ((await quiet(giveSurely(session, released))) === 1) token = undefined;
      await session.sleep(40);
    }
  };
}

/** Gives a lock back. Rejects when it is not known whether the lock was given back. */
function giveSurely({ redis }: ClientSession, token: string): Promise<unknown> {
  return redis.eval(GIVE, 1, 'lock', token);
}

/** D10: a list with one element is a mutex. @param leased whether the token is a key with a lease instead */
function baton(leased: boolean): Client {
  return async (session) => {
    const { name, redis } = session;
    if (leased) {
      const token = fresh(name);
      await workIn(session, 'stock', WORK, await take(session, 'lock', token));
      return await give(session, 'lock', token);
    }
    await until(
      session,
      async () => (await redis.set('made', 1, 'NX')) !== 'OK' || (await redis.rpush('baton', 'x')),
    );
    await until(session, () => redis.lpop('baton'));
    await workIn(session, 'stock', WORK);
    await quiet(redis.rpush('baton', 'x'));
  };
}

/** D11: waiters wake on the event of a DEL, not of an end by expiry. @param both whether they hear of both */
function onDel(both: boolean): Client {
  return async (session) => {
    const { connect, redis, signal, sleep } = session;
    const token = fresh(session.name);
    // ioredis subscribes again by itself, and handles no refusal: a BUSY would end the process. The repaired form does not rely on it.
    const ears = connect(both ? { autoResubscribe: false } : {});
    let wake = (): void => {};
    ears.on('message', (_: string, event: string) => {
      if (both || event === 'del') wake();
    });
    await quiet(redis.config('SET', 'notify-keyspace-events', 'Kgx'));
    await quiet(ears.subscribe('__keyspace@0__:lock'));
    while (!signal.aborted) {
      const heard = new Promise<void>((resolve) => (wake = resolve));
      const asked = performance.now();
      if ((await quiet(redis.set('lock', token, 'PX', LEASE, 'NX'))) === 'OK') {
        await workIn(session, 'stock', WORK, asked + LEASE - 100);
        return await give(session, 'lock', token);
      }
      // An event may get lost: the repaired form looks again after a quarter of a lease.
      await (both ? Promise.race([heard, sleep(LEASE / 4)]) : heard);
    }
  };
}

/** D12: the owner stands under a second key, and a release looks there. @param second whether it does */
function registered(second: boolean): Client {
  return async (session) => {
    const { name, redis } = session;
    for (let i = 0; i < 2 && !session.signal.aborted; i++) {
      const token = `${name}${i}:${Math.random()}`;
      const ends = await take(session, 'lock', token, 400);
      if (second) await quiet(redis.set('owner', token));
      await workIn(session, 'stock', 100, ends);
      if (!second) await give(session, 'lock', token);
      else if ((await quiet(redis.get('owner'))) === token) await quiet(redis.del('lock'));
      await session.sleep(10);
    }
  };
}

/** D14: the fence is read and written in two commands. */
const fences: Client = async (session) => {
  const { name, redis, resource, sleep } = session;
  for (let round = 0; round < 2; round++) {
    const token = fresh(name);
    await take(session, 'lock', token);
    const fence = Number(await quiet(redis.get('fence'))) + 1;
    await sleep(5);
    await quiet(redis.set('fence', fence));
    const inside = resource('stock').enter({ fence });
    await sleep(WORK);
    await inside.send().catch(() => false);
    inside.leave();
    await give(session, 'lock', token);
  }
};

/** D15: the lease is renewed after a slow step, and the client ignores the answer. @param looks whether it looks at the answer instead */
function refreshed(looks: boolean): Client {
  const RENEW =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";
  return async (session) => {
    const { redis, resource, sleep } = session;
    const token = fresh(session.name);
    let ends = await take(session, 'lock', token, 600);
    // The answer may have come late.
    if (looks && performance.now() + 300 > ends) return await give(session, 'lock', token);
    const inside = resource('stock').enter();
    for (let step = 0; step < 3 && performance.now() + 300 < ends; step++) {
      await sleep(300);
      if (performance.now() < ends || !looks) inside.write();
      const asked = performance.now();
      const renewed = await quiet(redis.eval(RENEW, 1, 'lock', token, 600));
      if (renewed === 1 || !looks) ends = asked + 550;
    }
    inside.leave();
    await give(session, 'lock', token);
  };
}

/** D17: a lock that the process holds: its second task finds it held by itself. @param apart whether each task has a token */
function byProcess(apart: boolean): Client {
  const TAKE =
    "local v = redis.call('get', KEYS[1]) if v and v ~= ARGV[1] then return 0 end redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2]) return 1";
  return async (session) => {
    const { name, redis, resource, sleep } = session;
    const process = fresh(name);
    const task = async (owner: string): Promise<void> => {
      const token = apart ? fresh(name) : process;
      let ends = 0;
      await until(session, async () => {
        ends = performance.now() + LEASE - 100;
        return await redis.eval(TAKE, 1, 'lock', token, LEASE);
      });
      if (performance.now() + 100 < ends) {
        const inside = resource('stock').enter({ owner });
        await sleep(80);
        inside.leave();
      }
      await give(session, 'lock', token);
    };
    await Promise.all([task('one'), task('two')]);
  };
}

/** D18: an acquisition that is given up by a race goes on, and its timer renews for ever. @param stops whether it is called off */
function givenUp(stops: boolean): Client {
  return async (session) => {
    const { redis, signal, sleep } = session;
    const token = fresh(session.name);
    let [over, ends] = [false, 0];
    let timer: NodeJS.Timeout | undefined;
    const acquire = async (): Promise<'got' | 'nothing'> => {
      while (!over && !signal.aborted) {
        const asked = performance.now();
        if ((await quiet(redis.set('lock', token, 'PX', 500, 'NX'))) === 'OK') {
          ends = asked + 400;
          if (!stops) timer = setInterval(() => void quiet(redis.pexpire('lock', 500)), 150);
          return 'got';
        }
        await sleep(RETRY);
      }
      return 'nothing';
    };
    const asked = acquire();
    const first = await Promise.race([asked, sleep(400).then(() => 'late')]);
    if (first === 'got') await workIn(session, 'stock', 200, ends);
    else if (!stops) return;
    over = true;
    await asked;
    clearInterval(timer);
    await give(session, 'lock', token);
  };
}

/** D20: all locks in one hash, without a lease. @param leased whether each is a key of its own with a lease */
function inHash(leased: boolean): Client {
  return async (session) => {
    const { name, redis } = session;
    const token = fresh(name);
    if (leased) {
      await workIn(session, 'stock', WORK, await take(session, 'locks:stock', token));
      return await give(session, 'locks:stock', token);
    }
    await quiet(redis.hset('locks', 'version', 1));
    await until(session, () => redis.hsetnx('locks', 'stock', token));
    await workIn(session, 'stock', WORK);
    await quiet(redis.hdel('locks', 'stock'));
  };
}

/** Two faults: a release falls back to DEL without its script, after its lease. @param loads whether it loads it again */
function fallsBack(loads: boolean): Client {
  return async (session) => {
    const { redis } = session;
    const sha = (await redis.script('LOAD', GIVE)) as string;
    for (let round = 0; round < 2; round++) {
      const token = fresh(session.name);
      await workIn(session, 'stock', 150, await take(session, 'lock', token, 400));
      await redis.evalsha(sha, 1, 'lock', token).catch(async (error: unknown) => {
        if (!String(error).includes('NOSCRIPT')) return 0;
        return await quiet(loads ? redis.eval(GIVE, 1, 'lock', token) : redis.del('lock'));
      });
      await session.sleep(30);
    }
  };
}

/** Two faults: after an error a client takes the lock again without asking, and its lease has ended. @param asks whether it asks */
function retaken(asks: boolean): Client {
  return async (session) => {
    const { redis, sleep, resource } = session;
    const token = fresh(session.name);
    let ends = await take(session, 'lock', token, 500);
    // The answer may have come late.
    if (asks && performance.now() + 100 > ends) return await give(session, 'lock', token);
    const inside = resource('stock').enter();
    for (let step = 0; step < 6 && performance.now() + 100 < ends; step++) {
      await sleep(100);
      if (performance.now() < ends) inside.write();
      if (step !== 2) continue;
      const asked = performance.now();
      const RENEW =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 500) end return 0";
      const renewed = await redis.eval(RENEW, 1, 'lock', token).catch(async () => {
        // "The connection was gone. To be sure, take it again."
        return asks ? 0 : (await quiet(redis.set('lock', token, 'PX', 500))) === 'OK' ? 1 : 0;
      });
      if (renewed === 1) ends = asked + 450;
      else if (asks) break;
    }
    inside.leave();
    await give(session, 'lock', token);
  };
}

const one = { topology: { replicas: 0 }, group: 'program' } as const;

/** All of them. */
export const programs: readonly RecallCase[] = [
  {
    ...one,
    name: 'a leader publishes without a term',
    unsafe: leader,
    sound: fenced,
    isLimit: true,
    topology: { replicas: 1 },
  },
  { ...one, name: 'INCR, then PEXPIRE', unsafe: limiter(false), sound: limiter(true) },
  {
    ...one,
    name: 'a writer becomes a reader in two commands',
    unsafe: downgrade(false),
    sound: downgrade(true),
  },
  {
    ...one,
    name: 'ownership is remembered until a release is answered',
    unsafe: remembered(false),
    sound: remembered(true),
  },
  { ...one, name: 'a list with one element as a mutex', unsafe: baton(false), sound: baton(true) },
  { ...one, name: 'waiters wake on DEL only', unsafe: onDel(false), sound: onDel(true) },
  { ...one, name: 'the owner stands under a second key', unsafe: registered(true), sound: registered(false) },
  { ...one, name: 'the fence is GET + 1', unsafe: fences, sound: fenced, topology: { replicas: 1 } },
  { ...one, name: 'a renewal whose answer nobody reads', unsafe: refreshed(false), sound: refreshed(true) },
  { ...one, name: 'two tasks of a process hold one lock', unsafe: byProcess(false), sound: byProcess(true) },
  {
    ...one,
    name: 'an acquisition that was given up renews for ever',
    clients: 2,
    unsafe: givenUp(false),
    sound: givenUp(true),
  },
  {
    ...one,
    name: 'a lock without a lease in a hash with other fields',
    unsafe: inHash(false),
    sound: inHash(true),
  },
  {
    ...one,
    name: 'a release falls back to DEL without its script',
    unsafe: fallsBack(false),
    sound: fallsBack(true),
  },
  { ...one, name: 'a lock is taken again after an error', unsafe: retaken(false), sound: retaken(true) },
];
