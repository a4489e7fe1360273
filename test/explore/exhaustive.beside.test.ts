/** What an exhaustive exploration covers: every moment, and other orders of messages. Also clients that arrive late, or try again. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore, mergeReports } from '../../explore/index.ts';
import { judge } from '../../explore/judge.ts';
import { fullOptions } from '../../explore/options.ts';
import { playWorld } from '../../explore/play.ts';
import { arrivals } from '../../explore/search/arrivals.ts';
import { momentsOf } from '../../explore/search/states.ts';
import type { SearchInput } from '../../explore/search/strategy.ts';
import { survey } from '../../explore/search/survey.ts';
import { isLongRun } from '../support/long.ts';

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
const DELETE = "return redis.call('del',KEYS[1])";

/** Rounds of a sound lock. In one of them the release forgets the token: an answer that is lost there breaks it. */
const forgetful =
  (rounds: number, bad: number) =>
  async ({ redis, name, sleep, signal, resource }: ClientSession): Promise<void> => {
    for (let round = 1; round <= rounds; round++) {
      const token = `${name}:${Math.random().toString(36).slice(2, 8)}`;
      let end = 0;
      while (!signal.aborted && end === 0) {
        const sent = performance.now();
        if ((await redis.set('l', token, 'PX', 300, 'NX').catch(() => null)) === 'OK') end = sent + 280;
        else await sleep(25);
      }
      if (performance.now() + 25 < end) {
        const inside = resource('stock').enter();
        for (let t = 0; t < 50 && performance.now() + 25 < end; t += 25) {
          await sleep(25);
          if (performance.now() < end) inside.write();
        }
        inside.leave();
      }
      await redis.eval(round === bad ? DELETE : RELEASE, 1, 'l', token).catch(() => 0);
      await sleep(10);
    }
  };

const alone = { topology: { replicas: 0 }, promises: ['mutual-exclusion'] } as const;

test.each(isLongRun ? [1, 2, 3, 4, 5, 6, 7] : [4])(
  'one lost answer in round %i is found: no moment is left out',
  async (bad) => {
    const { findings, coverage } = await explore({
      ...{
        ...alone,
        name: `round ${bad}`,
        // In the last rounds too few clients are left for two to be inside.
        client: forgetful(isLongRun ? 10 : 5, bad),
        faults: ['connection-reset'],
      },
      ...{ exhaustive: 1, late: { alone: 0 }, stopAtFirst: true },
      // A minute of a crowded machine is not enough for the last rounds.
      budget: { worlds: 100_000, ms: Infinity },
    });
    expect(findings.map(({ cause }) => cause)).toEqual(['connection-reset']);
    expect(coverage.singles.cut).toBe(0);
  },
  600_000,
);

/** Looks, and then takes. B looks when A has taken, unless a message of A is late. */
const looksFirst = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
  if (name === 'B') await sleep(5);
  if ((await redis.get('lock')) !== null) return;
  await redis.set('lock', name, 'PX', 1000);
  const inside = resource('stock').enter();
  await sleep(50);
  inside.leave();
  await redis.eval(RELEASE, 1, 'lock', name);
};

test('other orders of messages are played without a fault, and beside one on request', async () => {
  const options: ExploreOptions = {
    ...alone,
    name: 'looks first',
    clients: 2,
    client: looksFirst,
    faults: [],
  };
  const promises = { ...options, promises: ['mutual-exclusion'] as const };
  expect((await explore({ ...promises, exhaustive: 1, late: { alone: 0 } })).findings).toEqual([]);
  const { findings, coverage } = await explore({ ...promises, exhaustive: 1 });
  expect(findings.map(({ strategy }) => strategy)).toEqual(['other orders']);
  expect(coverage.exhaustive).toMatchObject({ late: { alone: 1, besideFault: 0 }, forms: 0 });
  const { orders } = coverage.exhaustive!;
  expect([orders.played, coverage.strategies['other orders']]).toEqual([orders.all, orders.all]);
  const beside = await explore({
    ...{ ...promises, exhaustive: 1, late: { alone: 0, besideFault: 1 }, stopAtFirst: true },
    faults: [{ kind: 'client-pause', on: 'B', ms: 1 }],
  });
  expect(beside.findings[0]?.strategy).toBe('other orders');
});

