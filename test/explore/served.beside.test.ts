/** Who waits in vain, and who only has nothing to do: clients, and the new client that looks whether the lock can be had. */
import { describe, expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore, replay } from '../../explore/index.ts';

type Code = (session: ClientSession) => Promise<void>;

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** Virtual milliseconds. */
const [LEASE, RETRY, WORK] = [500, 25, 100];

/** Asks for a lock until it is granted; false when the world ends before. */
async function take({ name, redis, signal, sleep }: ClientSession): Promise<boolean> {
  while (!signal.aborted) {
    if ((await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => '')) === 'OK') return true;
    await sleep(RETRY);
  }
  return false;
}

const give = ({ name, redis }: ClientSession): Promise<unknown> =>
  redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);

async function work({ resource, sleep }: ClientSession, ms = WORK): Promise<void> {
  const inside = resource('stock').enter();
  await sleep(ms);
  inside.leave();
}

const options = (client: Code, worlds = 6): ExploreOptions => ({
  ...{ name: 'idle', topology: { replicas: 0 }, faults: ['client-death', 'restart-disk'], client },
  promises: ['no-orphan', 'progress', 'everyone-served'],
  budget: { worlds, ms: Infinity },
});

/** What is found, with its cause. */
async function found(client: Code, more: Partial<ExploreOptions> = {}): Promise<string[]> {
  const { findings } = await explore({ ...options(client), ...more });
  return findings.map(({ promise, cause }) => `${promise}: ${cause}`);
}

describe('nothing is found in programs that have nothing left to do', () => {
  const sound: Record<string, Code> = {
    'a job that is done once': async (session) => {
      if (!(await take(session))) return;
      if ((await session.redis.get('done')) === null) {
        await work(session);
        await session.redis.set('done', session.name);
      }
      await give(session);
    },
    'a cache that is warm': async (session) => {
      const { redis, sleep } = session;
      while ((await redis.get('cache').catch(() => null)) === null) {
        if ((await redis.set('lock', session.name, 'PX', LEASE, 'NX').catch(() => '')) === 'OK') {
          await work(session);
          await redis.set('cache', 'value').catch(() => '');
          await give(session);
        } else await sleep(RETRY);
      }
    },
    'workers that wait for jobs until the world ends': async (session) => {
      const { name, redis, signal } = session;
      if (name === 'A') await redis.rpush('jobs', 1, 2, 3).catch(() => 0);
      while (!signal.aborted) {
        const job = await redis.lpop('jobs').catch(() => null);
        if (job === null) await session.sleep(10 * RETRY);
        else await session.resource(`job ${name}`).enter().leave();
      }
    },
    'a leader that stays until the world ends': async (session) => {
      const { redis, resource, signal, sleep, name } = session;
      while (!signal.aborted) {
        if (!(await take(session))) return;
        const inside = resource('leader').enter();
        let until = performance.now() + LEASE;
        while (!signal.aborted && performance.now() < until) {
          await sleep(LEASE / 5);
          const asked = performance.now();
          const renewed = await redis
            .eval(
              "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0",
              1,
              'lock',
              name,
              LEASE,
            )
            .catch(() => 0);
          if (renewed === 1) until = asked + LEASE;
        }
        inside.leave();
        await give(session);
      }
    },
    'a tick that one of them wins each time': async (session) => {
      const { redis, resource, signal, sleep, name } = session;
      while (!signal.aborted) {
        const got = await redis.set('tick', name, 'PX', 5 * RETRY, 'NX').catch(() => '');
        if (got === 'OK') resource(`tick of ${name}`).enter().leave();
        await sleep(8 * RETRY);
      }
    },
  };
  test.each(Object.keys(sound))('%s', async (name) => {
    expect(await found(sound[name] as Code)).toEqual([]);
  });
});

test('a leader whose lock stays closed when it dies is still found', async () => {
  const leads: Code = async ({ redis, resource, signal, sleep }) => {
    while (!signal.aborted && (await redis.setnx('leader', 1).catch(() => 0)) === 0) await sleep(RETRY);
    if (signal.aborted) return;
    const inside = resource('leader').enter();
    while (!signal.aborted) await sleep(RETRY);
    inside.leave();
    await redis.del('leader').catch(() => 0);
  };
  expect(await found(leads)).toContain('no-orphan: client-death');
});

test('a client that gave up with an error does not wait, and the history says so', async () => {
  const once: Code = async (session) => {
    if ((await session.redis.set('lock', session.name, 'NX')) !== 'OK') throw new Error('the lock is taken');
    await work(session);
    await session.redis.del('lock');
  };
  const { breaches, history } = await replay(options(once), '1:1:0:A,B::000000000000');
  expect(breaches).toEqual([]);
  expect(history.lives).toMatchObject([
    { client: 'A', life: 1, from: 0, ended: 'returned' },
    { client: 'B', life: 1, from: 0, ended: 'threw', error: 'Error: the lock is taken' },
  ]);
  expect(history.lives[0]!.to).toBeGreaterThan(WORK);
  expect(history.toldAt).toBeGreaterThanOrEqual(history.lives[0]!.to);
  expect(history.endedAt).toBeGreaterThan(history.toldAt);
});

