/** Single worlds: what is judged, what the history has, and what the story tells. */
import { expect, test } from 'vitest';
import type { PlannedFault } from '../../explore/faults/index.ts';
import type { FaultVariant } from '../../explore/faults/planned.ts';
import { type ClientSession, type ExploreOptions, type History, replay } from '../../explore/index.ts';
import { encodePlan, NO_HASH } from '../../explore/plan.ts';
import { faultOf } from '../../explore/search/strategy.ts';

/** Virtual milliseconds. */
const [RETRY, WORK, SHORT, BEFORE, AFTER] = [20, 300, 50, 200, 500];

type Played = Awaited<ReturnType<typeof replay>>;

const fault = (kind: PlannedFault['kind'], at: number, on: string, more: FaultVariant = {}): PlannedFault =>
  faultOf(kind, at, { on, ...more });

function play(options: ExploreOptions, faults: readonly PlannedFault[], clients = ['A']): Promise<Played> {
  return replay(options, encodePlan({ seed: 1, clients, jitter: 0, faults: [...faults] }, NO_HASH));
}

const told = ({ history }: Played): string[] =>
  history.lines.filter(({ kind }) => kind === 'fault').map(({ who, what }) => `${who} ${what}`);

/** Takes a lock three times. */
async function threeTimes({ name, redis, sleep, resource }: ClientSession): Promise<void> {
  for (let i = 0; i < 3; i++) {
    while ((await redis.set('l', name + i, 'PX', 1000, 'NX')) !== 'OK') await sleep(RETRY);
    const inside = resource('s').enter();
    await sleep(WORK);
    inside.write();
    inside.leave();
    await redis.del('l');
  }
}
const three: ExploreOptions = { name: 'three times', clients: 1, client: threeTimes };
const grants = ({ history }: Played): string[] =>
  history.writes.filter(({ command }) => command[0] === 'SET').map(({ command }) => command[2] as string);

test('a node that hands over shares its writes, and each counts once', async () => {
  const played = await play(three, [fault('failover', 500, 'redis-1', { how: 'demote' })]);
  expect(new Set(grants(played)).size).toBe(grants(played).length);
  expect(grants(played)).toEqual(expect.arrayContaining(['A0', 'A1', 'A2']));
});

test('what a node executed before it was restarted counts', async () => {
  const played = await play(three, [fault('restart-disk', 500, 'redis-1', { ms: 20 })]);
  expect(grants(played)).toContain('A0');
});

test('a lost write names the node that had accepted it, and a later failover does not claim it', async () => {
  const behind = fault('failover-behind', 300, 'redis-1', { ms: 20, by: 100, how: 'crash' });
  const played = await play(three, [behind, fault('failover', 1600, 'redis-1', { how: 'demote' })]);
  expect(played.history.lost[0]?.node).toBe('redis-1');
  expect(told(played).filter((line) => line.includes('lost'))).toHaveLength(1);
});

test('what a primary took behind a partition is lost when it becomes a replica', async () => {
  const one: ExploreOptions = {
    name: 'one write',
    clients: 1,
    async client({ redis, sleep, resource, name }) {
      const inside = resource('s').enter();
      await sleep(BEFORE);
      await redis.set('k', name);
      await sleep(AFTER);
      inside.leave();
    },
  };
  const apart = fault('partition', 100, 'redis-1', { ms: 800, how: 'replicas' });
  const { history } = await play(one, [apart, fault('read-only', 400, 'redis-1', { ms: 300 })]);
  expect(history.lost.map(({ command }) => command[0])).toEqual(['set']);
});

test('a client that was started again during its pause does not resume', async () => {
  const pause = fault('client-pause', 100, 'A', { ms: 1500 });
  const played = await play(three, [pause, fault('client-death', 200, 'A', { how: 'restart' })]);
  expect(told(played)).toContain('A is paused for 1500 ms');
  expect(told(played).filter((line) => line.includes('resumes'))).toEqual([]);
});

const ACQUIRE =
  "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',1000) then return redis.call('incr',KEYS[2]) end return 0";
const RELEASE =
  "redis.call('incr','stats'); if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
const late = fault('delay', 0, 'A', { how: 'replies', ms: 20, by: 1300 });

test.each([
  ['alone', [late]],
  ['after the clock of the node has jumped', [fault('clock-jump', 0, 'redis-1', { by: 1100 }), late]],
  ['before the node is restarted', [late, fault('restart-disk', 30, 'redis-1', { ms: 20 })]],
])('a fence whose reply comes late is no broken promise: %s', async (_when, faults) => {
  const fenced: ExploreOptions = {
    ...{ name: 'fenced', topology: { replicas: 0 }, clients: 2 },
    async client({ name, redis, sleep, resource }) {
      if (name === 'B') await sleep(RETRY);
      let fence = 0;
      while ((fence = (await redis.eval(ACQUIRE, 2, 'l', 'f', name)) as number) === 0) await sleep(RETRY);
      const inside = resource('s').enter({ fence });
      await sleep(SHORT);
      inside.write();
      inside.leave();
      await redis.eval(RELEASE, 1, 'l', name);
    },
  };
  expect((await play(fenced, faults, ['A', 'B'])).breaches).toEqual([]);
});

