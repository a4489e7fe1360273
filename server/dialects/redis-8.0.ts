/** Redis 8.0, held to redis-server 8.0.2: 8.2 without what 8.2 added. */
import type { Dialect } from './dialect.ts';
import { redis82 } from './redis-8.2.ts';

export const redis80: Dialect = {
  ...redis82,
  name: 'redis-8.0',
  server: { family: 'redis', version: '8.0.2' },
  hello: { server: 'redis', version: '8.0.2' },
  lolwut: 'Redis ver. 8.0.2',
  infoVersion: [['redis_version', '8.0.2']],
  dumpVersion: ['redis-ver', '8.0.2'],
};
