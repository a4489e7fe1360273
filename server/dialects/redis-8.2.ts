/** Redis 8.2, held to redis-server 8.2.3. */
import type { Dialect } from './dialect.ts';
import { redis70 } from './redis-7.0.ts';

export const redis82: Dialect = {
  ...redis70,
  name: 'redis-8.2',
  server: { family: 'redis', version: '8.2.3' },
  hello: { server: 'redis', version: '8.2.3' },
  lolwut: 'Redis ver. 8.2.3',
  infoVersion: [['redis_version', '8.2.3']],
  dumpVersion: ['redis-ver', '8.2.3'],
};
