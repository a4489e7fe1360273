/** The faults that people met: what each does to one world, and what a lock suffers by it. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { DEFAULT_FAULTS, FAULTS, type FaultName, faults } from '../../explore/faults/index.ts';
import type { FaultVariant } from '../../explore/faults/planned.ts';
import { type ClientSession, type ExploreOptions, explore, replay } from '../../explore/index.ts';
import { encodePlan, NO_HASH } from '../../explore/plan.ts';
import { faultOf } from '../../explore/search/strategy.ts';

type Code = (session: ClientSession) => Promise<void>;
type Played = Awaited<ReturnType<typeof replay>>;

/** Virtual milliseconds. */
const [LEASE, RETRY, WORK] = [2000, 25, 500];
const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** A lock with a token and a lease. */
const lock: Code = async ({ name, redis, resource, sleep }) => {
  while ((await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => '')) !== 'OK') await sleep(RETRY);
  const inside = resource('stock').enter();
  await sleep(WORK);
  inside.write();
  inside.leave();
  await redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);
};

function play(
  kind: FaultName,
  at: number,
  variant: FaultVariant,
  { client = lock, ...more }: Partial<ExploreOptions> = {},
): Promise<Played> {
  const options: ExploreOptions = { name: kind, topology: { replicas: 0 }, clients: 2, ...more, client };
  const plan = { seed: 1, clients: ['A', 'B'], jitter: 0, faults: [faultOf(kind, at, variant)] };
  return replay(options, encodePlan(plan, NO_HASH));
}

const told = ({ history }: Played): string[] =>
  history.lines.filter(({ kind }) => kind === 'fault').map(({ who, what }) => `${who} ${what}`);
const broken = ({ breaches }: Played): string[] => breaches.map(({ promise }) => promise);

test('FLUSHALL loses a lock whose connections stay', async () => {
  const played = await play('flush-all', 100, { on: 'redis-1' });
  expect(told(played)).toEqual(['operator runs FLUSHALL on redis-1']);
  expect(broken(played)[0]).toBe('mutual-exclusion');
});

describe('eviction', () => {
  const counted: Code = async (session) => {
    await session.redis.incr('counter');
    await lock(session);
  };
  const counts = ({ history }: Played): number =>
    history.writes.filter(
      ({ client, command }) => client === undefined && /^(del|unlink)$/i.test(command[0] ?? ''),
    ).length;
  test('of keys with a lease takes the lock, and leaves what has none', async () => {
    const played = await play('eviction', 100, { on: 'redis-1', how: 'leased' }, { client: counted });
    expect(told(played)).toEqual(['redis-1 evicts the keys that have a lease']);
    expect(broken(played)[0]).toBe('mutual-exclusion');
    expect(counts(played)).toBe(1);
  });
  test('of all keys takes both', async () => {
    const played = await play('eviction', 100, { on: 'redis-1', how: 'any' }, { client: counted });
    expect(broken(played)[0]).toBe('mutual-exclusion');
    expect(counts(played)).toBe(2);
  });
});

test('MISCONF refuses a release, which nobody sends again', async () => {
  const errors: string[] = [];
  const once: Code = async (session) => {
    const { name, redis, resource, sleep } = session;
    while ((await redis.set('lock', name, 'NX').catch(() => '')) !== 'OK') await sleep(RETRY);
    const inside = resource('stock').enter();
    await sleep(WORK);
    inside.leave();
    await redis.del('lock').catch((error: Error) => errors.push(error.message));
  };
  const played = await play('misconf', WORK - 50, { on: 'redis-1', ms: 200 }, { client: once });
  expect(told(played)).toEqual(['redis-1 cannot save its data for 200 ms']);
  expect(errors[0]).toMatch(/^MISCONF /);
  expect(broken(played)).toContain('no-orphan');
});

describe("Sentinel's split", () => {
  const topology = { sentinels: 3, replicas: 2 };
  test('two clients hold the lock: one at the old primary, one at the new one', async () => {
    const long: Code = async ({ name, redis, resource, signal, sleep }) => {
      const renew =
        "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0";
      while (!signal.aborted && (await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => '')) !== 'OK')
        await sleep(RETRY);
      const inside = resource('stock').enter();
      for (let i = 0; i < 40; i++) {
        await sleep(200);
        // It stops when it learns that it does not have the lock any more.
        if ((await redis.eval(renew, 1, 'lock', name, LEASE).catch(() => 0)) !== 1) break;
        inside.write();
      }
      inside.leave();
      await redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);
    };
    const played = await play(
      'sentinel-split',
      300,
      { on: 'redis-1', how: 'A', ms: 600 },
      { topology, client: long },
    );
    const lines = told(played);
    expect(lines[0]).toBe('redis-1 and A are cut off from everybody else');
    expect(lines[1]).toMatch(/^redis-[23] is promoted$/);
    expect(broken(played)).toContain('mutual-exclusion');
    const writers = new Set(
      played.history.writes.filter(({ client }) => client !== undefined).map(({ node }) => node),
    );
    expect(writers.size).toBe(2);
  });
  test('afterwards the old primary is a replica, and its client finds the new one', async () => {
    const played = await play(
      'sentinel-split',
      100,
      { on: 'redis-1', how: 'A', ms: 600 },
      { topology, promises: ['no-orphan', 'progress', 'everyone-served'] },
    );
    expect(told(played).at(-1)).toBe('redis-1 can reach them again');
    expect(played.breaches).toEqual([]);
    expect(played.history.lives.map(({ ended }) => ended)).toEqual(['returned', 'returned']);
  });
});

