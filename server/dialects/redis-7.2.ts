/** What Redis 7.2 changed: the ground that Redis 8 and Valkey share. No node answers as Redis 7.2 itself. */
import { REDIS_7_2 } from '../../keyspace/rdb/formats.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { formatShortest } from '../../protocol/shortest.ts';
import { clientFields } from '../clients/fields.ts';
import { cluster72 } from './cluster.ts';
import type { Dialect } from './dialect.ts';
import { redis70 } from './redis-7.0.ts';
import { sentinel72 } from './sentinel.ts';

/** Whole numbers up to this size are printed as integers. */
const WHOLE_MAX = 2 ** 62;

/** Prints a double in the fewest digits that are read back as the same number; whole numbers as 64-bit integers. */
function printDouble(value: number): Bytes {
  if (!Number.isInteger(value) || Math.abs(value) > WHOLE_MAX) return formatShortest(value);
  if (Object.is(value, -0)) return '-0';
  return Number.isSafeInteger(value) ? String(value) : String(BigInt(value));
}

export const redis72: Dialect = {
  ...redis70,
  rdbFormat: REDIS_7_2,
  displayText: true,
  printDouble,
  printArgument: (value) => (value === 0 ? '0' : printDouble(value)),
  unbalancedStreams: (command) =>
    `ERR Unbalanced '${command}' list of streams: for each stream key an ID or '${command === 'xread' ? '$' : '>'}' must be specified.`,
  scriptTexts: {
    ...redis70.scriptTexts,
    clock: true,
    badLevel: 'Invalid log level.',
    setReplNeeds: 'one argument',
  },
  clientFields: clientFields.redis72,
  hides: 'passwords and names of users',
  slowInScript: 'by nobody',
  aclLogIds: true,
  offsetWithoutReplicas: 'counts effects',
  waitsFor: 'its last effect',
  denial: 'by name',
  aclLoad: 'closes users that are gone',
  payloadFlag: 'always',
  bitArguments: 'before the key',
  smallList: 'listpack',
  lowestRank: 'refused',
  smallSet: 'listpack',
  setWithPxat: 'as sent',
  listNumbers: 'checked and cut',
  negativeOffset: 'from the end of a skiplist',
  queueWithoutMemory: 'what needs none',
  serveWaiting: 'as if asked again',
  waitingCalls: 'counted when they end',
  endedByForce: 'failed, with an error',
  poppedTogether: 1024,
  transactionSelect: 'after MULTI',
  ownMessages: 'after the reply',
  noSequenceLeft: 'ERR The ID specified in XADD is equal or smaller than the target stream top item',
  servedMove: 'as sent',
  consumers: 'made at once',
  consumerActivity: true,
  aclRules: 'as given',
  cursors: 'with blanks',
  scanScores: 'seventeen digits',
  helloHint: 'HELLO <proto> AUTH <user> <pass>',
  helloOptions: 'all together',
  lostStream: 'as if asked now',
  sentinel: sentinel72,
  cluster: cluster72,
  blockInScript: 'answered',
  nulInName: 'ends the check',
  setIdBelowDeleted: 'refused',
  restoreRemoves: 'as lazyfree-lazy-server-del says',
  farTimeout: 'refused',
  scriptReads: 'keys of its calls',
};
