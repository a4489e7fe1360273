/** Explorations of small locks: what is found, how it is told, and that it can be played again. */
import { expect, test } from 'vitest';
import { type ClientSession, explore, linearizable, replay } from '../../explore/index.ts';
import { fullOptions } from '../../explore/options.ts';

const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

/** Virtual milliseconds. */
const [RETRY, WORK] = [20, 40];

/** A lock with a token and a lease of 200 ms. */
async function tokenLock({ name, redis, sleep, resource }: ClientSession): Promise<void> {
  const token = name + Math.random();
  while ((await redis.set('lock', token, 'PX', 200, 'NX')) !== 'OK') await sleep(RETRY);
  const inside = resource('stock').enter();
  await sleep(WORK);
  inside.write();
  inside.leave();
  await redis.eval(RELEASE, 1, 'lock', token);
}

/** The same with a fence, which the resource checks. */
async function fencedLock({ name, redis, sleep, resource }: ClientSession): Promise<void> {
  while ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') await sleep(RETRY);
  const inside = resource('stock').enter({ fence: await redis.incr('fence') });
  await sleep(WORK);
  inside.write();
  inside.leave();
  await redis.eval(RELEASE, 1, 'lock', name);
}

const pauses = {
  name: 'token lock',
  client: tokenLock,
  clients: 2,
  faults: ['client-pause'],
  budget: { worlds: 16, ms: Infinity },
} as const;

test('clients that pass their signal on, or live until it is aborted, are safe: the probe has a signal of its own', async () => {
  async function signalled({ redis, name, signal, sleep, resource }: ClientSession): Promise<void> {
    while (!signal.aborted) {
      if ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') await sleep(RETRY);
      else {
        const inside = resource('stock').enter({ fence: await redis.incr('fence') });
        await sleep(WORK);
        inside.leave();
        await redis.eval(RELEASE, 1, 'lock', name);
        return;
      }
    }
    throw new Error('never got it');
  }
  // The counter of fences is left behind, so that every world looks whether the lock can be had.
  const report = await explore({ ...pauses, name: 'signalled', client: signalled });
  expect(report.findings).toEqual([]);
  expect(report.coverage.contended).toBeGreaterThan(0);
});

test('a stall beyond the lease lets two clients in: the story is short, and plays again', async () => {
  const report = await explore(pauses);
  const [finding] = report.findings;
  expect(report.findings).toHaveLength(1);
  expect(finding).toMatchObject({
    promise: 'mutual-exclusion',
    cause: 'client-pause',
    notRepeatable: undefined,
  });
  expect(finding!.worlds).toBeGreaterThan(1);
  expect(report.coverage.leaseEnded).toBeGreaterThan(1);
  const calm = await explore({ ...pauses, faults: [], budget: { worlds: 2, ms: Infinity } });
  expect(String(calm)).toContain('\neach holder left before its lease ended: that case was not seen\n');
  expect(finding!.events.length).toBeLessThanOrEqual(12);
  expect(finding!.events.map(({ text }) => text).join('\n')).toMatch(
    /is paused for 300 ms[\s\S]*enters stock[\s\S]*resumes[\s\S]*writes/,
  );
  const again = await replay(pauses, finding!.replay);
  expect(again.story.split('\n').slice(1)).toEqual(finding!.story.split('\n').slice(1));
  expect(again.history.messages.length).toBeGreaterThan(10);
  expect(again.history.messages.every(({ sent, arrived }) => sent < arrived)).toBe(true);
  expect(() => report.assertNone()).toThrow(
    /a broken promise in 16 worlds[\s\S]*replay: 2:1:0:A,B:client-pause@/,
  );
}, 240_000);

test('the same options find the same', async () => {
  const options = { ...pauses, budget: { worlds: 6, ms: Infinity } };
  const [one, other] = [await explore(options), await explore(options)];
  expect(other.findings).toEqual(one.findings);
  expect(other.coverage).toEqual(one.coverage);
});

