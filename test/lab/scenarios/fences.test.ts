/** S56 to S58: fencing tokens that a failover rolls back, tokens of re-entries, and a lock that the second failover loses. */
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { L, LEASE, type PairScene, Store, safe, unsafe } from './scene.ts';

/** Takes the lock and returns the fence of the grant; undefined when the lock is held. */
type Grant = (client: Redis, who: string) => Promise<number | undefined>;

/** A is granted a token; the primary dies; B is granted another. Both write, A last. */
async function acrossFailover(scene: PairScene, grant: Grant) {
  const { pair, a, b } = scene;
  await scene.connect();
  await a.set(`${L}:fence`, '32');
  await a.wait(1, 1000);
  if (scene.chance(0.8)) pair.link.hold();
  const store = new Store(scene.checker, true);
  const take: Grant = async (client, who) => {
    const fence = await grant(client, who);
    if (fence !== undefined) scene.checker.granted(who, L, { until: scene.now + LEASE, fence });
    return fence;
  };
  const first = await take(a, 'A');
  await scene.pause(50, 20);
  const lost = await scene.loses();
  const second = await take(b, 'B');
  if (second !== undefined) store.write('B', second);
  if (first !== undefined) store.write('A', first);
  return { fired: lost && second !== undefined, violated: scene.checker.fencing(L).length > 0 };
}

/** Takes the lock by SET; `number` tells where its fence comes from. */
function numbered(fence: (client: Redis) => Promise<number>): Grant {
  return async (client, who) =>
    (await client.set(L, who, 'PX', LEASE, 'NX')) === 'OK' ? fence(client) : undefined;
}

unsafe('S56 the fencing counter is rolled back: two grants with one token', {}, (scene) =>
  acrossFailover(
    scene,
    numbered((client) => client.incr(`${L}:fence`)),
  ),
);

safe('S56 a fence that starts with an epoch, which grows with every promotion', {}, (scene) => {
  const { pair } = scene;
  // The promoting side keeps the epoch: Sentinel's configuration epoch, or a number in a consensus store.
  const epoch = () => (pair.primary.name === 'redis-1' ? 1 : 2);
  return acrossFailover(
    scene,
    numbered(async (client) => epoch() * 1e9 + (await client.incr(`${L}:fence`))),
  );
});

safe('S56 a fence that never falls behind the clock', {}, (scene) =>
  acrossFailover(scene, async (client) => {
    const lock = scene.locks(client).fenced(L, { fence: 'clock' });
    return (await lock.tryAcquire({ leaseMs: LEASE }))?.fence;
  }),
);

/** As RFencedLock grants: each entry counts the token up, re-entries too. */
const FENCED_TAKE = `
redis.call('hincrby', KEYS[1], ARGV[2], 1)
redis.call('pexpire', KEYS[1], ARGV[1])
return redis.call('incr', KEYS[2])`;

unsafe('S57 each re-entry gets a new token: the outer token is refused afterwards', {}, async (scene) => {
  const { a } = scene;
  const enter = () => a.eval(FENCED_TAKE, 2, L, `${L}:fence`, LEASE, 'A').then(Number);
  const store = new Store(scene.checker, true);
  const outer = await enter();
  store.write('A', outer);
  const again = scene.chance(0.8);
  if (again) store.write('A', await enter());
  return { fired: again, violated: !store.write('A', outer) };
});

safe('S57 a re-entry keeps the token of the grant', {}, async (scene) => {
  const locks = scene.locks(scene.a);
  const lock = locks.fenced(L);
  const store = new Store(scene.checker, true);
  const outer = await lock.acquire({ owner: 'o', leaseMs: LEASE });
  store.write('A', Number(outer.fence));
  const inner = await lock.acquire({ owner: 'o', leaseMs: LEASE });
  store.write('A', Number(inner.fence));
  const violated = !store.write('A', Number(outer.fence));
  expect(inner.fence).toBe(outer.fence);
  await inner.release();
  await outer.release();
  return { fired: true, violated };
});

/** The lock survives the first failover, to the only node that has it, and is lost in the second. */
async function twice(scene: PairScene, copies: number) {
  const { pair, b } = scene;
  await scene.connect();
  const behind = scene.chance(0.8);
  if (behind) pair.linkTo('redis-3').hold();
  await scene.takeCopied(copies, 200);
  const lostAtOnce = await scene.loses('redis-2');
  if (copies === 1) expect(lostAtOnce).toBe(false);
  // The sibling gets no data from the new primary either.
  if (behind) pair.world.network.lane('redis-2', 'redis-3').hold();
  await scene.pause(50, 20);
  const lost = await scene.loses('redis-3');
  await scene.take(b, 'B');
  return { lost, behind };
}

unsafe('S58 the second failover loses what the first one kept', { replicas: 2 }, async (scene) => {
  const { lost } = await twice(scene, 1);
  expect(scene.pair.lost.some(({ key }) => key === L)).toBe(lost);
  return { fired: lost, violated: scene.overlapped };
});

safe('S58 a lock counts only when every node that may be promoted has it', { replicas: 2 }, async (scene) => {
  const { behind } = await twice(scene, 2);
  return { fired: behind, violated: scene.overlapped };
});
