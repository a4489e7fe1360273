/** Administration in each dialect beside its real server: logs, scans, background saves, HELP and INFO. */
import { describe, expect, test } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { talkBeside } from '../../support/beside/talk.ts';
import { oracleOf } from '../../support/oracles.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

/** A reply without clocks, durations, addresses and client descriptions. The sizes of large requests stay. */
function shown(reply: string, line: string): string {
  const entries = line.includes('large')
    ? reply.replaceAll(/:1\d{9} :/g, ':SECONDS :')
    : reply.replaceAll(/\[:\d+ :1\d{9} :\d+/g, '[:NUMBER :SECONDS :AMOUNT');
  return entries
    .replaceAll(/:1\d{12}\b/g, ':MILLIS')
    .replaceAll(/"(127\.0\.0\.1:0|[^" ]*redis\.sock:0(\]:0)?)"/g, 'ADDRESS')
    .replaceAll(/"id=[^"]*"/g, 'CLIENT')
    .replaceAll(/"id" :\d+/g, 'ID')
    .replaceAll(/"age-seconds" "[^"]*"/g, 'AGE');
}

const LINES = [
  // The logs of slow and of large requests.
  'SLOWLOG GET 1 2',
  'SLOWLOG GET x',
  'SLOWLOG GET -2',
  'CONFIG SET slowlog-log-slower-than 0',
  'SLOWLOG RESET',
  "EVAL \"redis.call('set','k2','x'); return redis.call('get','k')\" 0",
  'ACL SETUSER u >pw',
  'ACL DELUSER missing',
  'CONFIG SET tls-ca-cert-file "" tls-key-file-pass ""',
  'SLOWLOG GET -1',
  'CONFIG SET slowlog-log-slower-than -1',
  'COMMANDLOG',
  'COMMANDLOG LEN',
  'COMMANDLOG LEN SLOW',
  'COMMANDLOG GET 1',
  'COMMANDLOG GET x other',
  'COMMANDLOG GET -2 slow',
  'COMMANDLOG GET 1 other',
  'COMMANDLOG GET 2 slow',
  'COMMANDLOG RESET slow',
  'COMMANDLOG LEN slow',
  'CONFIG GET commandlog-execution-slower-than',
  'CONFIG SET commandlog-execution-slower-than 7',
  'CONFIG GET slowlog-log-slower-than',
  'CONFIG SET commandlog-execution-slower-than -1',
  // Scans.
  'HSET h f v g w',
  'HSCAN h 0 NOVALUES',
  'HSCAN h 0 NOVALUES NOVALUES COUNT 1',
  'HSCAN h 0 NOVALUES x',
  'HSCAN missing 0 NOVALUES',
  'HSCAN h 0 NOSCORES',
  'ZADD z 1 a 2 b',
  'ZSCAN z 0 NOSCORES',
  'ZSCAN z 0 MATCH a NOSCORES',
  'ZSCAN z 0 NOVALUES',
  'ZSCAN missing 0 NOVALUES',
  'SADD s a',
  'SSCAN s 0 NOVALUES',
  'SCAN 0 NOVALUES',
  'SCAN 0 NOSCORES',
  // Background saves.
  'BGSAVE CANCEL',
  'BGSAVE CANCEL x',
  'BGSAVE x',
  // ACL.
  'ACL SETUSER limited on >pw ~a +get +ping',
  'b> AUTH limited wrong',
  'b> AUTH limited pw',
  'b> SET a 1',
  'b> GET other',
  'b> GET other',
  'ACL LOG',
  'ACL LOG 1',
  'ACL LOG x',
  'ACL LOG 1 2',
  'ACL LOG RESET',
  'ACL CAT other',
  'ACL GENPASS 0',
  'ACL DRYRUN nobody get a',
  'ACL DRYRUN default nothing',
  // Use of keys.
  'OBJECT FREQ missing',
  'OBJECT IDLETIME missing',
  'SET k v',
  'OBJECT FREQ k',
  'OBJECT IDLETIME k',
  'CONFIG SET maxmemory-policy allkeys-lfu',
  'OBJECT IDLETIME k',
  'CONFIG SET maxmemory-policy noeviction',
  // Latency, memory and the rest.
  'LATENCY GRAPH x',
  'LATENCY HISTOGRAM nothing',
  'LATENCY LATEST x',
  'LATENCY OTHER',
  'LATENCY RESET a b',
  'MEMORY USAGE k SAMPLES',
  'MEMORY USAGE k SAMPLES 1 2',
  'MEMORY OTHER',
  'COMMAND GETKEYS get',
  'COMMAND GETKEYS ping',
  'COMMAND GETKEYS nothing',
  'COMMAND GETKEYS get k',
  'COMMAND GETKEYSANDFLAGS ping',
  'COMMAND GETKEYSANDFLAGS nothing',
  'COMMAND LIST FILTERBY x y',
  'SCRIPT FLUSH x',
  'SCRIPT SHOW x',
  'FUNCTION FLUSH x',
  'FUNCTION LIST x',
  'FUNCTION STATS',
  'SHUTDOWN ABORT',
  'SHUTDOWN SAVE ABORT',
  'SHUTDOWN x',
  'FAILOVER ABORT',
  'CONFIG GET availability-zone',
  'CONFIG SET availability-zone here extended-redis-compatibility yes',
  'LASTSAVE x',
  'SWAPDB a 1',
  // The sizes of requests and replies, in transactions and scripts too.
  'CONFIG SET commandlog-request-larger-than 0 commandlog-reply-larger-than 0',
  'COMMANDLOG RESET large-request',
  'COMMANDLOG RESET LARGE-REPLY',
  'SET k vvvv',
  "EVAL \"redis.call('set','k2','x'); return redis.call('get','k')\" 0",
  'MULTI',
  'SET k3 yyyyy',
  'GET k3',
  'EXEC',
  'NOSUCH a',
  'GET',
  'AUTH x',
  `SET k ${'v'.repeat(200)}`,
  'c> HGETALL h',
  'CONFIG SET commandlog-request-larger-than 50 commandlog-reply-larger-than 100',
  `SET k ${'v'.repeat(200)}`,
  'GET k',
  'SET k v',
  'GET k',
  'CONFIG SET commandlog-request-larger-than -1 commandlog-reply-larger-than -1',
  'COMMANDLOG LEN large-request',
  'COMMANDLOG GET -1 large-request',
  'COMMANDLOG GET -1 large-reply',
  'CONFIG SET commandlog-large-reply-max-len 2 commandlog-reply-larger-than 0',
  'PING',
  'PING',
  'COMMANDLOG LEN large-reply',
];

