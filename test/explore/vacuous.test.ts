/** What proves nothing is not called clean, and what is sound is not called broken: promises without a case, caches, leases of fields. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import {
  type ClientSession,
  type ExploreOptions,
  type ExploreReport,
  explore,
  linearizable,
  replay,
} from '../../explore/index.ts';
import { fullOptions } from '../../explore/options.ts';

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

function played(options: Partial<ExploreOptions> & Pick<ExploreOptions, 'client'>): Promise<ExploreReport> {
  const few = { topology: { replicas: 0 }, clients: 2, budget: { worlds: 3, ms: Infinity } };
  return explore({ name: 'few', faults: ['connection-reset'], ...few, ...options });
}

/** Goes in, and takes no lock. */
const goesIn = async ({ redis, resource, sleep }: ClientSession): Promise<void> => {
  await redis.get('key');
  const inside = resource('stock').enter({ shared: true });
  await sleep(5);
  inside.leave();
};
/** Records operations that are no updates. */
const adds = async ({ redis, record }: ClientSession): Promise<void> => {
  const added = record('add', 1);
  added.ok(await redis.incr('counter').catch(() => 0));
};
/** Is done by the first one. */
const job = async ({ name, redis, resource }: ClientSession): Promise<void> => {
  if ((await redis.set('done', name, 'NX').catch(() => '')) === 'OK') resource('stock').enter().leave();
};

test.each([
  ['mutual-exclusion', goesIn],
  ['fencing', goesIn],
  ['permits', goesIn],
  ['durable-acks', goesIn],
  ['once', goesIn],
  ['released-by-holder', goesIn],
  ['fair', goesIn],
  ['no-lost-update', goesIn],
  ['no-lost-update', adds],
  ['no-orphan', job],
  ['progress', job],
] as const)('%s has nothing to judge here, and says so', async (promise, client) => {
  const { verdict, reasons } = await played({ client, promises: [promise] });
  expect(verdict).toBe('inconclusive');
  expect(reasons.map(({ kind }) => kind)).toContain('unjudged');
});

test('a promise that is made for an object says so too, and one that has something does not', async () => {
  const nothing = await played({ client: goesIn, promises: ['linearizable(queue)'] });
  expect(nothing.reasons.map(({ what }) => what)).toContain(
    'linearizable(queue) had nothing to judge (it has nothing if no client records an operation)',
  );
  const counted = await played({ client: adds, promises: [linearizable('counter')] });
  expect(counted.reasons.map(({ kind }) => kind)).not.toContain('unjudged');
  const locked = async (session: ClientSession): Promise<void> => {
    while ((await session.redis.set('lock', session.name, 'PX', 500, 'NX').catch(() => '')) !== 'OK')
      await session.sleep(5);
    await goesIn(session);
    await session.redis.eval(RELEASE, 1, 'lock', session.name).catch(() => 0);
  };
  const judged = await played({ client: locked, promises: ['released-by-holder', 'fair', 'no-orphan'] });
  expect(judged.reasons.map(({ kind }) => kind)).not.toContain('unjudged');
});

test("'defaults' stands for the promises of the defaults, and a report names those that are left out, and how to add them", async () => {
  const usual = await played({ client: goesIn });
  expect(usual.unchecked).toEqual([]);
  expect(String(usual)).not.toContain('not checked');
  const mine = (): undefined => undefined;
  const alone = await played({ client: goesIn, promises: [mine, 'fair'] });
  expect(alone.unchecked).toEqual(usual.asked.promises);
  expect(String(alone).replace(/\s+/g, ' ')).toContain(
    "not checked, because `promises` names others ('defaults' in it adds these): mutual-exclusion, fencing,",
  );
  const both = await played({ client: goesIn, promises: ['defaults', mine, 'fair'] });
  expect(both.unchecked).toEqual([]);
  expect(both.asked.promises).toEqual([...usual.asked.promises, 'fair', 'mine']);
  // What the word stands for is not what the user has named: only `fair` is missed where it has nothing to judge.
  expect(both.reasons.filter(({ kind }) => kind === 'unjudged')).toHaveLength(1);
  expect(() => fullOptions({ name: 'x', client: goesIn, promises: ['default' as never] })).toThrow(
    'did you mean defaults?',
  );
});

