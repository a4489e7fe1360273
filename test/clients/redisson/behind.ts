/** Redisson in Sentinel mode: a lock in hand while the Sentinels replace the primary. */
import { spawn } from 'node:child_process';
import { startServer } from '../../../index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';
import { hurry, startRealGroup } from '../sentinel-group.ts';

const limitMs = 120_000;

async function ask(port: number, ...words: string[]): Promise<string> {
  const client = await RawClient.connect({ port });
  const { value } = await client.ask('SENTINEL', ...words);
  client.close();
  return JSON.stringify(value);
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
    const before = await ask(first, 'GET-MASTER-ADDR-BY-NAME', 'mymaster');
    const begun = async (): Promise<boolean> => (await ask(first, 'FAILOVER', 'mymaster')).includes('OK');
    await until(begun, { what: 'a replica that may be promoted', limitMs });
    const moved = async (): Promise<boolean> =>
      (await ask(first, 'GET-MASTER-ADDR-BY-NAME', 'mymaster')) !== before;
    await until(moved, { what: 'another primary', limitMs });
    // Until the old primary follows the new one, it takes writes that it will lose.
    const follow = async (): Promise<boolean> => {
      const links = (await ask(first, 'REPLICAS', 'mymaster')).split('"master-link-status"],["$","ok"]');
      return links.length === 3;
    };
    await until(follow, { what: 'both replicas to follow the new primary', limitMs });
    child.stdin.write('\n');
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
  const wanted = 'held; still held: true, after: failover; released: true';
  const theirs = await through(classpath, real.sentinels);
  const own = await through(classpath, ports);
  const good = theirs === wanted && own === wanted;
  console.log(`${good ? 'ok  ' : 'FAIL'} behind Sentinels: real ${theirs}\n     lostlock ${own}`);
  return good;
}
