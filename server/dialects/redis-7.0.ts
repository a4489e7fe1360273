/** Redis 7.0 (https://redis.io/docs/latest/), held to redis-server 7.0.15. */
import type { Dialect } from './dialect.ts';

export const redis70: Dialect = {
  name: 'redis-7.0',
  server: { family: 'redis', version: '7.0.15' },
  hello: { server: 'redis', version: '7.0.15' },
  lolwut: 'Redis ver. 7.0.15',
  infoVersion: [['redis_version', '7.0.15']],
  infoMode: 'redis_mode',
  dumpVersion: ['redis-ver', '7.0.15'],
};