test('an exhaustive exploration ends with all worlds of one fault, or of two', async () => {
  const options = {
    ...pauses,
    faults: ['client-death'] as const,
    budget: { worlds: Infinity, ms: Infinity },
  };
  const one = await explore({ ...options, exhaustive: 1, late: { alone: 0 } });
  const { singles, strategies } = one.coverage;
  expect(singles.played).toBe(singles.all);
  expect(singles.cut).toBe(0);
  expect(one.worlds).toBe(1 + singles.all);
  expect(strategies).toEqual({ 'without faults': 1, 'one fault': singles.all });
  const some = await explore({
    ...{ ...options, exhaustive: 2, late: { alone: 0 } },
    budget: { worlds: one.worlds + 5, ms: Infinity },
  });
  expect(some.coverage.pairs).toBeGreaterThan(singles.all);
  expect(some.coverage.strategies['two faults']).toBe(5);
});

test('without a budget, an exhaustive exploration has no limit', () => {
  const { budget } = fullOptions({ ...pauses, budget: {}, exhaustive: 2 });
  expect(budget).toEqual({ worlds: Infinity, ms: Infinity });
  expect(fullOptions({ ...pauses, budget: { worlds: 9 }, exhaustive: 1 }).budget).toEqual({
    worlds: 9,
    ms: Infinity,
  });
  expect(fullOptions({ ...pauses, budget: {} }).budget).toEqual({ worlds: 5000, ms: 60_000 });
});

test('a world that does not repeat is refused', async () => {
  const changed = { ...pauses, client: (session: ClientSession) => tokenLock({ ...session, name: 'x' }) };
  const text = '1:1:0:A,B:client-pause@10/A/300:0123456789ab';
  await expect(replay(changed, text)).rejects.toThrow('this world does not repeat: its trace is ');
  for (const wrong of [
    'nonsense',
    '1:1:0:A,B:client-pawse@10/A/300:0123456789ab',
    '1:1:0:A,B:constructor@10/A/300:0123456789ab',
    '1:1:0::client-pause@10/A/300:0123456789ab',
    '1:1:0:A,B:client-pause@-5/A/300:0123456789ab',
  ])
    await expect(replay(changed, wrong, { sameTrace: false })).rejects.toThrow(
      `lostlock: option replay is '${wrong}'; allowed: `,
    );
});

test('what real servers cannot play is refused before anything starts', async () => {
  const on = 'redis-server';
  await expect(replay(pauses, '1:1:0:A,B:clock-jump@10/A/0/300:0123456789ab', { on })).rejects.toThrow(
    "lostlock: option replay.on is 'redis-server'; allowed: no value with clock-jump: real processes share",
  );
  const text = '1:1:0:A,B:client-pause@10/A/300:0123456789ab';
  await expect(replay({ ...pauses, topology: { sentinels: 3 } }, text, { on })).rejects.toThrow(
    'lostlock: option topology.sentinels is 3; allowed: no value together with replay.on',
  );
});

test('a resource that checks fences is safe from stalls', async () => {
  const report = await explore({
    ...pauses,
    name: 'fenced',
    client: fencedLock,
    budget: { worlds: 8, ms: Infinity },
  });
  expect(report.findings).toEqual([]);
  expect(report.worlds).toBe(8);
  // Eight worlds are not all that have one fault.
  expect([report.verdict, report.coverage.singles.played]).toEqual(['inconclusive', 7]);
  expect(() => report.assertNone()).toThrow('unplayed: 7 of 88 worlds with one fault were played');
  report.assertNone({ allow: ['unplayed'] });
  const whole = await explore({ ...pauses, client: fencedLock, exhaustive: 1, budget: {} });
  expect([whole.verdict, whole.coverage.fenced]).toEqual(['clean', whole.worlds]);
  whole.assertNone();
});

