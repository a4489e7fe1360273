/** Redis 8.6, compared with redis-server 8.6.2. */
import { REDIS_8_6 } from '../../keyspace/rdb/formats.ts';
import { versionNames } from '../../scripting/runtime/texts.ts';
import { infoFields } from '../figures/info-fields.ts';
import { cluster84 } from './cluster.ts';
import type { Dialect } from './dialect.ts';
import { redisIdentity } from './identity.ts';
import { redis82 } from './redis-8.2.ts';

export const redis86: Dialect = {
  ...redis82,
  ...redisIdentity('redis-8.6', '8.6.2'),
  scriptTexts: { ...redis82.scriptTexts, names: versionNames('REDIS', '8.6.2'), marksArrays: true },
  rdbFormat: REDIS_8_6,
  infoFields: infoFields.redis86,
  stringPlace: 'with its key, whatever its deadline',
  conditions: 'a comparison, then NX or XX',
  approximateTrims: 'with every policy',
  destroyedGroup: 'no longer counts',
  describesModules: true,
  scanRemoves: 'those that match the pattern',
  fieldArguments: 'in any order',
  unknownWithoutArguments: 'by its name alone',
  replicaInInfo: ',io-thread=0',
  deliveredPosition: 'before the delivery',
  unsignedSettings: 'within bounds',
  aclCheckWords: 'counted',
  queuedKeys: 'not checked again',
  cluster: cluster84,
};
