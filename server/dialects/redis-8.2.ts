/** Redis 8.2, held to redis-server 8.2.3. */
import { REDIS_7_4 } from '../../keyspace/rdb/formats.ts';
import type { Dialect } from './dialect.ts';
import { redis72 } from './redis-7.2.ts';

export const redis82: Dialect = {
  ...redis72,
  name: 'redis-8.2',
  server: { family: 'redis', version: '8.2.3' },
  hello: { server: 'redis', version: '8.2.3' },
  lolwut: 'Redis ver. 8.2.3',
  infoVersion: [['redis_version', '8.2.3']],
  rdbFormat: REDIS_7_4,
  dumpVersion: ['redis-ver', '8.2.3'],
  coordinates: 'double',
  looseScores: false,
  fieldIncrement: 'HSETEX',
  unbalancedStreams: (command) =>
    command === 'xread'
      ? "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified."
      : redis72.unbalancedStreams(command),
};
