/** What a user's test sees of the global setup. */
import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';

test('the run has one server', async () => {
  const redis = new Redis(inject('redisUrl'), { enableReadyCheck: false });
  expect(await redis.echo('hello')).toBe('hello');
  expect(process.env.REDIS_URL).toBe(inject('redisUrl'));
  redis.disconnect();
});
