import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
test.each(Array.from({ length: 50 }, (_, i) => i))("%i", async () => {
  const redis = new Redis(process.env.REDIS_URL as string);
  expect(inject('redisUrl')).toBe(process.env.REDIS_URL);
  await redis.flushall();
  expect(await redis.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  await new Promise((wake) => setTimeout(wake, 2));
  expect(await redis.incr('n')).toBe(1);
  redis.disconnect();
});