/** A slot moves from one primary to another while a cluster client writes and holds locks: no acknowledged write is lost. */
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClusterNode } from '../../cluster/node.ts';
import { type LostlockCluster, startCluster } from '../../index.ts';
import { createLocks } from '../../locks/index.ts';
import { slotOf } from '../../protocol/slot.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { askNode } from './nodes.ts';

const TAG = '{moved}';
const SLOT = slotOf(TAG);
let cluster: LostlockCluster;
let admins: RawClient[];
let redis: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ primaries: 2, nodeTimeout: 60_000 });
  admins = await Promise.all(cluster.nodes.map(({ port }) => RawClient.connect({ port })));
  redis = new Cluster(cluster.addresses);
});
afterAll(async () => {
  redis?.disconnect();
  for (const admin of admins ?? []) admin.close();
  await cluster?.stop();
});

/** Moves the slot as redis-cli --cluster reshard does, a key at a time. `between` runs before each key. */
async function move(from: number, to: number, between: () => Promise<void>): Promise<void> {
  const ids = cluster.nodes.map(({ node }) => (node.cluster as ClusterNode).cluster.myself.id);
  const [source, target] = [admins[from]!, admins[to]!];
  const setSlot = async (admin: RawClient, ...words: string[]): Promise<void> => {
    expect(await askNode(admin, 'CLUSTER', 'SETSLOT', String(SLOT), ...words)).toBe('+OK');
  };
  await setSlot(target, 'IMPORTING', ids[from]!);
  await setSlot(source, 'MIGRATING', ids[to]!);
  const port = String(cluster.nodes[to]!.port);
  for (;;) {
    const { value } = await source.ask('CLUSTER', 'GETKEYSINSLOT', String(SLOT), '1');
    const [key] = (value[1] as [string, string][]).map(([, text]) => text);
    if (key === undefined) break;
    await between();
    expect(await askNode(source, 'MIGRATE', '127.0.0.1', port, key, '0', '10000')).toMatch(/^\+(OK|NOKEY)$/);
  }
  await setSlot(target, 'NODE', ids[to]!);
  await setSlot(source, 'NODE', ids[to]!);
}

test('a cluster client loses no acknowledged write and no lock while the slot of its keys moves there and back', async () => {
  const locks = createLocks(redis);
  const held = await locks.reentrant(`lock:${TAG}`).acquire({ leaseMs: 600_000 });
  const once = (token: string) => redis.set(`plain:${TAG}`, token, 'PX', 600_000, 'NX');
  expect(await once('token')).toBe('OK');
  const counts = new Map<string, number>();
  let stopped = false;
  let written = 0;
  /** Counts one key up, and remembers what was acknowledged. */
  const write = async (key: string): Promise<void> => {
    while (!stopped) {
      counts.set(key, await redis.incr(key));
      written++;
    }
  };
  const writers = Promise.all(Array.from({ length: 8 }, (_, i) => write(`${TAG}:${i}`)));
  writers.catch(() => {}); // It is awaited at the end.
  await until(() => written > 100);
  const first = cluster.nodes.indexOf(cluster.primaryOf(TAG));
  for (const from of [first, 1 - first]) {
    const to = 1 - from;
    await move(from, to, async () => {
      const before = written;
      await until(() => written >= before + 20, { what: 'writes while the slot moves' });
      held.assertHeld();
      // A script of several keys gets TRYAGAIN while they are on both nodes, so the recipes wait for the end of the move.
      expect(await once('other')).toBeNull();
    });
    expect(await locks.reentrant(`lock:${TAG}`).tryAcquire({ owner: 'another' })).toBeNull();
    expect(cluster.primaryOf(TAG)).toBe(cluster.nodes[to]);
    const before = written;
    await until(() => written > before + 100, { what: 'writes after the move' });
  }
  stopped = true;
  await writers;
  expect(await redis.get(`plain:${TAG}`)).toBe('token');
  for (const [key, count] of counts) expect(await redis.get(key), key).toBe(String(count));
  await held.release();
  const next = await locks.reentrant(`lock:${TAG}`).tryAcquire({ owner: 'another' });
  expect(next).not.toBeNull();
  await next?.release();
  locks.close();
});