describe('one replica alone', () => {
  const waits: Code = async (session) => {
    const { redis, record } = session;
    for (let i = 0; i < 6; i++) {
      const wait = record('wait');
      await redis.multi().set('key', i).exec();
      wait.ok(await redis.wait(2, 100));
      await session.sleep(50);
    }
    session.resource('stock').enter().leave();
  };
  const topology = { replicas: 2 };
  const copies = ({ history }: Played): unknown[] =>
    history.operations.filter(({ client }) => client === 'A').map(({ output }) => output);
  test.each<[FaultName, FaultVariant]>([
    ['replica-pause', { on: 'redis-2', ms: 200 }],
    ['replica-crash', { on: 'redis-2', ms: 200 }],
    ['replica-crash', { on: 'redis-2', ms: 150, how: 'empty' }],
    ['replica-lag', { on: 'redis-2', ms: 200 }],
  ])('%s %o: WAIT counts one replica less, and then all of them', async (kind, variant) => {
    const played = await play(kind, 20, variant, { topology, client: waits });
    expect(copies(played)[0]).toBe(2);
    expect(copies(played)).toContain(1);
    expect(copies(played).at(-1)).toBe(2);
    expect(copies(played)).not.toContain(0);
  });
  test('a primary is not struck', async () => {
    expect(
      told(await play('replica-pause', 20, { on: 'redis-1', ms: 200 }, { topology, client: waits })),
    ).toEqual([]);
  });
});

test.each(['requests', 'replies'] as const)('a cut of %s alone: the other direction works', async (how) => {
  const pings: Code = async ({ redis, resource, sleep }) => {
    for (let i = 0; i < 5; i++) {
      void redis.set('key', i).catch(() => 0);
      await sleep(50);
    }
    resource('stock').enter().leave();
  };
  const { history } = await play('one-way-cut', 60, { on: 'A', ms: 500, how }, { client: pings });
  const during = history.writes.filter(({ client, at }) => client === 'A' && at > 62 && at < 560);
  expect(during.length > 0).toBe(how === 'replies');
});

test('work that hangs keeps a lock closed that is renewed for ever, and not one that is renewed some times', async () => {
  const renewed =
    (most: number): Code =>
    async ({ name, redis, resource, signal, sleep }) => {
      while (!signal.aborted && (await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => '')) !== 'OK')
        await sleep(RETRY);
      if (signal.aborted) return;
      let until = performance.now() + LEASE;
      let done = 0;
      const watchdog = setInterval(() => {
        if (++done > most || signal.aborted) return clearInterval(watchdog);
        void redis.pexpire('lock', LEASE);
        until = performance.now() + LEASE;
      }, LEASE / 4);
      const inside = resource('stock').enter();
      await sleep(WORK);
      if (performance.now() < until) inside.write();
      clearInterval(watchdog);
      inside.leave();
      await redis.eval(RELEASE, 1, 'lock', name);
    };
  const promises = ['everyone-served', 'progress', 'no-orphan'] as const;
  const hang = (most: number) =>
    play('work-hang', 1, { on: 'A', ms: 1000, by: 100 * LEASE }, { client: renewed(most), promises });
  const played = await hang(Infinity);
  expect(told(played)).toEqual(['A its work hangs for 200000 ms']);
  expect(broken(played).length).toBeGreaterThan(0);
  expect((await hang(8)).breaches).toEqual([]);
});

