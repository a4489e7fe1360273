/** Sentinels over TLS: our own on our servers, and beside a real one on real servers. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { parseCommandLine } from '../../cli/command-line.ts';
import { startServer } from '../../index.ts';
import { startSentinelFromFile } from '../../start/files/sentinel-file.ts';
import { certificateSettings, serverTls, clientTls as tls } from '../support/certificates/files.ts';
import { hasSentinel } from '../support/redis-sentinel.ts';
import { findProgram, freePort, removeFolder, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const limitMs = 60_000;

/** A client that asks a Sentinel for the primary, all with TLS. */
function follower(port: number): Redis {
  const redis = new Redis({
    sentinels: [{ host: '127.0.0.1', port }],
    name: 'mymaster',
    tls,
    enableTLSForSentinelMode: true,
    sentinelTLS: tls,
    sentinelRetryStrategy: () => 20,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  });
  redis.on('error', () => {});
  onTestFinished(() => redis.disconnect());
  return redis;
}

function direct(port: number): Redis {
  const redis = new Redis(port, '127.0.0.1', { tls, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  onTestFinished(() => redis.disconnect());
  return redis;
}

test('a set that has only TLS fails over, and a client follows it', async () => {
  const server = await startServer({
    tls: serverTls,
    replicas: 1,
    sentinels: { count: 2, quorum: 1, downAfter: 60_000, failoverTimeout: 15_000 },
  });
  onTestFinished(() => server.stop());
  for (const { node } of server.sentinels) {
    Object.assign(node.sentinel.periods, {
      'info-period': 500,
      'publish-period': 200,
      'tilt-trigger': 600_000,
    });
  }
  const [first] = server.sentinels;
  const known = (): boolean => {
    const primary = first?.node.sentinel.primaries.get('mymaster');
    const replicas = [...(primary?.replicas.values() ?? [])];
    return (
      primary?.sentinels.size === 1 && replicas.length === 1 && replicas.every(({ infoAt }) => infoAt > 0)
    );
  };
  await until(known, { what: 'a Sentinel that knows the other one and the replica', limitMs });
  const client = follower(first?.port ?? 0);
  expect(await client.set('lock', 'A')).toBe('OK');
  expect(await direct(first?.port ?? 0).call('SENTINEL', 'FAILOVER', 'mymaster')).toBe('OK');
  const [replica] = server.replicas;
  await until(() => replica?.node.role === 'primary', { what: 'the promotion', limitMs });
  // The old primary follows the new one with TLS too.
  await until(() => server.node.primary?.linkUp, { what: 'the old primary as a replica', limitMs });
  expect(await until(() => client.set('lock', 'B').catch(() => undefined), { limitMs })).toBe('OK');
  expect((await replica?.node.db(0).peek('lock'))?.held).toBe('B');
});

test.skipIf(!hasSentinel)(
  'one of ours and a real one agree over TLS on the failover of real servers (needs redis-sentinel)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lostlock-sentinel-tls-'));
    onTestFinished(() => removeFolder(folder));
    const parameters: Record<string, string> = {
      ...certificateSettings,
      'tls-replication': 'yes',
    };
    const args = Object.entries(parameters).flatMap(([name, value]) => [`--${name}`, value]);
    const [one, two, real, own] = [await freePort(), await freePort(), await freePort(), await freePort()];
    const quick = ['--repl-diskless-sync-delay', '0', ...args];
    const first = await startRedisServer({ args: [...quick, '--tls-port', String(one)] });
    onTestFinished(() => first.stop());
    const second = await startRedisServer({
      args: [...quick, '--tls-port', String(two), '--replicaof', '127.0.0.1', String(one)],
    });
    onTestFinished(() => second.stop());
    // The real one notices the failure and asks ours for its vote: two that begin at once may both get one vote alone.
    const conf = (port: number, quorum: number, downAfter: number): string => {
      const path = join(folder, `${port}.conf`);
      const lines = [
        'port 0',
        `tls-port ${port}`,
        'bind 127.0.0.1',
        ...Object.entries(parameters).map((each) => each.join(' ')),
        `sentinel monitor mymaster 127.0.0.1 ${one} ${quorum}`,
        `sentinel down-after-milliseconds mymaster ${downAfter}`,
        'sentinel failover-timeout mymaster 5000',
      ];
      writeFileSync(path, `${lines.join('\n')}\n`);
      return path;
    };
    const child = spawn(findProgram('redis-server') ?? '', [conf(real, 1, 2000), '--sentinel'], {
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const sentinel = await startSentinelFromFile(parseCommandLine([conf(own, 2, 600_000)]), () => {});
    onTestFinished(() => sentinel.stop());
    Object.assign(sentinel.node.sentinel.periods, { 'info-period': 500, 'tilt-trigger': 600_000 });
    const asked = direct(real);
    const knows = async (): Promise<boolean> => {
      const [others, replicas] = await Promise.all(
        ['SENTINELS', 'REPLICAS'].map(
          (what) => asked.call('SENTINEL', what, 'mymaster') as Promise<unknown[]>,
        ),
      );
      const primary = sentinel.node.sentinel.primaries.get('mymaster');
      return (
        others?.length === 1 &&
        replicas?.length === 1 &&
        primary?.sentinels.size === 1 &&
        primary.replicas.size === 1
      );
    };
    await until(() => knows().catch(() => false), {
      what: 'Sentinels that know each other and the replica',
      limitMs,
    });
    await first.stop();
    const agree = async (): Promise<boolean> => {
      const [, port] = (await asked.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster')) as string[];
      return port === String(two) && sentinel.node.sentinel.primaries.get('mymaster')?.address.port === two;
    };
    await until(agree, { what: 'the failover in both views', limitMs });
    const client = follower(own);
    expect(await until(() => client.set('lock', 'A').catch(() => undefined), { limitMs })).toBe('OK');
  },
  120_000,
);
