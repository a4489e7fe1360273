/** Redis 8.8, from its documentation (https://redis.io/docs/latest/commands/redis-8-8-commands/, 2026-11-22). */
import { REDIS_8_8 } from '../../keyspace/rdb/formats.ts';
import { versionNames } from '../../scripting/runtime/texts.ts';
import type { Dialect } from './dialect.ts';
import { redisIdentity } from './identity.ts';
import { redis86 } from './redis-8.6.ts';

export const redis88: Dialect = {
  ...redis86,
  ...redisIdentity('redis-8.8', '8.8.0'),
  scriptTexts: { ...redis86.scriptTexts, names: versionNames('REDIS', '8.8.0') },
  rdbFormat: REDIS_8_8,
  subkeyEvents: true,
};