describe('a second deployment', () => {
  /** A lock that its owner may take again. */
  const TAKE = `local held = redis.call('get', KEYS[1])
  if held and held ~= ARGV[1] then return 0 end
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1`;
  const owned =
    (ownerOf: (session: ClientSession) => string): Code =>
    async (session) => {
      const { redis, resource, sleep } = session;
      const owner = ownerOf(session);
      while ((await redis.eval(TAKE, 1, 'lock', owner, LEASE).catch(() => 0)) !== 1) await sleep(RETRY);
      const inside = resource('stock').enter();
      await sleep(WORK);
      inside.write();
      inside.leave();
      await redis.eval(RELEASE, 1, 'lock', owner).catch(() => 0);
    };
  const deployed = (how: '' | 'pid', ownerOf: (session: ClientSession) => string): Promise<Played> =>
    play('second-deployment', 100, { on: 'A', how }, { client: owned(ownerOf) });

  test('shares the lock of an owner whose id is made of names', async () => {
    const played = await deployed('', () => hostname());
    expect(told(played)).toEqual(['A2 starts in a second deployment, with the name and the host name of A']);
    expect(broken(played)[0]).toBe('mutual-exclusion');
    expect(played.history.lanes).toContain('A2');
    expect(played.story).toMatch(
      /A2 got the lock while A was inside: A2 belongs to a second deployment, and its token is that of A\./,
    );
    expect(played.story).toContain('prevented by: a token that no other process has');
    expect(broken(await deployed('', ({ name }) => name))[0]).toBe('mutual-exclusion');
  });
  test('has another process id, unless the fault says that it has the same', async () => {
    const owner = (): string => `${hostname()}:${process.pid}`;
    expect(broken(await deployed('', owner))).toEqual([]);
    expect(broken(await deployed('pid', owner))[0]).toBe('mutual-exclusion');
  });
  test('waits for a lock whose owner is random, and gets in', async () => {
    const played = await deployed('pid', () => Math.random().toString(36));
    expect(broken(played)).toEqual([]);
    expect(new Set(played.history.visits.map(({ client }) => client))).toEqual(new Set(['A', 'A2', 'B']));
  });
  test('is found where it is named, is reduced, and its text plays again', async () => {
    const options: ExploreOptions = {
      ...{
        name: 'names',
        topology: { replicas: 0 },
        clients: ['A', 'A2', 'B'],
        client: owned(({ name }) => name),
      },
      ...{ faults: ['second-deployment'], budget: { worlds: 200, ms: Infinity }, stopAtFirst: true },
    };
    const { findings } = await explore(options);
    const [finding] = findings;
    expect(finding?.promise).toBe('mutual-exclusion');
    expect(finding?.cause).toBe('second-deployment');
    // The lab's name for the new process is no other client's.
    expect(finding?.story).toMatch(/A22|A222|B2/);
    const again = await replay(options, String(finding?.replay));
    expect(broken(again)[0]).toBe('mutual-exclusion');
  });
});

test('the scripts of EVAL are forgotten, and those of SCRIPT LOAD are not', async () => {
  let answers: string[] = [];
  const hashes: Code = async ({ name, redis, resource, sleep }) => {
    const loaded = (await redis.script('LOAD', 'return 7')) as string;
    await redis.eval("return 'x'", 0);
    await sleep(100);
    const evaluated = '573cd020e2fc941d149285df8b681959190edd09';
    const heard: string[] = [];
    for (const each of [loaded, evaluated])
      heard.push(String(await redis.evalsha(each, 0).catch((error: Error) => error.message.slice(0, 8))));
    if (name === 'A') answers = heard;
    resource('stock').enter().leave();
  };
  await play('script-eviction', 50, {}, { client: hashes, topology: { replicas: 0, dialect: 'redis-7.0' } });
  expect(answers).toEqual(['7', 'x']);
  await play('script-eviction', 50, {}, { client: hashes });
  expect(answers).toEqual(['7', 'NOSCRIPT']);
});

test('the clock of a client and that of a server are two kinds, and a text of the old kind plays as before', async () => {
  const wall: Code = async ({ redis, resource, sleep }) => {
    await sleep(100);
    const inside = resource(
      `at ${Date.now() - 1_767_225_600_000 > 50_000 ? 'a later' : 'the right'} time`,
    ).enter();
    await redis.time();
    inside.leave();
  };
  const visited = ({ history }: Played) =>
    history.visits.map(({ client, resource }) => `${client} ${resource}`);
  const jump = (kind: FaultName, on: string) => play(kind, 50, { on, by: 60_000 }, { client: wall });
  const mine = await jump('client-clock-jump', 'A');
  expect(visited(mine)).toEqual(['A at a later time', 'B at the right time']);
  expect(visited(await jump('clock-jump', 'A'))).toEqual(visited(mine));
  expect(visited(await jump('server-clock-jump', 'redis-1'))).toEqual([
    'A at the right time',
    'B at the right time',
  ]);
  const among = { clients: ['A'], sets: [['redis-1']], sentinels: false, cluster: false };
  const struck = (kind: FaultName): unknown[] => [
    ...new Set(faults[kind].variants(among, { leaseMs: 1000, reconnectMs: 250 }).map(({ on }) => on)),
  ];
  for (const what of ['jump', 'drift'] as const) {
    expect(struck(`client-clock-${what}`)).toEqual(['A']);
    expect(struck(`server-clock-${what}`)).toEqual(['redis-1']);
    expect(struck(`clock-${what}`)).toEqual(['redis-1', 'A']);
  }
});

test('what no lock survives, and what others show as well, strikes only where it is asked for', () => {
  const onRequest = FAULTS.filter((name) => !DEFAULT_FAULTS.includes(name));
  expect(onRequest, 'a fault with onRequest gets its line here').toEqual([
    'one-way-cut',
    'flush-all',
    'eviction',
    'script-eviction',
    'work-hang',
    'second-deployment',
    'clock-jump',
    'clock-drift',
  ]);
});
