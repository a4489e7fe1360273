/** Redis 8.0, compared with redis-server 8.0.2. */
import { REDIS_7_4 } from '../../keyspace/rdb/formats.ts';
import { versionNames } from '../../scripting/runtime/texts.ts';
import { clientFields } from '../clients/fields.ts';
import { infoFields } from '../figures/info-fields.ts';
import type { Dialect } from './dialect.ts';
import { redisIdentity } from './identity.ts';
import { redis72 } from './redis-7.2.ts';

export const redis80: Dialect = {
  ...redis72,
  ...redisIdentity('redis-8.0', '8.0.2'),
  scriptTexts: { ...redis72.scriptTexts, names: versionNames('REDIS', '8.0.2') },
  rdbFormat: REDIS_7_4,
  settings: { 'loading-process-events-interval-bytes': 512 * 1024 },
  modules: [
    { name: 'vectorset', version: 1, path: '', options: ['handle-io-errors', 'handle-repl-async-load'] },
  ],
  fixes: new Set(['keys of repeated options'] as const),
  coordinates: 'double',
  syncChannel: { option: 'main-ch-client-id', unknown: 'ERR Unrecognized RDB client id: ' },
  clientFields: clientFields.redis80,
  infoFields: infoFields.redis80,
  evaluatedScripts: 'the last 500',
  readHistory: 'changes nothing',
  manifestOffsets: true,
  syncFlush: 'frees in another thread',
  flushedInterpreter: 'freed',
  looseScores: false,
  switchesSimd: true,
  readLast: 'the last entry',
  groupCounts: 'from the first entry',
  unbalancedStreams: (command) =>
    command === 'xread'
      ? "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified."
      : redis72.unbalancedStreams(command),
  aclCheckWords: 'counted',
};
