/** Unmodified clients on a cluster that has both ports, configured by files: with TLS and without they see one cluster. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { optionsOfArguments } from '../../cli/start-options.ts';
import { startServer } from '../../index.ts';
import { certificateSettings, clientTls, cliTls } from '../support/certificates/files.ts';
import { findProgram, freeRow, removeFolder } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const redisCli = findProgram('redis-cli');
const limitMs = 45_000; // Less than a test may take, so that a failure says what was waited for.

/** Keys of all three primaries; the first is in slot 0. */
const KEYS = ['k596', 'a', 'b', 'c'];
const NODES = 3;

async function cli(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(redisCli ?? 'redis-cli', args);
  return stdout.trim();
}

/** Starts a node with a configuration file, as redis-server is started. */
async function startNode(port: number, tlsPort: number, busHasTls: boolean): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-tls-'));
  const withTls = busHasTls ? 'yes' : 'no';
  const lines = [
    `port ${port}`,
    `tls-port ${tlsPort}`,
    `tls-cluster ${withTls}`,
    `tls-replication ${withTls}`,
    'cluster-enabled yes',
    'cluster-node-timeout 15000',
    `dir ${dir}`,
    ...Object.entries(certificateSettings).map((entry) => entry.join(' ')),
  ];
  const path = join(dir, 'redis.conf');
  writeFileSync(path, lines.join('\n'));
  const server = await startServer(optionsOfArguments('file', [path]));
  onTestFinished(async () => {
    await server.stop();
    await removeFolder(dir);
  });
}

test.skipIf(redisCli === undefined).each([true, false])(
  'redis-cli, ioredis and node-redis follow a cluster with both ports, whether its bus has TLS: %s (needs redis-cli)',
  async (busHasTls) => {
    const first = await freeRow(2 * NODES);
    const plain = Array.from({ length: NODES }, (_, i) => first + i);
    const secure = plain.map((port) => port + NODES);
    for (const [i, port] of plain.entries()) await startNode(port, secure[i] as number, busHasTls);
    const admin = busHasTls ? cliTls : [];
    const addresses = (busHasTls ? secure : plain).map((port) => `127.0.0.1:${port}`);
    await cli(...admin, '--cluster', 'create', ...addresses, '--cluster-yes');
    for (const port of plain) {
      const serves = async () =>
        (await cli('-p', String(port), 'CLUSTER', 'INFO')).includes('cluster_state:ok');
      await until(serves, { what: 'a cluster that serves', limitMs });
    }
    for (const [flags, ports] of [
      [cliTls, secure],
      [[], plain],
    ] as const) {
      const [here, there] = ports.map(String) as [string, string, string];
      const checked = await cli(...flags, '--cluster', 'check', `127.0.0.1:${there}`);
      expect(checked).toContain('[OK] All 16384 slots covered.');
      for (const port of ports) expect(checked).toContain(`127.0.0.1:${port}`);
      // The key belongs to the third node. With -c redis-cli follows MOVED.
      expect(await cli(...flags, '-p', here, 'GET', 'a')).toBe(`MOVED 15495 127.0.0.1:${ports[2]}`);
      expect(await cli(...flags, '-c', '-p', here, 'SET', 'a', 'x')).toBe('OK');
    }

    const ioredis = new Cluster([{ host: '127.0.0.1', port: secure[0] as number }], {
      redisOptions: { tls: clientTls },
      dnsLookup: (address, done) => done(null, address),
    });
    onTestFinished(() => ioredis.disconnect());
    const withoutTls = new Cluster([{ host: '127.0.0.1', port: plain[0] as number }]);
    onTestFinished(() => withoutTls.disconnect());
    const nodeRedis = createCluster({
      rootNodes: [{ url: `rediss://127.0.0.1:${secure[0]}` }],
      defaults: { socket: { tls: true, ...clientTls } },
    });
    await nodeRedis.connect();
    onTestFinished(() => nodeRedis.destroy());
    for (const key of KEYS) expect(await ioredis.set(key, key)).toBe('OK');
    // The slot of the first key moves, with TLS if the bus has it. Then the clients follow MOVED.
    const [from, to] = await Promise.all(
      [secure[0], secure[1]].map((port) => cli(...cliTls, '-p', String(port), 'CLUSTER', 'MYID')),
    );
    const moves = ['--cluster-from', from ?? '', '--cluster-to', to ?? '', '--cluster-slots', '1'];
    await cli(...admin, '--cluster', 'reshard', addresses[0] ?? '', ...moves, '--cluster-yes');
    for (const key of KEYS) {
      expect(await ioredis.get(key)).toBe(key);
      expect(await withoutTls.get(key)).toBe(key);
      expect(await nodeRedis.get(key)).toBe(key);
    }
    const portsOf = (client: Cluster) => client.nodes().map(({ options }) => options.port);
    expect(portsOf(ioredis).sort()).toEqual(secure);
    expect(portsOf(withoutTls).sort()).toEqual(plain);
    expect(nodeRedis.masters.map(({ port }) => port).sort()).toEqual(secure);
  },
  120_000,
);
