/** A node of the lab that crashes more than once finds its data on its disk, deadlines included. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../lab/pair.ts';

/** Crashes the primary with all that it wrote, and starts it again. */
function restart(pair: Pair): void {
  pair.node('redis-1').crash({ keep: 'everything' });
  pair.restart('redis-1');
}

test('a deadline that was moved after one restart is still the later one after the next', async () => {
  await using pair = await startPair();
  const redis = pair.client('A');
  await redis.set('lock', 'token', 'PX', 1000);
  await redis.hset('hash', 'lock', 'token');
  await redis.pexpire('hash', 1000);
  restart(pair);
  await redis.pexpire('lock', 10_000);
  await redis.persist('hash');
  await pair.advance(2000); // The first deadlines are over; the second ones are not.
  restart(pair);
  expect(await redis.get('lock')).toBe('token');
  expect(await redis.pttl('lock')).toBeGreaterThan(7000);
  expect(await redis.hget('hash', 'lock')).toBe('token');
});

test('a key whose deadline was not moved is gone after a restart past it', async () => {
  await using pair = await startPair();
  const redis = pair.client('A');
  await redis.set('lock', 'token', 'PX', 1000);
  restart(pair);
  pair.node('redis-1').crash({ keep: 'everything' });
  await pair.advance(2000);
  pair.restart('redis-1');
  expect(await redis.get('lock')).toBeNull();
  expect(await redis.dbsize()).toBe(0);
});