const CONTAINERS = [
  ...[
    'ACL',
    'CLIENT',
    'CLUSTER',
    'COMMAND',
    'CONFIG',
    'FUNCTION',
    'LATENCY',
    'MEMORY',
    'MODULE',
    'OBJECT',
    'PUBSUB',
  ],
  ...['SCRIPT', 'SLOWLOG', 'COMMANDLOG', 'XGROUP', 'XINFO'],
];

/** The subcommands that the reply of HELP names: the first word of each line that is not indented. */
function subcommands(reply: string): string {
  const lines = reply.slice(1, -1).split(' +').slice(1);
  const names = lines
    .filter((line) => !line.startsWith(' '))
    .map((line) => line.split(' ')[0]?.toUpperCase());
  return names.length === 0 ? reply : [...new Set(names)].sort().join(' ');
}

/** INFO without values that depend on the machine and the time. */
function fields(info: string): string {
  return info
    .split('\\x0d\\x0a')
    .filter((line) => !ABSENT.test(line))
    .map((line) => (STEADY.test(line) ? line : line.replace(/:.*/, '')))
    .join('\n');
}

/** Fields about C, its compiler and its threads, and about vector sets; and our own. */
const ABSENT =
  /^(monotonic_clock|atomicvar_api|gcc_version|used_cpu_\w+_main_thread|module|engine_0|lostlock_version|listener\d|latency_percentiles[\w|-]+|cmdstat_[\w|-]+):/;

/** Fields whose values are the same for the same requests. */
const STEADY =
  /^(acl_access|availability|blocked_clients|clients_hz|db\d+_distrib|evicted|expired_subkeys|expired_keys|io_thread|keyspace_|paused|pubsub|replicas_waiting|total_block|total_error|total_watched|tracking|watching|errorstat)/;

/** What is done before INFO is asked. */
const BEFORE_INFO = [
  'CONFIG RESETSTAT',
  'SET empty ""',
  'SET k v',
  `SET kilo ${'x'.repeat(1025)}`,
  `SET long ${'x'.repeat(5000)}`,
  'RPUSH l a b c',
  'RPUSH m a b c d',
  'SADD s a',
  'HSET h f v',
  'ZADD z 1 a 2 b',
  'XADD x 1-1 f v',
  'GET k',
  'GET missing',
  'LPUSH k a',
  'WATCH k k missing',
  'b> SUBSCRIBE channel',
  'ACL SETUSER limited on >pw ~a +get +ping',
  'c> AUTH limited wrong',
  'c> AUTH limited pw',
  'c> SET a 1',
  'c> GET other',
];

describe.each(dialectNames.filter((name) => oracleOf(name) !== undefined))(
  '%s (needs that server)',
  (dialect) => {
    test('answers administration as its server', async () => {
      const { ours, theirs } = await talkBeside(dialect, LINES, shown);
      expect(ours).toEqual(theirs);
    });

    test('HELP lists the subcommands of its server', async () => {
      const { ours, theirs } = await talkBeside(
        dialect,
        CONTAINERS.map((name) => `${name} HELP`),
        subcommands,
      );
      expect(ours).toEqual(theirs);
    });

    test('INFO has the sections and fields of its server', async () => {
      const asked = ['INFO', 'INFO everything', 'INFO keysizes threads stats', 'INFO nothing'];
      const lines = [...BEFORE_INFO, ...asked];
      const { ours, theirs } = await talkBeside(dialect, lines, fields);
      expect(ours.slice(-asked.length)).toEqual(theirs.slice(-asked.length));
    });
  },
);

test('BGSAVE CANCEL of Valkey ends a save, or cancels one that is scheduled', () => {
  const redis = new Conversation(createNode(new TestHost(), { dialect: 'valkey-8.1', strict: true }));
  expect(redis.ask('BGSAVE')).toBe('+Background saving started');
  expect(redis.ask('BGSAVE CANCEL')).toBe('+Background saving cancelled');
  expect(redis.ask('BGREWRITEAOF')).toBe('+Background append only file rewriting started');
  expect(redis.ask('BGSAVE SCHEDULE')).toBe('+Background saving scheduled');
  expect(redis.ask('BGSAVE CANCEL')).toBe('+Scheduled background saving cancelled');
  expect(redis.ask('BGSAVE CANCEL')).toMatch(/^-ERR Background saving is currently not in progress/);
});