test('a limiter is contended though nobody waits; its errors are counted, and what ends clients without faults is no proof', async () => {
  const limiter = {
    ...{ name: 'limiter', clients: 2, faults: ['client-death'] as const, promises: ['contended'] as const },
    budget: { worlds: 10, ms: Infinity },
  };
  const counting = await explore({
    ...limiter,
    async client({ name, redis, resource }: ClientSession) {
      if ((await redis.incr('requests')) < 3) resource('api', { permits: 2 }).enter().leave();
      await redis.lpush('requests', name).catch(() => {});
      await redis.evalsha('0123456789012345678901234567890123456789', 0).catch(() => {});
    },
  });
  expect(counting.coverage.contended).toBeGreaterThan(0);
  const refused = 'LPUSH: WRONGTYPE Operation against a key holding the wrong kind of value';
  expect(counting.coverage.calmRefusals).toEqual([`A's ${refused}`, `B's ${refused}`]);
  expect(`${counting}`).toMatch(/without any fault, servers answered with errors:\s+A's LPUSH: WRONGTYPE/);
  const failing = await explore({
    ...limiter,
    async client({ redis, resource }: ClientSession) {
      resource('api').enter().leave();
      await redis.evalsha('0123456789012345678901234567890123456789', 1, 'requests');
    },
  });
  expect(failing.coverage.calmErrors[0]).toMatch(/^A ended with .*NOSCRIPT/);
  expect(Object.entries(failing.coverage.errors)[0]).toEqual([expect.stringContaining('NOSCRIPT'), 10]);
  expect(failing.reasons.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['calm-error', 'gave-up']));
  expect(failing.verdict).toBe('inconclusive');
});

test('a fault that the topology cannot suffer is refused by name', async () => {
  const alone = {
    ...pauses,
    topology: { replicas: 0 },
    faults: ['client-pause', 'failover-behind'] as const,
  };
  await expect(explore(alone)).rejects.toThrow(
    "lostlock: option faults is 'failover-behind'; allowed: faults that can strike this topology and these clients: client-pause",
  );
});

test('a lock without a lease stays closed when its holder dies', async () => {
  const report = await explore({
    name: 'SETNX',
    client: async ({ redis, sleep, resource }: ClientSession) => {
      while ((await redis.setnx('lock', 1)) === 0) await sleep(RETRY);
      const inside = resource('stock').enter();
      await sleep(WORK);
      inside.write();
      inside.leave();
      await redis.del('lock');
    },
    clients: 2,
    faults: ['client-death'],
    budget: { worlds: 12, ms: Infinity },
  });
  expect(report.findings.map(({ promise, cause }) => `${promise}: ${cause}`)).toEqual([
    'no-orphan: client-death',
  ]);
});

test('code that is not deterministic is reported as such', async () => {
  let count = 0;
  const client = async (session: ClientSession): Promise<void> => {
    await session.redis.set(`run:${count++}`, 1, 'PX', 1000);
    await tokenLock(session);
  };
  const broken = (): string => 'as always';
  const { findings } = await explore({
    ...pauses,
    client,
    faults: [],
    promises: [broken],
    budget: { worlds: 1, ms: Infinity },
  });
  expect(findings[0]?.notRepeatable).toMatch(
    /event \d+ was 'A:\d+>redis-1 data .* likely source: \d+ became \d+, as a counter does: state that outlives a world/,
  );
  expect(findings[0]?.story).toContain('This world did not repeat');
});

test('promises of the user are judged, and what nobody contends for proves nothing', async () => {
  const report = await explore({
    name: 'alone',
    client: async ({ name, redis, resource }: ClientSession) => {
      console.log(`${name} prints`);
      await redis.set(name, 1);
      resource(name).enter().leave();
    },
    clients: 2,
    faults: [],
    promises: [
      'contended',
      function nobodySets({ writes }) {
        const second = writes.filter(({ client }) => client === 'B');
        return second.map(({ client, command }) => `${client} sent ${command.join(' ')}`).slice(0, 1);
      },
    ],
    budget: { worlds: 3, ms: Infinity },
  });
  expect(report.findings.map(({ promise, what }) => [promise, what])).toEqual([
    ['nobodySets', 'B sent set B 1'],
  ]);
  expect(report.reasons.map(({ kind }) => kind)).toContain('uncontended');
  expect(report.output.lines.slice(0, 2)).toEqual(['A prints', 'B prints']);
});

