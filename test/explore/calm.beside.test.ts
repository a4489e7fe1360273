/** Explorations of locks with unusual leases, and of promises that break without any fault. */
import { expect, test } from 'vitest';
import { type ExploreOptions, explore, replay } from '../../explore/index.ts';

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** Virtual milliseconds. */
const [RETRY, WORK] = [50, 100];

interface Shape {
  /** The lease in milliseconds; 0: none. */
  readonly ttl: number;
  readonly releases?: boolean;
  readonly clients?: number;
  /** The lease of a key that has nothing to do with the lock, in milliseconds. */
  readonly heartbeat?: number;
}

const lock = ({ ttl, releases = true, clients = 1, heartbeat }: Shape): ExploreOptions => ({
  ...{ name: `lease of ${ttl} ms`, topology: { replicas: 0 }, clients },
  ...{ faults: ['client-death'], budget: { worlds: 40, ms: Infinity } },
  async client({ name, redis, sleep, resource, signal }) {
    if (heartbeat !== undefined) await redis.set(`seen:${name}`, 1, 'PX', heartbeat);
    const take = (): Promise<unknown> =>
      ttl > 0 ? redis.set('l', name, 'PX', ttl, 'NX') : redis.set('l', name, 'NX');
    while ((await take()) !== 'OK') {
      if (signal.aborted) return;
      await sleep(RETRY);
    }
    const inside = resource('s').enter();
    await sleep(WORK);
    inside.write();
    inside.leave();
    if (releases) await redis.eval(RELEASE, 1, 'l', name);
  },
});

test.each<Shape>([
  { ttl: 5000 },
  { ttl: 61_000 },
  { ttl: 120_000 },
  { ttl: 3000, heartbeat: 200, clients: 2 },
])('a lock that is free again when its lease has ended leaves no orphan: %o', async (shape) => {
  const { findings } = await explore(lock(shape));
  expect(findings.filter(({ promise }) => promise !== 'contended')).toEqual([]);
});

test.each<Shape>([
  { ttl: 0, releases: false },
  { ttl: 0, releases: false, clients: 3 },
])('a finding without faults repeats, and can be played again: %o', async (shape) => {
  const options = lock(shape);
  const { findings } = await explore(options);
  const [finding] = findings.filter(({ replay }) => replay !== '');
  expect(finding?.notRepeatable).toBeUndefined();
  const { breaches } = await replay(options, finding!.replay);
  expect(breaches.map(({ promise }) => promise)).toContain(finding!.promise);
});

test('each broken promise of the user is reported, also those of one world', async () => {
  const first = (): string => 'always broken';
  const second = (): string => 'broken as well';
  const options = { ...lock({ ttl: 1000 }), promises: [first, second] };
  const { findings } = await explore({ ...options, budget: { worlds: 10, ms: Infinity } });
  const own = findings.filter(({ promise }) => promise !== 'contended');
  expect(own.map(({ promise }) => promise).sort()).toEqual(['first', 'second']);
  expect(own.map(({ notRepeatable }) => notRepeatable)).toEqual([undefined, undefined]);
});

test('explorations that run together leave the console and the process as they were', async () => {
  const { log } = console;
  const listeners = process.listeners('unhandledRejection');
  const small = { ...lock({ ttl: 1000 }), budget: { worlds: 10, ms: Infinity } };
  await Promise.all([
    explore(small),
    explore({ ...small, name: 'another', budget: { worlds: 30, ms: Infinity } }),
  ]);
  expect(console.log).toBe(log);
  expect(process.listeners('unhandledRejection')).toEqual(listeners);
});