/** Leaves while its write is still under way to the resource. The next client comes later than the write, unless that is late. */
const sendsAndLeaves = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
  while ((await redis.set('lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(5);
  const inside = resource('stock').enter();
  const sent = inside.send();
  inside.leave();
  await sleep(10);
  await redis.eval(RELEASE, 1, 'lock', name);
  await sent;
};

test('a message to a resource can be the late one', async () => {
  const options: ExploreOptions = { ...alone, name: 'leaves early', clients: 2, client: sendsAndLeaves };
  const { findings } = await explore({ ...options, faults: [], exhaustive: 1 });
  expect(findings.map(({ strategy, promise }) => [strategy, promise])).toEqual([
    ['other orders', 'mutual-exclusion'],
  ]);
});

test('each form strikes at every moment, and the report says how many there are', async () => {
  const client = async ({ name, redis, resource }: ClientSession): Promise<void> => {
    if ((await redis.set('lock', name, 'PX', 50, 'NX')) === 'OK') resource('stock').enter().leave();
  };
  const options: ExploreOptions = { ...alone, name: 'short', clients: 2, client, faults: ['client-pause'] };
  const report = await explore({ ...options, exhaustive: 1 });
  const { moments, forms, events, orders } = report.coverage.exhaustive!;
  const { singles, strategies } = report.coverage;
  expect([forms, singles.all, singles.played, singles.cut]).toEqual([4, 4 * moments, 4 * moments, 0]);
  expect(strategies['one fault']).toBe(4 * moments);
  expect(moments).toBeLessThanOrEqual(2 * events + 4);
  expect(String(report).replace(/\n */g, ' ')).toContain(
    `exhaustive: 4 forms of faults at ${moments} moments, before and after ${events} events and 1 ms around 0 deadlines; other ` +
      `orders of messages: ${orders.all} of ${orders.all} worlds, with up to 1 late message without a fault, and none beside a fault`,
  );
  const parts = [1, 2].map((index) => explore({ ...options, exhaustive: 1, shard: { index, of: 2 } }));
  const merged = mergeReports(await Promise.all(parts)).coverage;
  expect([merged.strategies['one fault'], merged.strategies['other orders']]).toEqual([
    4 * moments,
    orders.all,
  ]);
  expect(merged.exhaustive).toEqual(report.coverage.exhaustive);
});

test('a client that tries once is also played as one that tries again', async () => {
  const once = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    if ((await redis.set('lock', name, 'PX', 1000, 'NX').catch(() => null)) !== 'OK') return;
    const inside = resource('stock').enter();
    await sleep(200);
    inside.write();
    inside.leave();
    await redis.del('lock');
  };
  const { findings, coverage } = await explore({
    ...{ ...alone, name: 'once', client: once, faults: ['client-pause'], clients: 2 },
    ...{ stopAtFirst: true, budget: { worlds: 300, ms: Infinity } },
  });
  expect(findings.map(({ strategy, promise }) => `${strategy}: ${promise}`)).toEqual([
    'tries again: mutual-exclusion',
  ]);
  expect(coverage.singles.played).toBe(coverage.singles.all);
});

test('clients that arrive one after the other show a wake-up that is missed', async () => {
  const client = async ({ connect, name, redis, resource, sleep }: ClientSession): Promise<void> => {
    const listener = connect();
    while ((await redis.set('lock', name, 'PX', 60_000, 'NX')) !== 'OK') {
      const message = new Promise((resolve) => listener.once('message', resolve));
      await redis.get('settings');
      await listener.subscribe('freed');
      await message;
    }
    const inside = resource('stock').enter();
    await sleep(100);
    inside.leave();
    await redis.del('lock');
    await redis.publish('freed', '1');
  };
  const options: ExploreOptions = {
    ...{ name: 'arrivals', topology: { replicas: 0 }, client, clients: 2, faults: [] },
    ...{ promises: ['everyone-served'], budget: { worlds: 40, ms: Infinity } },
  };
  const full = fullOptions(options);
  const { world, rules } = await survey(full);
  const among = { clients: full.clients, sets: [['redis-1']], sentinels: false, cluster: false };
  const input: SearchInput = {
    ...{ seed: 1, among, scales: rules.scales, faults: [], span: world.span, depth: 1 },
    moments: momentsOf(world, rules.scales.leaseMs),
  };
  const drawn = arrivals.plans(input, { singles: [], left: [], seconds: [], corpus: [] });
  let broken: readonly string[] = [];
  for (let i = 0; i < 100 && broken.length === 0; i++) {
    const played = await playWorld(rules, drawn.next().value!);
    broken = judge(played, full.promises, full.own).map(({ promise }) => promise);
  }
  expect(broken).toEqual(['everyone-served']);
  expect((await explore(options)).coverage.strategies.arrivals).toBeGreaterThan(5);
}, 120_000);