test('a cache that expires while the survey looks on is no lock that stays closed', async () => {
  const cached = async ({ name, redis, resource, signal, sleep }: ClientSession): Promise<void> => {
    const token = `${name}${Math.random()}`;
    const quiet = (reply: Promise<unknown>): Promise<unknown> => reply.catch(() => null);
    for (let i = 0; i < 60 && !signal.aborted; i++, await sleep(30)) {
      if ((await quiet(redis.get('cache'))) !== null) return;
      if ((await quiet(redis.set('lock', token, 'PX', 1000, 'NX'))) !== 'OK') continue;
      const inside = resource('database').enter();
      await sleep(40);
      inside.leave();
      await quiet(redis.set('cache', 1, 'PX', 50_000));
      await quiet(redis.eval(RELEASE, 1, 'lock', token));
      return;
    }
  };
  // The answer to the cache's SET comes, and the release is refused.
  const { breaches } = await replay(
    { name: 'cached', client: cached, topology: { replicas: 0 } },
    '2:1:0:A:misconf@A.SET.cache.1.executed/redis-1/500:000000000000',
  );
  expect(breaches).toEqual([]);
});

test('the lease of a field of a hash that ends is a limit of leases, by time and by a clock', async () => {
  const TAKE = `if redis.call('hsetnx', KEYS[1], 'stock', ARGV[1]) == 0 then return 0 end
  redis.call('hpexpire', KEYS[1], 800, 'FIELDS', 1, 'stock')
  return 1`;
  const GIVE = `if redis.call('hget', KEYS[1], 'stock') == ARGV[1] then return redis.call('hdel', KEYS[1], 'stock') end
  return 0`;
  const client = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    await redis.hset('locks', 'version', 1).catch(() => 0);
    while ((await redis.eval(TAKE, 1, 'locks', name).catch(() => 0)) !== 1) await sleep(25);
    const inside = resource('stock').enter();
    await sleep(100);
    inside.write();
    inside.leave();
    await redis.eval(GIVE, 1, 'locks', name).catch(() => 0);
  };
  for (const fault of ['client-pause', 'server-clock-jump'] as const) {
    const report = await played({
      ...{ client, faults: [fault], promises: ['mutual-exclusion'], accept: ['lease-limits'] },
      budget: { worlds: 24, ms: Infinity },
    });
    expect([fault, report.findings, report.accepted.length]).toEqual([fault, [], 1]);
  }
});

test('a permit whose deadline in a sorted set has passed is over, by time and by a clock', async () => {
  const TAKE = `local t = redis.call('time')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  redis.call('zremrangebyscore', KEYS[1], '-inf', now)
  if redis.call('zcard', KEYS[1]) >= 1 then return 0 end
  redis.call('zadd', KEYS[1], now + 600, ARGV[1])
  return 1`;
  const client = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    while ((await redis.eval(TAKE, 1, 'pool', name).catch(() => 0)) !== 1) await sleep(25);
    const inside = resource('pool').enter();
    await sleep(50);
    inside.write();
    inside.leave();
    await redis.zrem('pool', name).catch(() => 0);
  };
  for (const [fault, reason] of [
    ['client-pause@A.enters.pool.1/A/1500', 'expired'],
    ['server-clock-jump@A.enters.pool.1/redis-1//1100', 'the clock of redis-1'],
  ]) {
    const played = await replay(
      { name: 'pool', client, topology: { replicas: 0 }, promises: ['mutual-exclusion'] },
      `2:1:0:A,B:${fault}=A:000000000000`,
    );
    expect(played.story).toMatch(
      reason === 'expired' ? /a limit of leases/ : /at fault: the clock of redis-1/,
    );
  }
});

test('workers that wait for the next job wait for no lock', async () => {
  // As job queues do: jobs come by a list, and workers take turns to look for stalled jobs.
  const client = async ({ name, redis, connect, resource, signal, sleep }: ClientSession): Promise<void> => {
    const blocked = connect({ maxRetriesPerRequest: null });
    signal.addEventListener('abort', () => blocked.disconnect());
    if (name === 'A') for (const job of ['one', 'two']) await redis.lpush('jobs', job).catch(() => 0);
    while (!signal.aborted) {
      await redis.set('stalled-check', name, 'PX', 300, 'NX').catch(() => '');
      const [, job] = (await blocked.brpop('jobs', 0.4).catch(() => null)) ?? [];
      if (job === undefined) continue;
      const inside = resource(`job ${job}`, { once: true }).enter();
      await sleep(20);
      inside.write();
      inside.leave();
    }
  };
  const { findings } = await played({ client, topology: { replicas: 0 } });
  expect(findings.map(({ promise, what }) => [promise, what])).toEqual([]);
});

test('a lock whose clients send to a resource repeats, and the report does not say otherwise', async () => {
  const client = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    while ((await redis.set('lock', name, 'PX', 500, 'NX').catch(() => '')) !== 'OK') await sleep(5);
    const inside = resource('stock').enter();
    await inside.send().catch(() => false);
    inside.leave();
    await redis.del('lock').catch(() => 0);
  };
  expect(String(await played({ client }))).not.toContain('not repeatable');
});
