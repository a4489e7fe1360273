/** S67 to S69b: how Redlock libraries compute validity, server lists that they refuse, and clocks that drift. */
import { expect } from 'vitest';
import type { LabNode } from '../../../lab/virtual/node.ts';
import { Redlock5 } from '../../clients/lock-libraries.ts';
import { type FiveScene, L, LEASE, safeFive, unsafeFive } from './scene.ts';

/** Another client holds the lock on every node, for so long. */
async function occupy(scene: FiveScene, ms: number): Promise<void> {
  await Promise.all(scene.servers.clients('X').map((client) => client.set(L, 'X', 'PX', ms, 'NX')));
}

/** When the lock of one node ends; 0 when nobody holds it. */
function expiryOf({ server }: LabNode): number {
  const entry = server.db(0).entries.get(L);
  return entry === undefined ? 0 : (server.db(0).expiresAt(entry) ?? 0);
}

/** When the majority of the leases ends: the earliest end within the longest-lasting majority, on the world's clock. */
function serverDeadline({ servers }: FiveScene): number {
  const ends = servers.nodes.map(expiryOf);
  return ends.sort((a, b) => b - a)[2] as number;
}

unsafeFive(
  'S67 redlock 5 counts the lease from before its retries: it is over when it is granted',
  {},
  async (scene) => {
    const waits = scene.chance(0.8);
    if (waits) await occupy(scene, scene.random.between(1000, 3000));
    const redlock = new Redlock5(scene.servers.clients('A'), {
      retryCount: 200,
      retryDelay: 40,
      retryJitter: 20,
    });
    redlock.on('error', () => {});
    const lock = await redlock.acquire([L], 500);
    const early = lock.expiration < scene.world.now;
    const extended = await lock.extend(500).catch((error: Error) => error);
    if (early) expect(String(extended)).toContain('Cannot extend an already-expired lock');
    return { fired: waits, violated: early };
  },
);

safeFive('S67 validity counts from the request that was granted', {}, async (scene) => {
  await occupy(scene, scene.random.between(1000, 3000));
  const locks = scene.locks(scene.servers.clients('A'), { requestTimeoutMs: 200 });
  const lock = await locks.redlock(L).acquire({ leaseMs: 500 });
  const ahead = serverDeadline(scene) - lock.validUntil;
  // Never later than on the servers, and earlier only by the latency and the drift.
  return { fired: true, violated: ahead < 0 || ahead > 40 };
});

/** The lock is gone from every node before the work is done. */
async function vanish({ servers }: FiveScene): Promise<void> {
  await Promise.all(servers.clients('X').map((client) => client.del(L)));
}

unsafeFive(
  'S68 redlock 5: finished work fails because its lock was already gone at the release',
  {},
  async (scene) => {
    const redlock = new Redlock5(scene.servers.clients('A'), { retryCount: 3, retryDelay: 40 });
    redlock.on('error', () => {});
    const gone = scene.chance(0.8);
    const begun = scene.now;
    const outcome = await redlock
      .using([L], LEASE, async () => {
        await scene.pause(300);
        if (gone) await vanish(scene);
        return 'done';
      })
      .catch((error: Error) => error);
    // It settles within its budget of retries, though.
    expect(scene.now - begun).toBeLessThan(3000);
    return { fired: gone, violated: outcome !== 'done' };
  },
);

safeFive('S68 using() reports the lost lock in time', {}, async (scene) => {
  const locks = scene.locks(scene.servers.clients('A'), { requestTimeoutMs: 200 });
  const begun = scene.now;
  const outcome = await locks
    .redlock(L)
    .using({ leaseMs: LEASE }, async () => {
      await scene.pause(300);
      await vanish(scene);
    })
    .catch((error: Error) => error);
  expect((outcome as Error).name).toMatch(/^(LockLost|NotOwner)$/);
  return { fired: true, violated: scene.now - begun > 3000 };
});

unsafeFive(
  'S69 half of an even number of nodes counts as a majority: two holders',
  { primaries: 4 },
  async (scene) => {
    const options = { commandTimeout: 50, maxRetriesPerRequest: 0 };
    const [a, b] = [scene.servers.clients('A', options), scene.servers.clients('B', options)];
    await Promise.all([...a, ...b].map((client) => client.ping()));
    const cut = scene.chance(0.8);
    if (cut) {
      scene.world.network.partition(['A'], ['redis-3', 'redis-4']);
      scene.world.network.partition(['B'], ['redis-1', 'redis-2']);
    }
    for (const [who, clients] of [
      ['A', a],
      ['B', b],
    ] as const) {
      const sent = scene.now;
      const votes = await Promise.all(
        clients.map((client) => client.set(L, who, 'PX', LEASE, 'NX').catch(() => null)),
      );
      if (votes.filter((vote) => vote === 'OK').length >= clients.length / 2) {
        scene.checker.granted(who, L, { until: sent + LEASE });
      }
    }
    return { fired: cut, violated: scene.overlapped };
  },
);

safeFive('S69 even numbers, a node named twice, and replicas are refused', { replicas: 1 }, async (scene) => {
  const clients = scene.servers.clients('A');
  const [one, two] = clients;
  const refuse = async (nodes: typeof clients, why: RegExp) => {
    const locks = scene.locks(nodes);
    await expect(locks.redlock(L).tryAcquire()).rejects.toThrow(why);
  };
  await refuse(clients.slice(0, 4), /odd number/);
  await refuse([one, two, one] as typeof clients, /two of them are/);
  const [set] = scene.servers.sets;
  const replica = await scene.clientOf(set?.replicas[0] as LabNode, 'A');
  await refuse([replica, ...clients.slice(1, 3)], /must be primaries/);
  replica.disconnect();
  return { fired: true, violated: false };
});

/** A's nodes run fast; A trusts its lease up to its drift factor; B tries all the time. */
async function drift(scene: FiveScene, excess: number, driftFactor: number) {
  const a = scene.servers.clients('A');
  const b = scene.locks(scene.servers.clients('B'), { requestTimeoutMs: 100 });
  await Promise.all(a.map((client) => client.ping()));
  for (const { clock } of scene.servers.nodes) clock.drift(1 + excess);
  const locks = scene.locks(a, { driftFactor });
  const mine = await locks.redlock(L).acquire({ leaseMs: LEASE });
  scene.checker.granted('A', L, { until: scene.now + mine.validUntil - scene.world.now });
  await scene.world.advance(LEASE * 0.86);
  for (;;) {
    const theirs = await b.redlock(L).tryAcquire({ leaseMs: LEASE });
    if (theirs !== null) break;
    await scene.world.advance(5);
  }
  scene.checker.granted('B', L, { until: scene.now + LEASE / 2 });
  for (const each of [locks, b]) each.close();
  return scene.overlapped;
}

unsafeFive('S69b clocks that drift by more than the factor of 0.01: two holders', {}, async (scene) => {
  const excess = scene.chance(0.8) ? 0.03 + scene.random.next() * 0.1 : scene.random.next() * 0.009;
  return { fired: excess > 0.01, violated: await drift(scene, excess, 0.01) };
});

safeFive('S69b a factor that covers the drift', {}, async (scene) => {
  const excess = 0.03 + scene.random.next() * 0.1;
  return { fired: true, violated: await drift(scene, excess, 0.15) };
});
