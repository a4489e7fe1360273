/** Redis 7.0 (https://redis.io/docs/latest/), compared with redis-server 7.0.15. */
import { REDIS_7_0 } from '../../keyspace/rdb/formats.ts';
import { formatDouble, formatGeneral } from '../../protocol/bytes.ts';
import { NOSCRIPT } from '../../protocol/errors.ts';
import { REDIS_7_0 as SCRIPT_TEXTS } from '../../scripting/runtime/texts.ts';
import { clientFields } from '../clients/fields.ts';
import { infoFields } from '../figures/info-fields.ts';
import type { Dialect } from './dialect.ts';
import { redisIdentity } from './identity.ts';

export const redis70: Dialect = {
  ...redisIdentity('redis-7.0', '7.0.15'),
  infoMode: 'redis_mode',
  infoFields: infoFields.redis70,
  rdbFormat: REDIS_7_0,
  introduction: [],
  settings: {},
  displayText: false,
  printDouble: formatDouble,
  printArgument: (value) => formatGeneral(value, 17),
  coordinates: 'seventeen decimals',
  unbalancedStreams: () =>
    "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.",
  noScript: NOSCRIPT,
  scriptTexts: SCRIPT_TEXTS,
  unknownInScript: 'ERR Unknown Redis command called from script',
  readOnlyWithoutCluster: 'refused',
  aclLogIds: false,
  denial: 'this user',
  sanitizeByDefault: false,
  aclRules: 'worked out',
  unknownType: 'nothing found',
  cursors: 'as in C',
  noAclFile:
    'ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration.',
  arityInScript: 'ERR Wrong number of args calling Redis command from script',
  unsignedSettings: 'within bounds',
  clientFields: clientFields.redis70,
  clientFilters: 'each takes one value',
  emptyTransaction: 'never',
  surplusWords: 'refused',
  slowInScript: 'by ?:0',
  sizeLogs: false,
  bitArguments: 'after the key',
  bitcountWithoutEnd: 'refused',
  smallList: 'quicklist',
  smallSet: 'hashtable',
  restoreRemoves: 'with DEL',
  setInThePast: 'stored',
  pastDeadline: 'del',
  setWithPxat: 'rewritten',
  msetexWithExat: 'as sent',
  servedMove: 'as sent, in small letters',
  consumers: 'made with an entry',
  fieldCommands: 'redis',
  fieldArguments: 'in one place',
  subkeyEvents: false,
  deliveredPosition: 'that of the entry',
  consumerActivity: false,
  looseScores: true,
  fieldIncrement: 'HSET',
  lostStream: 'that it is gone',
  blockInScript: 'refused',
  nulInName: 'refused',
  farTimeout: 'taken as it is',
  readLast: 'refused',
  stringPlace: 'apart from its key',
  groupCounts: 'blindly',
  setIdBelowDeleted: 'accepted',
  entriesRead: 'as given',
  scriptReads: 'declared keys',
};