test.each([
  // Its operators dial the node while it is paused, and it is killed before it accepts them.
  'node-pause@99/redis-1/300;busy@100/redis-1/228;restart-disk@108/redis-1/4',
  // The script arrives at the new process after SCRIPT KILL.
  'node-pause@20/redis-1/1246;busy@30/redis-1/100;restart-disk@1250/redis-1/4',
  // Its operators' connections break during their handshakes, which ioredis 5 takes for success.
  'node-pause@100/redis-1/2000;busy@500/redis-1/400;restart-disk@1000/redis-1/20',
  // The script runs in the new process when the client that is to kill it connects.
  'busy@11.77/redis-1/500;restart-disk@12.06/redis-1/20',
])('a long script ends with its world, though its node is restarted: %s', async (faults) => {
  const { history } = await replay(pauses, `1:1:0:A,B:${faults}:000000000000`);
  expect(history.faults.map(({ kind }) => kind)).toContain('busy');
});

test('a client that stalls, and then leaves because its lease is over, breaks nothing, though nobody had written yet', async () => {
  const client = async ({ name, redis, sleep, resource }: ClientSession): Promise<void> => {
    let end = Date.now() + 150;
    while ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') {
      await sleep(RETRY);
      end = Date.now() + 150;
    }
    const inside = resource('stock').enter();
    await sleep(WORK);
    if (Date.now() < end) inside.write();
    inside.leave();
    await redis.eval(RELEASE, 1, 'lock', name);
  };
  // A resumes while B is inside, and before B writes.
  const text = '1:1:0:A,B:client-pause@3/A/230:000000000000';
  const { breaches, history } = await replay({ ...pauses, client }, text);
  const [one, other] = history.visits;
  expect([one?.client, other?.client]).toEqual(['A', 'B']);
  expect(one!.to).toBeGreaterThan(other!.from);
  expect(one!.to).toBeLessThan(other!.to);
  expect(breaches).toEqual([]);
});

test('wrong options are refused by name', async () => {
  const base = { name: 'x', client: tokenLock };
  const refused = (options: object): Promise<unknown> => explore({ ...base, ...options } as typeof base);
  await expect(refused({ faults: ['clock-jmp'] })).rejects.toThrow(
    /option faults is 'clock-jmp'; allowed: .*did you mean clock-jump/,
  );
  await expect(refused({ promises: ['exclusion'] })).rejects.toThrow(
    /option promises is 'exclusion'; allowed: mutual-exclusion/,
  );
  await expect(refused({ topology: { cluster: 2 } })).rejects.toThrow(
    'option topology.cluster is 2; allowed: an integer from 3 to 99',
  );
  await expect(refused({ topology: { cluster: 3, sentinels: 3 } })).rejects.toThrow(
    'option topology.sentinels is 3; allowed: no value together with topology.cluster',
  );
  await expect(refused({ progress: 'bar' })).rejects.toThrow("option progress is 'bar'; allowed: a function");
  await expect(refused({ signal: true })).rejects.toThrow('option signal is true; allowed: an AbortSignal');
  await expect(refused({ shard: { index: 1, count: 2 } })).rejects.toThrow(
    'option shard.count is 2; allowed: the options index, of',
  );
  await expect(refused({ exhaustive: 3 })).rejects.toThrow('option exhaustive is 3; allowed: 1 or 2');
  await expect(refused({ clients: 0 })).rejects.toThrow(
    'option clients is 0; allowed: an integer from 1 to 25',
  );
  await expect(refused({ clients: ['A', 'A'] })).rejects.toThrow('different names');
  await expect(refused({ budget: { world: 1 } })).rejects.toThrow(
    'option budget.world is 1; allowed: the options worlds, ms',
  );
  await expect(refused({ client: async () => {} })).rejects.toThrow(
    'x: without any fault, no client entered a resource',
  );
});

test('clients that only record operations need not enter a resource', async () => {
  const report = await explore({
    name: 'records',
    ...{ faults: ['client-death'], clients: 2, budget: { worlds: 5, ms: Infinity } },
    client: async ({ redis, record }: ClientSession) => {
      const add = record('add', 1);
      add.ok(await redis.incr('n'));
    },
    promises: [linearizable('counter'), 'contended', 'no-orphan', 'progress', 'everyone-served'],
  });
  expect(report.findings).toEqual([]);
  expect(report.coverage.contended).toBeGreaterThan(0);
  expect(() => linearizable('stack' as 'queue')).toThrow(
    "option linearizable is 'stack'; allowed: register, counter, queue, set, lock",
  );
});