test('a client that waits when the time is over waits in vain, from the end of the faults on', async () => {
  const deaf: Code = async (session) => {
    const { connect, redis } = session;
    const ears = connect();
    const woken = new Promise<void>((resolve) => ears.once('message', () => resolve()));
    if (session.name === 'B') {
      await ears.subscribe('free');
      await woken;
    } else await session.sleep(WORK);
    session.resource('stock').enter().leave();
    await redis.publish('free', '');
  };
  const { breaches, history } = await replay(options(deaf), '1:1:0:A,B:client-death@50/A:000000000000');
  expect(breaches).toMatchObject([{ promise: 'everyone-served', at: history.toldAt }]);
  expect(breaches[0]?.what).toMatch(/^B still waits \d+ ms after the faults ended, and nobody is inside$/);
  const waiting = history.lives.find(({ client }) => client === 'B');
  expect(waiting?.waitedSince).toBeGreaterThanOrEqual(50);
});

test('a waiter that is not woken even without faults is found', async () => {
  const late: Code = async (session) => {
    const { connect, redis } = session;
    if ((await redis.set('lock', session.name, 'NX')) !== 'OK') {
      const ears = connect();
      await session.sleep(4 * WORK);
      await ears.subscribe('free');
      await new Promise<void>((resolve) => ears.once('message', () => resolve()));
    }
    await work(session);
    await redis.del('lock');
    await redis.publish('free', '');
  };
  expect(await found(late, { faults: [], clients: 2, budget: { worlds: 1 } })).toEqual([
    'everyone-served: no fault',
  ]);
});

describe('the lock that stays closed is found wherever it is', () => {
  const HREL =
    "if redis.call('hget',KEYS[1],KEYS[2])==ARGV[1] then return redis.call('hdel',KEYS[1],KEYS[2]) end return 0";
  const places = ['alone in its hash', 'beside another field', 'in another database'];
  test.each(places)('%s', async (where) => {
    const inHash: Code = async ({ name, redis: first, connect, resource, signal, sleep }) => {
      const redis = where === 'in another database' ? connect({ db: 1 }) : first;
      if (where === 'beside another field') await redis.hset('locks', 'version', 1).catch(() => 0);
      while ((await redis.hsetnx('locks', 'stock', name).catch(() => 0)) !== 1) {
        if (signal.aborted) return;
        await sleep(RETRY);
      }
      const inside = resource('stock').enter();
      await sleep(WORK);
      inside.leave();
      await redis.eval(HREL, 2, 'locks', 'stock', name).catch(() => 0);
    };
    expect(new Set(await found(inHash, { faults: ['client-death'] }))).toEqual(
      new Set(['no-orphan: client-death']),
    );
  });
});

describe('why nobody gets in is told', () => {
  const sentences = async (client: Code, more: Partial<ExploreOptions>): Promise<string[]> =>
    (await explore({ ...options(client, 60), ...more })).findings.map(({ sentence }) => sentence);

  test('the request that took the lease of a lock away', async () => {
    const client: Code = async (session) => {
      const { name, redis } = session;
      if (!(await take(session))) return;
      await redis.getset('lock', name).catch(() => 0);
      await redis.pexpire('lock', LEASE).catch(() => 0);
      await work(session);
      await give(session);
    };
    const found = await sentences(client, { faults: ['client-death'], promises: ['no-orphan'] });
    expect(found.join()).toMatch(
      /^Nobody gets lock: (\w) took it with SET NX, \1's GETSET took its lease away, and \1 died while it had it\.$/,
    );
  });

  test('a client that the server refuses again and again', async () => {
    const script = "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";
    const client: Code = async (session) => {
      const { name, redis, signal, sleep } = session;
      const sha = String(await redis.script('LOAD', script).catch(() => ''));
      const attempt = (): Promise<unknown> => redis.evalsha(sha, 1, 'lock', name, LEASE).catch(() => '');
      for (let time = 0; time < 2; time++) {
        while ((await attempt()) !== 'OK') {
          if (signal.aborted) return;
          await sleep(RETRY);
        }
        await work(session);
        await give(session);
      }
    };
    const budget = { worlds: 8, ms: Infinity };
    const faults = ['script-flush'] as const;
    const found = await sentences(client, { budget, faults, promises: ['everyone-served'], clients: 2 });
    expect(found.join('\n')).toMatch(
      /still waits \d+ ms after the faults ended, and nobody is inside: [ABC]'s .* was answered NOSCRIPT \d+ times\./,
    );
  });
});
