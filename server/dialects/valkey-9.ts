/** Valkey 9, compared with valkey-server 9.1.2. */
import { VALKEY_9 } from '../../keyspace/rdb/formats.ts';
import { cString } from '../../protocol/bytes.ts';
import { SYNTAX } from '../../protocol/errors.ts';
import { VALKEY_9_WORDS } from '../../protocol/inline.ts';
import { versionNames } from '../../scripting/runtime/texts.ts';
import { infoFields } from '../figures/info-fields.ts';
import { clusterValkey9 } from './cluster.ts';
import type { Dialect } from './dialect.ts';
import { sentinelValkey9 } from './sentinel.ts';
import { valkey81 } from './valkey-8.1.ts';

export const valkey9: Dialect = {
  ...valkey81,
  name: 'valkey-9',
  server: { family: 'valkey', version: '9.1.2' },
  hello: { server: 'valkey', version: '9.1.2' },
  infoVersion: [
    ['redis_version', '7.2.4'],
    ['server_name', 'valkey'],
    ['valkey_version', '9.1.2'],
    ['valkey_release_stage', 'ga'],
  ],
  introduction: [['REPLCONF', 'version', '9.1.2']],
  dumpVersion: ['valkey-ver', '9.1.2'],
  lolwut: { signature: 'Valkey ver. 9.1.2', alone: 'Valkey ver.9.1.2', picture: 9 },
  scriptTexts: {
    ...valkey81.scriptTexts,
    errorPlace: 'without its name',
    words: VALKEY_9_WORDS,
    names: [...versionNames('REDIS', '7.2.4'), ...versionNames('VALKEY', '9.1.2'), ['SERVER_NAME', 'valkey']],
  },
  rdbFormat: VALKEY_9,
  infoFields: infoFields.valkey9,
  refusedInTransaction: 'by its name',
  notFromScript: 'ERR This Valkey command is not allowed from script',
  deniedInScript: 'NOPERM',
  vainTrim: 'an event only',
  geoaddAs: 'ZADD',
  msetexErrors: { number: 'ERR invalid numkeys value or out of range', pairs: SYNTAX },
  stringPlace: 'in 128 bytes with its key and old deadline',
  pings: 'when idle',
  fieldCommands: 'valkey',
  sizesInScript: 'of the reply',
  cluster: clusterValkey9,
  sentinel: sentinelValkey9,
  sharedQueryBuffer: 'for whole requests',
  expiredFields: 'together',
  looseScores: false,
  hexadecimal: false,
  fieldIncrement: 'with its deadline',
  settingNumbers: 'in base 10, within 64 bits',
  geoPolygons: true,
  lostMember: (member) => `ERR member ${cString(member)} does not exist`,
  msetexEvents: 'set first',
  spoiltTransaction: 'drops its commands',
  linesEnd: 'CR LF',
  newInterpreter: 'asks CONFIG GET',
  emptyDatabases: 'reported',
  resetImport: 'ends',
  lastFields: 'HDEL and the key',
  subcommandInScript: 'by its name',
  modules: [
    {
      name: 'lua',
      version: 1,
      path: 'lua',
      options: ['handle-repl-async-load', 'handle-atomic-slot-migration'],
    },
  ],
  payloadFlag: 'never',
  databaseRules: true,
  passwordFirst: true,
  readLast: 'the last id, or nothing',
  getexExpiry: 'before the key',
  integersOfScripts: 'as text',
  msetexWithExat: 'as PXAT',
  bitfieldTypes: 'to the end',
  settingsOrder: 'by name',
  noSubcommands: 'an empty array',
};
