/** Stories about a counter of fences that is lost, and about a client that waits and does not ask. */
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore } from '../../explore/index.ts';

const TAKE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return false end
local fence = tonumber(redis.call('GET', KEYS[2]) or '0') + 1
redis.call('SET', KEYS[2], string.format('%.0f', fence))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return fence`;
const GIVE = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0";

/** A lock whose fences come from a counter beside it. */
async function fenced({ redis, name, sleep, resource, signal }: ClientSession): Promise<void> {
  const token = `${name}:${Math.random()}`;
  for (;;) {
    const fence = await redis.eval(TAKE, 2, 'lock', 'lock:fence', token, 5000).catch(() => null);
    if (signal.aborted) return;
    if (fence !== null) {
      const inside = resource('ledger').enter({ fence: Number(fence) });
      await sleep(300);
      await inside.send().catch(() => false);
      inside.leave();
      break;
    }
    await sleep(50);
  }
  await redis.eval(GIVE, 1, 'lock', token).catch(() => undefined);
}

const storiesOf = async (options: Partial<ExploreOptions>): Promise<string[]> => {
  const common: ExploreOptions = { name: 'ledger', client: fenced, clients: 2, topology: { replicas: 1 } };
  const { findings } = await explore({ ...common, budget: { worlds: 80 }, ...options });
  return findings.map((finding) => finding.story);
};

test('a counter of fences that a restart or a failover loses: the counter is told, and no release and no lease is blamed', async () => {
  const stories = await storiesOf({ faults: ['restart-empty', 'failover-behind'], promises: ['fencing'] });
  expect(stories.length).toBeGreaterThan(0);
  for (const story of stories) {
    expect(story).toMatch(/the counter of fences was lost by the (?:restart of redis-1|failover to redis-2)/);
    expect(story).toContain('at fault: the counter of fences');
    expect(story).not.toMatch(/gave back its lock too early|without a lease|drawn by the request/);
  }
});

test('a counter of fences that a restart loses is told too where the fence is drawn before the lock', async () => {
  const stories = await storiesOf({
    client: async ({ name, redis, sleep, resource }) => {
      if (name === 'B') await sleep(500);
      const fence = await redis.incr('fence').catch(() => null);
      await sleep(100);
      const taken = await redis.set('lock', name, 'PX', 5000, 'NX').catch(() => null);
      if (fence === null || taken === null) return;
      const inside = resource('ledger').enter({ fence });
      await sleep(50);
      inside.write();
      inside.leave();
      await redis.eval(GIVE, 1, 'lock', name).catch(() => undefined);
    },
    ...{ faults: ['restart-empty'], promises: ['fencing'], topology: { replicas: 0 } },
  });
  expect(stories.length).toBeGreaterThan(0);
  for (const story of stories)
    expect(story).toContain('the counter of fences was lost by the restart of redis-1');
});

test('two holders with one fence: the cure is about the counter, because there is a fence', async () => {
  const [story] = await storiesOf({ faults: ['restart-empty'], promises: ['mutual-exclusion'] });
  expect(story).toContain('granted until ');
  expect(story).toContain('prevented by: a counter of fences that a failover or a restart cannot set back');
});

test('a client that waits and has sent nothing since its connection broke is told so, and no counter is taken for a lock', async () => {
  const stories = await storiesOf({
    client: async (session) => {
      const { redis, name } = session;
      if (name === 'A') {
        // A client that does not connect again, and never settles what was under way.
        redis.disconnect();
        const once = redis.duplicate({ retryStrategy: () => null, lazyConnect: true });
        once.on('error', () => {});
        await once.connect();
        await new Promise<void>(
          (resolve) =>
            void once.client('SETINFO', 'LIB-NAME', 'x').then(
              () => resolve(),
              () => {},
            ),
        );
        await once.eval(TAKE, 2, 'lock', 'lock:fence', name, 5000);
        await once.eval(GIVE, 1, 'lock', name);
        once.disconnect();
      } else await fenced(session);
    },
    ...{ faults: ['connection-reset'], promises: ['everyone-served'], stopAtFirst: true },
  });
  expect(stories[0]).toMatch(
    /A still waits \d+ ms after the faults ended, and nobody is inside: its CLIENT of [\d.,]+ ms got no reply, and A has sent nothing since\./,
  );
  expect(stories[0]).toContain('at fault: the code of A or its Redis client, which does not ask again');
});
