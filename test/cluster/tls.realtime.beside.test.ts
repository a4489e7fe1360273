/** Clusters over TLS: clients, replication and the bus; and a real redis-server on our bus. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Cluster, Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startCluster, startServer } from '../../index.ts';
import {
  certificateSettings,
  cliTls,
  serverTls as own,
  clientTls as tls,
} from '../support/certificates/files.ts';
import { INSTALLED } from '../support/oracles.ts';
import { findProgram, freePort, freeRow, hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const limitMs = 45_000; // Less than a test may take, so that a failure says what was waited for.

test('a client with TLS follows a cluster that has only TLS, through the death of a primary', async () => {
  const cluster = await startCluster({ primaries: 3, replicas: 1, nodeTimeout: 1000, tls: own });
  onTestFinished(() => cluster.stop());
  expect(cluster.urls.every((url) => url.startsWith('rediss://'))).toBe(true);
  const client = new Cluster(cluster.addresses, {
    redisOptions: { tls, commandTimeout: 5000 },
    dnsLookup: (address, done) => done(null, address),
    clusterRetryStrategy: () => 20,
    retryDelayOnFailover: 20,
    retryDelayOnClusterDown: 20,
  });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  for (const key of ['a', 'b', 'c', 'd']) expect(await client.set(key, key)).toBe('OK');
  const primary = cluster.primaryOf('a');
  const caughtUp = (): boolean =>
    cluster.replicas.every(({ node }) => node.primary?.linkUp && node.databases[0] !== undefined);
  await until(caughtUp, { what: 'the replicas', limitMs });
  const checked = findProgram('redis-cli');
  if (checked !== undefined) {
    const address = `127.0.0.1:${primary.port}`;
    const { stdout } = await promisify(execFile)(checked, [...cliTls, '--cluster', 'check', address]);
    expect(stdout).toContain('[OK] All 16384 slots covered.');
  }
  await primary.stop();
  const moved = (): boolean => {
    try {
      return cluster.primaryOf('a') !== primary;
    } catch {
      return false;
    }
  };
  await until(moved, { what: 'a new primary', limitMs });
  expect(await until(() => client.set('a', 'again').catch(() => undefined), { limitMs })).toBe('OK');
});

test('a cluster whose nodes suspect each other sooner than TLS connects them is set up all the same', async () => {
  await using cluster = await startCluster({ primaries: 3, replicas: 1, nodeTimeout: 100, tls: own });
  expect(cluster.nodes.map(({ node }) => node.settings['cluster-node-timeout'])).toEqual(Array(6).fill(100));
});

test('with tls-port, the nodes of a cluster have consecutive ports for TLS, and their buses the usual ones', async () => {
  const first = await freeRow(2);
  const settings = { 'tls-port': first, ...certificateSettings };
  await using cluster = await startCluster({ primaries: 1, replicas: 1, settings });
  expect(cluster.urls).toEqual([`rediss://127.0.0.1:${first}`, `rediss://127.0.0.1:${first + 1}`]);
  // As in Redis, 0 stands for the usual port of the bus.
  expect(cluster.nodes.map(({ node }) => node.settings['cluster-port'])).toEqual([0, 0]);
  const redis = new Redis(first, '127.0.0.1', { tls });
  onTestFinished(() => redis.disconnect());
  expect(await redis.set('k', 'v')).toBe('OK');
  expect(String(await redis.call('CLUSTER', 'NODES'))).toContain(`127.0.0.1:${first + 1}@${first + 10_001} `);
  expect((await redis.call('CONFIG', 'GET', 'tls-[cr]*')) as string[]).toEqual(
    expect.arrayContaining(['tls-cluster', 'yes']),
  );
  await expect(startCluster({ port: 7000, settings })).rejects.toThrow('option port is 7000');
  await expect(startCluster({ settings: { 'tls-port': 60_000 } })).rejects.toThrow(
    "option settings['tls-port'] is 60000",
  );
});

test.skipIf(!hasRedisServer)(
  'a real server meets ours on a bus with TLS, and follows it (needs redis-server)',
  async () => {
    const port = await freePort();
    const settings = {
      'cluster-enabled': true,
      'tls-cluster': true,
      'tls-replication': true,
      'cluster-node-timeout': 60_000,
    };
    const ours = await startServer({ tls: own, settings, dialect: INSTALLED });
    onTestFinished(() => ours.stop());
    const files = Object.entries(certificateSettings).flatMap(([name, file]) => [`--${name}`, file]);
    const busPort = String(await freePort());
    const switches = [
      '--tls-cluster',
      'yes',
      '--tls-replication',
      'yes',
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      busPort,
    ];
    const real = await startRedisServer({ args: [...files, ...switches, '--tls-port', String(port)] });
    onTestFinished(() => real.stop());
    const [here, there] = [ours.port, port].map((each) => new Redis(each, '127.0.0.1', { tls })) as [
      Redis,
      Redis,
    ];
    onTestFinished(() => {
      for (const each of [here, there]) each.disconnect();
    });
    await here.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await here.call('CLUSTER', 'MEET', '127.0.0.1', String(port), busPort);
    const connected = async (redis: Redis): Promise<boolean> => {
      const lines = String(await redis.call('CLUSTER', 'NODES'))
        .trim()
        .split('\n');
      return lines.length === 2 && lines.every((line) => line.includes(' connected'));
    };
    await until(() => connected(here), { what: 'our node to know the real one', limitMs });
    await until(() => connected(there), { what: 'the real node to know ours', limitMs });
    const id = String(await here.call('CLUSTER', 'MYID'));
    const replicate = (): Promise<unknown> => there.call('CLUSTER', 'REPLICATE', id).catch(() => undefined);
    expect(await until(replicate, { what: 'the real node to follow', limitMs })).toBe('OK');
    const write = (): Promise<unknown> => here.set('k', 'v').catch(() => undefined);
    expect(await until(write, { what: 'a cluster that serves', limitMs })).toBe('OK');
    await there.call('READONLY');
    expect(await until(() => there.get('k').catch(() => undefined), { what: 'the write', limitMs })).toBe(
      'v',
    );
  },
);
