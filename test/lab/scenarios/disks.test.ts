/** S20 and S21: the only node loses its power, and starts again with what its append-only file has. */
import { expect } from 'vitest';
import { always, L, LEASE, type PairScene, safe, stored, unsafe } from './scene.ts';

const EVERYSEC = { settings: { appendonly: true } };
const ALWAYS = { settings: { appendonly: true, appendfsync: 'always' as const } };

/** The power fails, and comes back. Nobody promotes the replica. */
async function powerFails({ pair }: PairScene, away: () => Promise<void>): Promise<void> {
  pair.replica.crash();
  const node = pair.node('redis-1');
  node.crash({ keep: 'synced' });
  await away();
  node.restart();
}

/** The power fails 300 ms after A has taken the lock. */
async function takeThenFail(scene: PairScene): Promise<void> {
  await scene.connect();
  await scene.pause(1000);
  await scene.take(scene.a, 'A');
  await scene.pause(300);
  await powerFails(scene, () => scene.pause(100));
}

unsafe('S20 with everysec, the lock of the last second is gone: two holders', EVERYSEC, async (scene) => {
  await takeThenFail(scene);
  const fired = (await stored(scene.pair.node('redis-1'), L)) === undefined;
  return scene.letB(fired);
});

safe('S20 with always, the lock is still there', ALWAYS, async (scene) => {
  await takeThenFail(scene);
  expect(await stored(scene.pair.node('redis-1'), L)).toBeDefined();
  return scene.letB(true);
});

always('S21 a lock whose lease ends while the node is down does not come back', ALWAYS, async (scene) => {
  const { a } = scene;
  await scene.connect();
  await scene.take(a, 'A');
  await a.set('longer', 'A', 'PX', 10 * LEASE);
  await powerFails(scene, () => scene.world.advance(LEASE + 1));
  await scene.pause(100);
  expect(await stored(scene.pair.node('redis-1'), L)).toBeUndefined();
  expect(await a.get('longer')).toBe('A');
});
