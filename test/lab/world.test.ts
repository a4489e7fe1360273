/** Virtual time itself: what moves it, what it moves, and what it refuses. */
import '../../lab/router.ts';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { World } from '../../lab/world.ts';
import { LabNode } from '../support/lab-node.ts';

test('an ioredis client locks in a world', async () => {
  const world = new World({ seed: 1 });
  new LabNode(world, 'redis', 6379);
  const redis = await world.run(() => new Redis());
  const reply = await world.run(() => redis.set('lock', 'A', 'PX', 30_000, 'NX'));
  expect(reply).toBe('OK');
  await world.advance(29_990);
  expect(await world.run(() => redis.get('lock'))).toBe('A');
  await world.advance(100);
  expect(await world.run(() => redis.get('lock'))).toBe(null);
  await world.run(() => redis.disconnect());
});
