/** Redis 8.2, compared with redis-server 8.2.3. */
import { REDIS_8_2 } from '../../keyspace/rdb/formats.ts';
import { versionNames } from '../../scripting/runtime/texts.ts';
import { clientFields } from '../clients/fields.ts';
import { infoFields } from '../figures/info-fields.ts';
import type { Dialect } from './dialect.ts';
import { redisIdentity } from './identity.ts';
import { redis80 } from './redis-8.0.ts';
import { sentinel82 } from './sentinel.ts';

export const redis82: Dialect = {
  ...redis80,
  ...redisIdentity('redis-8.2', '8.2.3'),
  sentinel: sentinel82,
  fixes: new Set(),
  unsignedSettings: 'not negative',
  clientFields: clientFields.redis82,
  infoFields: infoFields.redis82,
  scriptTexts: { ...redis80.scriptTexts, names: versionNames('REDIS', '8.2.3') },
  rdbFormat: REDIS_8_2,
  scanTypes: 'seen',
  scanRemoves: 'every one',
  fieldIncrement: 'HSETEX',
  stringPlace: 'with its key',
  negativeOffset: 'nothing',
  overwriteEvents: true,
  entriesRead: 'at most all',
  epsilon: 'half the distance',
  filterNulls: 'values',
  filterIn: 'in lists and texts',
  aclCheckWords: 'any number',
};
