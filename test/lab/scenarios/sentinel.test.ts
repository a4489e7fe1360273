/** S51, S54: what a failover by Sentinels does to the clients of the old primary, and which errors are temporary. */
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { always, L, LEASE, type PairScene, safe, stored, unsafe } from './scene.ts';

const behind = { replicas: 1, sentinels: { count: 3, downAfter: 1000, failoverTimeout: 5000 } };
/** How long a waiter may take to notice that the lock is free, in milliseconds. */
const BOUND = 5000;

/** Promotes the replica by SENTINEL FAILOVER, and moves time until the old primary follows it. */
async function demote(scene: PairScene): Promise<void> {
  const { pair } = scene;
  const old = pair.primary;
  await pair.failover();
  while (old.server.primary === undefined) await scene.world.advance(10);
}

/**
 * B waits on the lock's channel, as a waiter does that asks again only when it is told to. Sentinel demotes the primary, whose
 * CLIENT KILL ends the subscription, and A releases the lock on the new primary. Returns whether B heard of it, and whether
 * B had subscribed again by then.
 */
async function waitOnChannel(
  scene: PairScene,
  hurries: boolean,
): Promise<{ heard: boolean; missed: boolean }> {
  const { pair, a, world } = scene;
  await scene.take(a, 'A');
  const waiter = pair.client('W', { retryStrategy: () => 800 }) as Redis;
  let heard = false;
  waiter.on('message', () => {
    heard = true;
  });
  await waiter.subscribe(`${L}:free`);
  const [old] = pair.nodes;
  await demote(scene);
  expect(old!.server.pubsub.channels.has(`${L}:free`)).toBe(false);
  if (!hurries) await world.advance(2000);
  const fresh = pair.primary.server.pubsub;
  const missed = !fresh.channels.has(`${L}:free`);
  const other = await scene.clientOf(pair.primary, 'A2');
  await other.del(L);
  await other.publish(`${L}:free`, 'x');
  await world.advance(BOUND);
  for (const client of [waiter, other]) client.disconnect();
  return { heard, missed };
}

unsafe(
  "S51 Sentinel's CLIENT KILL ends a subscription, and the release before the next one wakes nobody",
  behind,
  async (scene) => {
    const { heard, missed } = await waitOnChannel(scene, scene.chance(0.8));
    return { fired: missed, violated: !heard };
  },
);

safe('S51 a waiter that subscribes again and then asks again gets the lock', behind, async (scene) => {
  const { pair, world, a } = scene;
  const holder = scene.locks(a, { replicas: 1 });
  const held = await holder.simple(L).acquire({ leaseMs: LEASE * 6 });
  const waiting = scene.locks(pair.client('W', { retryStrategy: () => 800 })).simple(L);
  let granted: number | undefined;
  const acquired = waiting.acquire({ leaseMs: LEASE }).then((next) => {
    granted = scene.now;
    return next;
  });
  while (pair.primary.server.pubsub.channels.size < 2) await world.advance(10);
  await demote(scene);
  await held.release();
  const released = scene.now;
  await acquired;
  return { fired: true, violated: (granted ?? Infinity) - released > BOUND };
});

/** States in which a node refuses an acquisition for a while: how they begin and end, and the error. */
const temporary: Readonly<
  Record<string, { begin(scene: PairScene): void; end(scene: PairScene): void; error: RegExp }>
> = {
  'a replica': {
    begin: ({ pair }) => pair.demote('redis-1'),
    end: ({ pair }) => pair.promote('redis-1'),
    error: /^READONLY /,
  },
  'a replica without its primary, with replica-serve-stale-data no': {
    begin({ pair }) {
      const [node] = pair.nodes;
      node!.server.settings['replica-serve-stale-data'] = false;
      node!.server.settings['replica-read-only'] = false;
      pair.network.link('redis-1', 'redis-2').partition();
      pair.demote('redis-1');
    },
    end: ({ pair }) => pair.promote('redis-1'),
    error: /^MASTERDOWN /,
  },
  'a primary without enough replicas': {
    begin({ pair }) {
      const { server } = pair.node('redis-1');
      server.settings['min-replicas-to-write'] = 5;
      server.replication.good.refresh();
    },
    end({ pair }) {
      const { server } = pair.node('redis-1');
      server.settings['min-replicas-to-write'] = 0;
      server.replication.good.refresh();
    },
    error: /^NOREPLICAS /,
  },
};

for (const [state, { begin, end, error }] of Object.entries(temporary)) {
  always(`S54 ${state} refuses for a while: the acquisition tries again, and succeeds`, {}, async (scene) => {
    const { pair, world } = scene;
    const raw = await scene.clientOf(pair.node('redis-1'), 'raw');
    await raw.ping();
    if (error.source.startsWith('^READ') || error.source.startsWith('^MASTER')) pair.promote('redis-2');
    begin(scene);
    await world.advance(100);
    const refusal = await raw.set(L, 'x', 'NX').catch((reason: Error) => reason.message);
    expect(refusal).toMatch(error);
    let held = false;
    const client = await scene.clientOf(pair.node('redis-1'), 'A');
    const acquired = scene
      .locks(client)
      .simple(L)
      .acquire({ leaseMs: LEASE })
      .then(() => {
        held = true;
      });
    await world.advance(2000);
    expect(held).toBe(false);
    end(scene);
    await acquired;
    expect(await stored(pair.node('redis-1'), L)).toBeDefined();
    for (const each of [raw, client]) each.disconnect();
  });
}

always('S54 an error that will not go away is passed on at once', {}, async (scene) => {
  await scene.a.lpush(L, 'not a lock');
  await expect(scene.locks(scene.a).simple(L).acquire({ leaseMs: LEASE })).rejects.toThrow(/WRONGTYPE/);
  await scene.a.del(L);
});
