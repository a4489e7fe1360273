/** The lengths of faults follow the lease of the lock whose holder is inside, then other leases, and stay within the user's bounds. */
import '../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore } from '../../explore/index.ts';
import { fullOptions } from '../../explore/options.ts';
import { drawFault, formsOf } from '../../explore/search/strategy.ts';
import { survey } from '../../explore/search/survey.ts';
import { Random } from '../../lab/time/random.ts';

/** Takes a lock of a second, works, and deletes it by its name alone. `before` is what the client does first. */
const stock =
  (before: (session: ClientSession) => Promise<unknown> = async () => {}, lease = 1000) =>
  async (session: ClientSession): Promise<void> => {
    const { name, redis, sleep, resource } = session;
    await before(session);
    while ((await redis.set('stock:lock', name, 'PX', lease, 'NX')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
    await redis.del('stock:lock');
  };
const marked = stock(({ redis, name }) => redis.set(`seen:${name}`, 1, 'PX', 60));
const options = (client: ExploreOptions['client'], more: Partial<ExploreOptions> = {}): ExploreOptions => ({
  ...{ name: 'stock', topology: { replicas: 0 }, clients: 2, client, ...more },
});
const followed = async (client: ExploreOptions['client']): Promise<string[]> => {
  const { rules } = await survey(fullOptions(options(client)));
  return rules.scales.leases.map(({ key, ms, holds, used }) => `${key} ${ms} ${holds} ${used}`);
};

describe('the scale of faults is', () => {
  test('the lock whose holder is inside, and not a key that lives for a shorter time', async () => {
    expect(await followed(marked)).toEqual(['stock:lock 1000 true true', 'seen:A 60 false true']);
    expect(await followed(stock(({ redis }) => redis.set('cache', 1, 'EX', 20)))).toEqual([
      'stock:lock 1000 true true',
      'cache 20000 false true',
    ]);
  });

  test('as long as a lease has grown, and the one that it began with', async () => {
    const growing = async (session: ClientSession): Promise<void> => {
      const { redis, sleep, resource } = session;
      while ((await redis.set('lock', session.name, 'PX', 100, 'NX')) !== 'OK') await sleep(50);
      const inside = resource('stock').enter();
      await redis.pexpire('lock', 2000);
      await sleep(300);
      inside.leave();
      await redis.del('lock');
    };
    expect(await followed(growing)).toEqual(['lock 2000 true true', 'lock 100 true true']);
  });

  test('one of four leases at most, and none that is longer than a minute', async () => {
    const many = stock(async ({ redis }) => {
      for (const ms of [50, 100, 200, 400, 800_000]) await redis.set(`k${ms}`, 1, 'PX', ms);
    });
    expect(await followed(many)).toEqual([
      'stock:lock 1000 true true',
      'k800000 800000 false false',
      ...['k400 400 false true', 'k200 200 false true', 'k100 100 false true', 'k50 50 false false'],
    ]);
  });
});

test('a key with a short life beside the lock hides no finding, and the report names the leases', async () => {
  const faults = ['client-pause', 'node-pause', 'partition', 'delay', 'clock-jump'] as const;
  const report = await explore(
    options(marked, { faults, promises: ['mutual-exclusion'], clients: 3, budget: { worlds: 1000 } }),
  );
  expect(Object.keys(report.coverage.broken).sort()).toEqual([...faults].sort());
  expect(String(report)).toContain('\nlengths follow the lease of stock:lock (1000 ms), then seen:A (60 ms)');
  expect(report.coverage.leases[0]).toEqual({ key: 'stock:lock', ms: 1000, holds: true, used: true });
});

describe('bounds', () => {
  /** The lengths of the forms of a fault, and of a hundred that are drawn. */
  const lengths = async (faults: NonNullable<ExploreOptions['faults']>) => {
    const full = fullOptions(options(stock(), { faults }));
    const { rules } = await survey(full);
    const among = { clients: full.clients, sets: [['redis-1']], sentinels: false, cluster: false };
    const input = {
      ...{ seed: 1, among, scales: rules.scales, faults: full.faults, bounds: full.bounds },
      ...{ moments: [], span: 100, depth: 1 },
    };
    const forms = formsOf(input);
    const random = new Random(1, 'bounds');
    const drawn = Array.from({ length: 100 }, () => drawFault(input, forms, random));
    return { forms: forms.map(({ kind, variant: { on, ms, by } }) => ({ kind, on, ms, by })), drawn };
  };

  test('keep a fault to one client, to a length, or below the lease, also when it is drawn', async () => {
    const pause = 'client-pause';
    const { forms: free } = await lengths([pause]);
    expect(free.map(({ on, ms }) => `${on} ${ms}`)).toEqual(['A 400', 'A 1500', 'B 400', 'B 1500']);
    const { forms, drawn } = await lengths([{ kind: pause, on: 'B', longest: 'lease' }]);
    expect(forms.map(({ on, ms }) => `${on} ${ms}`)).toEqual(['B 400', 'B 1000']);
    expect(Math.max(...drawn.map(({ ms }) => ms))).toBe(1000);
    expect(new Set(drawn.map(({ on }) => on))).toEqual(new Set(['B']));
    expect((await lengths([{ kind: pause, ms: 70 }])).forms).toMatchObject([
      { on: 'A', ms: 70 },
      { on: 'B', ms: 70 },
    ]);
  });

  test('of late messages and clocks are about how late, and how far', async () => {
    const { forms, drawn } = await lengths([
      { kind: 'delay', on: 'A', longest: 300 },
      { kind: 'clock-jump', on: 'A', ms: 5 },
    ]);
    expect(forms.map(({ by }) => by)).toEqual([300, 300, 5, -5]);
    expect(forms.slice(0, 2).map(({ ms }) => ms)).toEqual([20, 20]);
    expect(Math.max(...drawn.map(({ by }) => Math.abs(by)))).toBe(300);
  });

  test('that are wrong, or about nobody, are refused', async () => {
    const wrong = (fault: object): unknown => fullOptions(options(stock(), { faults: [fault] as never }));
    expect(() => wrong({ kind: 'pause' })).toThrow("option faults.kind is 'pause'");
    expect(() => wrong({ kind: 'delay', longest: 'week' })).toThrow("option faults.longest is 'week'");
    expect(() => wrong({ kind: 'delay', ms: 1, longest: 2 })).toThrow('no value together with faults.ms');
    expect(() => wrong({ kind: 'delay', client: 'A' })).toThrow('client');
    await expect(explore(options(stock(), { faults: [{ kind: 'delay', on: 'C' }] }))).rejects.toThrow(
      "option faults.on is 'C'; allowed: A, B, redis-1",
    );
  });
});
