/** The command line of `npx lostlock`: what its flags mean, and which are refused because they would do nothing. */
import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../cli/command-line.ts';
import { UsageError } from '../../cli/usage.ts';

/** What is wrong with a command line. */
function refusal(line: string): string {
  try {
    parseCommandLine(line.split(' '));
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`${line} is accepted`);
}

test('flags and parameters can stand in any order, and the first number is the port', () => {
  const { configuration, ...flags } = parseCommandLine(
    '7000 --dialect valkey-8.1 --save 900 1 60 2 --strict=no --replicas 2 --exit-with-parent --port-file p'.split(
      ' ',
    ),
  );
  expect(configuration.settings).toEqual({ port: 7000, save: '900 1 60 2' });
  expect(flags).toEqual({
    dialect: 'valkey-8.1',
    strict: false,
    replicas: 2,
    exitWithParent: true,
    portFile: 'p',
  });
});

test('--sentinels starts Sentinels with the options that the other flags set', () => {
  const options =
    '--sentinel-port 0 --quorum 1 --master-name m --down-after-milliseconds 60000 --failover-timeout 900 --parallel-syncs 2';
  expect(parseCommandLine([...options.split(' '), '--sentinels', '2']).sentinels).toEqual({
    count: 2,
    port: 0,
    quorum: 1,
    name: 'm',
    downAfter: 60_000,
    failoverTimeout: 900,
    parallelSyncs: 2,
  });
  expect(parseCommandLine(['--sentinels', '3']).sentinels).toEqual({ count: 3, port: 26379 });
  expect(parseCommandLine(['--sentinels', '0']).sentinels).toBeUndefined();
  expect(refusal('--sentinels many')).toBe('--sentinels many: must be a whole number of at most 9 digits');
});

test.each([
  ['--replica 2', '; did you mean --replicas?'],
  ['--appendonyl', '; did you mean --appendonly?'],
  ['--MaxMemroy 1mb', '; did you mean --maxmemory?'],
  ['--notify-keyspace-event K', '; did you mean --notify-keyspace-events?'],
  ['--xyzzy 1', ''],
])('%s is not a parameter of lostlock%s', (line, hint) => {
  expect(refusal(line)).toBe(`${line.split(' ')[0]} is not a parameter of lostlock${hint}`);
});

test.each([
  ['redis-8.4', '; the closest is redis-8.2'],
  ['redis-8.7', '; the closest is redis-8.6'],
  ['valkey-9.0', '; the closest is valkey-9'],
  ['redis-5', ''],
  ['redis', ''],
])('--dialect %s is none, and the error says which dialect is closest', (name, hint) => {
  const names = 'redis-7.0, redis-8.0, redis-8.2, redis-8.6, redis-8.8, valkey-8.1, valkey-9';
  expect(refusal(`--dialect ${name}`)).toBe(`--dialect ${name}: must be one of ${names}${hint}`);
});

describe('flags that would do nothing are refused:', () => {
  const options = [
    '--sentinel-port 0',
    '--quorum 1',
    '--master-name m',
    '--down-after-milliseconds 9',
    '--failover-timeout 9',
    '--parallel-syncs 2',
  ];
  test.each(options)('%s without Sentinels', (option) => {
    const [flag] = option.split(' ');
    expect(refusal(option)).toBe(`${flag} needs --sentinels`);
    expect(refusal(`--sentinels 0 ${option}`)).toBe(`${flag} needs --sentinels`);
  });

  test('--lab-port without --lab', () => {
    expect(refusal('--lab-port 0')).toBe('--lab-port needs --lab');
    expect(parseCommandLine(['--lab-port', '0', '--lab']).labPort).toBe(0);
  });

  test.each(['--tls-replication', '--tls-cluster'])('%s yes with --lab', (flag) => {
    expect(refusal(`--lab ${flag} yes`)).toBe(
      `${flag} yes does not work with --lab: its links carry plain bytes`,
    );
  });

  test('--lab-url-file without --lab', () => {
    expect(refusal('--lab-url-file f')).toBe('--lab-url-file needs --lab');
  });

  test.each(['--replicaof localhost 1', '--user a on', '--sentinels 3', '--quorum 1'])(
    '%s with --lab',
    (option) => {
      expect(refusal(`--lab ${option}`)).toBe(`${option.split(' ')[0]} does not work with --lab`);
    },
  );
});

test.each([
  ['--replicaof 127.0.0.1 6379', 'replicaof directive not allowed in cluster mode; --cluster starts'],
  ['--replicas 1', '--replicas does not work with --cluster-enabled; --cluster starts'],
  ['--sentinels 3', '--sentinels does not work with --cluster-enabled'],
])('a single node of a cluster does not take %s', (options, message) => {
  expect(() => parseCommandLine(`--cluster-enabled yes ${options}`.split(' '))).toThrow(message);
});

test('a cluster takes --tls-port or --port, not both', () => {
  const { cluster, configuration } = parseCommandLine([
    '--cluster',
    '3',
    '--tls-port',
    '7000',
    '--port',
    '0',
  ]);
  expect([cluster, configuration.settings]).toEqual([3, { 'tls-port': 7000, port: 0 }]);
  expect(refusal('--cluster 3 --tls-port 7000 --port 7100')).toContain(
    '--port does not work with --cluster and --tls-port',
  );
  expect(refusal('--cluster 3 --cluster-port 7100')).toBe('--cluster-port does not work with --cluster');
});
