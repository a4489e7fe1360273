/** Valkey 8.1 (https://valkey.io/docs/), compared with valkey-server 8.1.1. */
import { VALKEY_8_WORDS } from '../../protocol/inline.ts';
import { versionNames } from '../../scripting/runtime/texts.ts';
import { clientFields } from '../clients/fields.ts';
import { infoFields } from '../figures/info-fields.ts';
import { clusterValkey81 } from './cluster.ts';
import type { Dialect } from './dialect.ts';
import { redis72 } from './redis-7.2.ts';
import { sentinelValkey81 } from './sentinel.ts';

export const valkey81: Dialect = {
  ...redis72,
  name: 'valkey-8.1',
  server: { family: 'valkey', version: '8.1.1' },
  title: 'Valkey',
  hello: { server: 'valkey', version: '8.1.1' },
  helloAsRedis: { server: 'redis', version: '7.2.4' },
  // Valkey 8.1 still writes Redis' name here.
  lolwut: { signature: 'Redis ver. 8.1.1', alone: 'Redis ver. 8.1.1', picture: undefined },
  infoVersion: [
    ['redis_version', '7.2.4'],
    ['server_name', 'valkey'],
    ['valkey_version', '8.1.1'],
    ['valkey_release_stage', 'ga'],
  ],
  infoMode: 'server_mode',
  infoFields: infoFields.valkey81,
  sentinel: sentinelValkey81,
  syncChannel: { option: 'set-rdb-client-id', unknown: 'ERR Unrecognized RDB client id ' },
  introduction: [['REPLCONF', 'version', '8.1.1']],
  dumpVersion: ['valkey-ver', '8.1.1'],
  settings: {
    'hide-user-data-from-log': true,
    'lazyfree-lazy-eviction': true,
    'lazyfree-lazy-expire': true,
    'lazyfree-lazy-server-del': true,
    'lazyfree-lazy-user-del': true,
    'lazyfree-lazy-user-flush': true,
    'repl-backlog-size': 10 * 1024 ** 2,
    'syslog-ident': 'valkey',
    'replica-lazy-flush': true,
  },
  saveLines: 'one line',
  waitInScript: "its caller's",
  endedByForce: 'rejected, with an error',
  scanTypes: 'seen',
  scanRemoves: 'those that match pattern and type',
  renamedSettings: [
    ['commandlog-execution-slower-than', 'slowlog-log-slower-than'],
    ['commandlog-slow-execution-max-len', 'slowlog-max-len'],
    ['primaryauth', 'masterauth'],
    ['primaryuser', 'masteruser'],
  ],
  noScript: 'NOSCRIPT No matching script.',
  evaluatedScripts: 'the last 500, unless loaded later',
  scriptTexts: {
    ...redis72.scriptTexts,
    table: 'server',
    names: [...versionNames('REDIS', '7.2.4'), ...versionNames('VALKEY', '8.1.1'), ['SERVER_NAME', 'valkey']],
    sizesReplies: true,
    stringHash: 'Murmur',
    packer: 'Redis Ltd.',
    noCommand: 'Please specify at least one argument for this call',
    badArgument: 'Command arguments must be strings or integers',
    engine: 'last and in any case',
    words: VALKEY_8_WORDS,
    functionNames: 'when loaded',
  },
  killed: {
    script: 'ERR Script killed by user with SCRIPT KILL.',
    function: 'ERR Script killed by user with FUNCTION KILL.',
  },
  unknownInScript: 'ERR Unknown command called from script',
  readOnlyWithoutCluster: 'accepted',
  cluster: clusterValkey81,
  clientFields: clientFields.valkey81,
  clientFilters: 'each takes a list',
  emptyTransaction: 'once one was begun',
  surplusWords: 'ignored',
  slowInScript: 'as 0, by the caller',
  sharedQueryBuffer: 'for lone requests',
  switchesSimd: true,
  sizeLogs: true,
  aofChecker: 'valkey-check-aof',
  unknownInAof: 'its error',
  bitcountWithoutEnd: 'to the end',
  setInThePast: 'not stored',
  pastDeadline: 'expired',
  latencySums: true,
  unknownType: 'refused',
  noAclFile:
    'ERR This instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a configuration file set) in order to store users in the configuration.',
  waitOnReplica:
    'ERR WAIT cannot be used with replica instances. Please also note that if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.',
  replicaInInfo: ',type=replica',
  readLast: 'the last id',
  longestOfZadd: 'counts',
  stringPlace: 'with its key and old deadline',
  groupCounts: 'carefully',
  arityInScript: 'ERR Wrong number of args calling command from script',
};
