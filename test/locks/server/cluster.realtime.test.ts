/** Locks in a cluster whose slots move: by a failover, and from one primary to another. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { startCluster } from '../../../index.ts';
import type { LabCluster } from '../../../lab/virtual/cluster.ts';
import { createLocks, type Locks, NotReplicated } from '../../../locks/index.ts';

const TAG = 'lock';

/** Starts three primaries with two replicas each. @param play gets the nodes of the slot of `{lock}`, the primary first */
async function inCluster(
  play: (cluster: LabCluster, shard: LabCluster['nodes']) => Promise<void>,
): Promise<void> {
  const cluster = await startCluster({ clock: 'virtual', seed: 1, primaries: 3, replicas: 2 });
  await cluster.run(async () => {
    const admin = cluster.client('admin');
    const slot = await admin.cluster('KEYSLOT', TAG);
    const ports = (await admin.cluster('SLOTS'))
      .filter(([from, to]) => from <= slot && slot <= to)
      .flatMap(([, , ...nodes]) => nodes.map(([, port]) => port));
    await play(
      cluster,
      ports.map((port) => cluster.nodes.find((node) => node.port === port)!),
    );
  });
  await cluster.close();
}

test('after a failover the slot is found, and nothing is lost', () =>
  inCluster(async (cluster, [, replica]) => {
    const locks = createLocks(cluster.client('A'), { replicas: 1, leaseMs: 3000 });
    const held = await locks.simple(`{${TAG}}`).acquire();
    replica!.promote();
    await cluster.advance(50);
    expect(await locks.simple(`{${TAG}}2`).tryAcquire()).not.toBeNull();
    await cluster.advance(10_000); // The watchdog finds the new primary, too.
    held.assertHeld();
    expect(await locks.simple(`{${TAG}}`).tryAcquire()).toBeNull();
    locks.close();
  }));

test("replicas: 'all' are those of the lock's own node", () =>
  inCluster(async (cluster, shard) => {
    const locks = createLocks(cluster.client('A'), { replicas: 'all', replicaTimeoutMs: 200 });
    for (const node of cluster.nodes)
      if (node.server.role === 'replica' && !shard.includes(node)) node.crash();
    await cluster.advance(100);
    await (await locks.simple(`{${TAG}}`).acquire()).release();
    cluster.network.lane(shard[0]!.name, shard[1]!.name).hold();
    for (let i = 0; i < 10; i++)
      await expect(locks.simple(`{${TAG}}${i}`).tryAcquire()).rejects.toThrow(NotReplicated);
    locks.close();
  }));

/** Starts to acquire the lock. `came` is true once it is granted. */
function waitFor(locks: Locks): { readonly came: boolean } {
  const grant = { came: false };
  void locks
    .simple(`{${TAG}}`)
    .acquire()
    .then(() => {
      grant.came = true;
    });
  return grant;
}

test('a waiter is woken after its slot had no node for a while', () =>
  inCluster(async (cluster, [primary]) => {
    const [mine, other] = ['A', 'B'].map((name) =>
      createLocks(cluster.client(name), { maxSleepMs: 600_000, leaseMs: 600_000 }),
    );
    const held = await other!.simple(`{${TAG}}`).acquire();
    const grant = waitFor(mine!);
    await cluster.advance(1000);
    primary!.crash();
    await cluster.advance(60_000); // The replicas elect one of them, after the node timeout.
    await held.release();
    await cluster.advance(1000);
    expect(grant.came).toBe(true);
    mine!.close();
    other!.close();
  }));

/** Moves the slot of `{lock}` with its keys, as redis-cli does. */
async function moveSlot(cluster: LabCluster, from: string, to: string): Promise<void> {
  const admin = cluster.client('admin');
  const slot = String(await admin.cluster('KEYSLOT', TAG));
  const [source, target] = [from, to].map(
    (name) => admin.nodes('master').find(({ options }) => options.port === cluster.node(name).port)!,
  );
  const [sourceId, targetId] = [
    await source!.call('CLUSTER', 'MYID'),
    await target!.call('CLUSTER', 'MYID'),
  ] as string[];
  await target!.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId!);
  await source!.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId!);
  const keys = (await source!.call('CLUSTER', 'GETKEYSINSLOT', slot, '100')) as string[];
  const { host, port } = target!.options;
  for (const key of keys) await source!.call('MIGRATE', host!, String(port), key, '0', '1000');
  for (const node of [target!, source!]) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId!);
}

test('a waiter is woken after its slot has moved to another primary', () =>
  inCluster(async (cluster, [primary]) => {
    const [mine, other] = ['A', 'B'].map((name) =>
      createLocks(cluster.client(name), { maxSleepMs: 600_000 }),
    );
    const held = await other!.simple(`{${TAG}}`).acquire();
    const grant = waitFor(mine!);
    await cluster.advance(100);
    const target = cluster.nodes.find((node) => node.server.role === 'primary' && node !== primary)!;
    await moveSlot(cluster, primary!.name, target.name);
    await cluster.advance(1000);
    await held.release();
    await cluster.advance(100);
    expect(grant.came).toBe(true);
    mine!.close();
    other!.close();
  }));