test('a client whose connection breaks during its handshake connects again', async () => {
  const dialling: ExploreOptions = {
    ...{ name: 'dialling', topology: { replicas: 0 }, clients: 1 },
    async client({ connect, resource, sleep, signal }) {
      const inside = resource('s').enter();
      const redis = connect({ maxRetriesPerRequest: 0 });
      while (!signal.aborted && (await redis.set('k', 1).catch(() => '')) !== 'OK') await sleep(RETRY);
      inside.write();
      inside.leave();
    },
  };
  const played = await play(dialling, [fault('connection-reset', 3, 'A')]);
  expect(told(played)).toHaveLength(1);
  const [write] = played.history.visits[0]?.writes ?? [];
  expect(write?.at).toBeLessThan(AFTER);
});

test('a client that the resource refuses takes no permit', async () => {
  const refused: ExploreOptions = {
    ...{ name: 'permits', topology: { replicas: 0 }, clients: 3 },
    async client({ name, resource, sleep }) {
      const fence = { A: 5, B: 1, C: 6 }[name as 'A' | 'B' | 'C'];
      await sleep({ A: 0, B: 10, C: 20 }[name as 'A' | 'B' | 'C']);
      const inside = resource('s', { permits: 2 }).enter({ fence });
      await sleep(WORK);
      inside.leave();
    },
  };
  const { breaches } = await play(refused, [], ['A', 'B', 'C']);
  expect(breaches.map(({ promise }) => promise)).not.toContain('permits');
});

/** No two worlds leave the same behind, so that each of them is probed. */
let runs = 0;

/** A job that each client runs once. */
const job = (more: Partial<ExploreOptions>): ExploreOptions => ({
  ...{ name: 'job', topology: { replicas: 0 }, clients: 1 },
  async client({ redis, resource, sleep }) {
    const inside = resource('job').enter();
    await sleep(SHORT);
    await redis.set('runs', ++runs);
    inside.leave();
  },
  ...more,
});

test("the probe's visits are no visits of the clients, also for promises of the user", async () => {
  const ranOnce = ({ visits }: History) =>
    visits.length > 1 && `ran ${visits.length} times: ${visits.map(({ client }) => client).join(', ')}`;
  const { breaches, history } = await play(job({ promises: [ranOnce] }), [fault('client-death', 60, 'A')]);
  expect(breaches).toEqual([]);
  expect(history.visits.map(({ client, ended }) => [client, ended])).toEqual([['A', 'left']]);
  expect(history.probe.map(({ client, resource }) => [client, resource])).toEqual([['probe', 'job']]);
});

test('a fence that the probe gets a second time is broken fencing', async () => {
  const options: ExploreOptions = {
    ...{ name: 'fences', clients: 1, promises: ['fencing', 'no-orphan'] },
    topology: { replicas: 0 },
    async client({ redis, resource, sleep }) {
      const inside = resource('s').enter({ fence: 7 });
      await sleep(SHORT);
      await redis.set('runs', ++runs);
      inside.leave();
    },
  };
  const { breaches, history } = await play(options, [fault('client-death', 60, 'A')]);
  expect(history.probe).toHaveLength(1);
  expect(breaches.map(({ promise, what }) => [promise, what])).toContainEqual([
    'fencing',
    'A and probe both got fence 7 for s',
  ]);
});

test('the code knows whether the probe runs it, so that it need not play every role', async () => {
  const roles: string[] = [];
  const leading = job({
    async client({ name, probe, resource, redis }) {
      const role = probe ? 'newcomer' : name === 'A' ? 'leader' : 'worker';
      roles.push(role);
      resource('job').enter().leave();
      await redis.set('runs', ++runs);
    },
  });
  await play(leading, [fault('script-flush', 1, '')], ['A', 'B']);
  // The world without faults comes first, with A alone.
  expect(roles).toEqual(['leader', 'newcomer', 'leader', 'worker', 'newcomer']);
});

test('what has expired before the verdict is not left behind, and then the lock is no orphan', async () => {
  const stubborn = (more: (redis: ClientSession['redis']) => Promise<unknown>) =>
    job({
      async client({ probe, redis, resource }) {
        // Nothing would keep the probe out, but it never comes in.
        if (probe) throw new Error('no');
        await redis.set('l', 'A', 'PX', 1000);
        await more(redis);
        resource('job').enter().leave();
      },
    });
  const told = async (options: ExploreOptions): Promise<string[]> =>
    (await play(options, [])).breaches.map(
      ({ promise, what }) => `${promise}: ${what.replace(/\d+ ms/, '#')}`,
    );
  expect(await told(stubborn(async () => {}))).toEqual([
    'progress: a new client does not get the lock within #',
  ]);
  expect(await told(stubborn((redis) => redis.set('done', 1)))).toEqual([
    'no-orphan: nobody is inside, but a new client does not get the lock within #; left behind: done=1',
  ]);
});

test('a promise of the user is broken when the world has ended, not at its last event', async () => {
  const never = (): string => 'as always';
  const closed = job({
    promises: [never],
    async client({ probe, redis, resource, sleep }) {
      if (probe) return sleep(AFTER * AFTER);
      await redis.set('runs', ++runs);
      resource('job').enter().leave();
    },
  });
  const { breaches, events } = await play(closed, []);
  // The probe gets ten seconds at least.
  expect(breaches[0]?.at).toBeGreaterThan(10_000);
  expect(events.at(-1)).toMatchObject({ at: breaches[0]?.at, text: 'never is broken: as always' });
});
