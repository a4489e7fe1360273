/** Whose lock a client ends: its own, or that of another, whose lease lasts and whose process lives. */
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, replay } from '../../explore/index.ts';

type Code = (session: ClientSession) => Promise<void>;

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** Virtual milliseconds. */
const [LEASE, WORK] = [1000, 200];

const options = (client: Code): ExploreOptions => ({
  ...{ name: 'released', topology: { replicas: 0 }, client, promises: ['released-by-holder'] },
});

async function broken(client: Code, fault = ''): Promise<string[]> {
  const { breaches } = await replay(options(client), `1:1:0:A,B:${fault}:000000000000`);
  return breaches.map(({ what }) => what);
}

/** A has the lock for a while; B does something to it. */
const while_ =
  (act: (redis: ClientSession['redis']) => Promise<unknown>, lease = LEASE): Code =>
  async ({ name, redis, resource, sleep }) => {
    if (name !== 'A') {
      await sleep(WORK / 2);
      await act(redis);
      return;
    }
    await redis.set('lock', 'A', 'PX', lease, 'NX');
    const inside = resource('stock').enter();
    await sleep(WORK);
    inside.leave();
    await redis.eval(RELEASE, 1, 'lock', 'A');
  };

test.each<[string, (redis: ClientSession['redis']) => Promise<unknown>, string]>([
  ['DEL', (redis) => redis.del('lock'), "B's DEL took lock from A, who still held it"],
  [
    'a script',
    (redis) => redis.eval("return redis.call('del',KEYS[1])", 1, 'lock'),
    "B's script took lock from A, who still held it",
  ],
  [
    'PEXPIRE that shortens the lease',
    (redis) => redis.pexpire('lock', 20),
    "B's PEXPIRE took lock from A, who still held it",
  ],
])('%s of another client takes the lock', async (_what, act, what) => {
  expect(await broken(while_(act))).toEqual([what]);
});

test('the visit of the holder is part of what broke', async () => {
  const { breaches, history } = await replay(
    options(while_((redis) => redis.del('lock'))),
    '1:1:0:A,B::000000000000',
  );
  const [{ at, visits } = { at: 0, visits: [] as readonly number[] }] = breaches;
  expect(visits.map((id) => history.visits[id]?.client)).toEqual(['A']);
  expect(at).toBeGreaterThan(WORK / 2);
  expect(at).toBeLessThan(WORK);
});

test('a lock whose lease is over, or whose token is another, is not taken', async () => {
  expect(await broken(while_((redis) => redis.eval(RELEASE, 1, 'lock', 'B')))).toEqual([]);
  // The lease is over when B comes.
  expect(await broken(while_((redis) => redis.del('lock'), WORK / 4))).toEqual([]);
});

test('the lock of a process that died may be taken', async () => {
  const act = while_((redis) => redis.del('lock'));
  expect(await broken(act, 'client-death@50/A')).toEqual([]);
  expect(await broken(act, 'client-death@150/A')).toHaveLength(1);
});
