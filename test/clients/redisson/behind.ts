/** Redisson in Sentinel mode and on a cluster: a lock in hand while the primary is replaced. */
import { spawn } from 'node:child_process';
import { startServer } from '../../../index.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { findProgram } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { followed, ourCluster, realCluster } from '../cluster-group.ts';
import { hurry, startRealGroup } from '../sentinel-group.ts';

const limitMs = 120_000;

async function ask(port: number, ...words: string[]): Promise<string> {
  const client = await RawClient.connect({ port });
  const { value } = await client.ask('SENTINEL', ...words);
  client.close();
  return JSON.stringify(value);
}

/** The port of the primary, as the Sentinel at `port` says. */
async function primaryOf(port: number): Promise<number> {
  const found = /"127\.0\.0\.1"\],\["\$","(\d+)"/.exec(
    await ask(port, 'GET-MASTER-ADDR-BY-NAME', 'mymaster'),
  );
  return Number(found?.[1]);
}

/** Returns what Redisson printed. */
async function through(classpath: string, ports: readonly number[]): Promise<string> {
  const child = spawn('java', ['-cp', classpath, 'lostlock.Main', 'behind', ports.join(',')], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let out = '';
  let ended = false;
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.once('close', () => {
    ended = true;
  });
  try {
    await until(() => out.includes('held') || ended, { what: 'Redisson to hold its lock', limitMs });
    const [first = 0] = ports;
    const before = await primaryOf(first);
    const moved = async (): Promise<boolean> => {
      const primaries = await Promise.all(ports.map(primaryOf));
      // Refused while it goes on, and begun anew if it was given up.
      if (primaries[0] === before) await ask(first, 'FAILOVER', 'mymaster');
      // All of them: Redisson asks any, and would go back to the old primary if one still names it.
      return new Set(primaries).size === 1 && primaries[0] !== before;
    };
    await until(moved, { what: 'the Sentinels to agree on another primary', limitMs });
    child.stdin.write('moved\n');
    const primary = await RawClient.connect({ port: await primaryOf(first) });
    const written = async (): Promise<boolean> => (await primary.ask('EXISTS', 'after')).raw === ':1\r\n';
    await until(written, { what: 'a write of Redisson on the new primary', limitMs });
    primary.close();
    child.stdin.write('written\n');
    await until(() => ended, { what: 'Redisson to end', limitMs });
  } finally {
    child.kill('SIGKILL');
  }
  return out.trim().replaceAll('\n', '; ');
}

/** Compares Redisson behind real Sentinels and behind ours. Returns whether both went well. */
export async function redissonBehindSentinels(classpath: string): Promise<boolean> {
  await using real = await startRealGroup();
  await using ours = await startServer({ replicas: 2, sentinels: { count: 3, downAfter: 60_000 } });
  const ports = ours.sentinels.map(({ port }) => port);
  await hurry(ports);
  const wanted = 'held; still held: true; released: true';
  const [theirs, own] = await Promise.all([through(classpath, real.sentinels), through(classpath, ports)]);
  const good = theirs === wanted && own === wanted;
  console.log(`${good ? 'ok  ' : 'FAIL'} behind Sentinels: real ${theirs}\n     lostlock ${own}`);
  return good;
}

/** Compares Redisson on a real cluster and on ours. Returns whether both went well. */
export async function redissonOnClusters(classpath: string): Promise<boolean> {
  await using real = await realCluster(findProgram('redis-server')!);
  await using ours = await ourCluster(INSTALLED);
  const command = ['java', '-cp', classpath, 'lostlock.Main', 'cluster'];
  const wanted = 'held redisson; still held: true; refused: true; released: true';
  const heard = await Promise.all([followed(command, real), followed(command, ours)]);
  const [theirs, own] = heard.map((lines) => lines.join('; '));
  const good = theirs === wanted && own === wanted;
  console.log(`${good ? 'ok  ' : 'FAIL'} on a cluster: real ${theirs}\n     lostlock ${own}`);
  return good;
}
