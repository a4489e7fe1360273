/** Programs that use every public entry and the types that users meet first, for the matrix of compilers. */

/** Needs nothing but the package and Node's types. */
export const USER = `import { type DumpEntry, type Interception, type Link, type LostlockServer, type Pair, type PairOptions, type Seed, type StartOptions, startPair, startServer, startServers, type World, type Write } from 'lostlock';
import { type ExploreOptions, type ExploreReport, explore } from 'lostlock/explore';
import { fixtures as jestFixtures, globalSetup, globalTeardown } from 'lostlock/jest';
import { type AcquireOptions, createLocks, type HeldLock, type Lock, type LockClient, LockLost, type Locks } from 'lostlock/locks';
import { RedisMemoryServer } from 'lostlock/redis-memory-server';
import 'lostlock/router';
import { RedisContainer } from 'lostlock/testcontainers';

const seed: Seed = { 'stock:1': 100, set: new Set(['a']), hash: new Map([['f', 'v']]), list: ['a', Buffer.from('b')] };
const options: StartOptions = { seed, port: 0, log: (level, text) => void \`\${level} \${text}\` };

export async function serve(): Promise<readonly DumpEntry[]> {
  const server: LostlockServer = await startServer(options);
  const rule: Interception = server.intercept({ command: 'set', nth: 1 }, 'disconnect-after');
  const url: string = server.url;
  server.connect().write(url);
  void rule;
  const unknown: readonly { readonly command: string; readonly count: number }[] = server.unknownCommands();
  const entries = server.dump();
  await server[Symbol.asyncDispose]();
  return unknown.length > 0 ? [] : entries;
}

export async function lab(given: PairOptions): Promise<readonly Write[]> {
  const pair: Pair = await startPair({ ...given, clock: 'virtual', seed: 7 });
  const world: World = pair.world;
  const link: Link = pair.clientLink('A');
  void link;
  const client = pair.client('A', { connectionName: 'A' });
  const text: string = String(await client.call('SET', 'my:lock', 'A', 'PX', '30000', 'NX'));
  client.disconnect();
  const { lost } = await pair.failover({ crash: true });
  for (const { key, holder, offset } of lost) world.trace.toString().includes(\`\${key}\${holder}\${offset}\${text}\`);
  const servers = await startServers({ clock: 'real', primaries: 3 });
  const clients = servers.clients('A');
  createLocks(clients);
  await servers.close();
  return lost;
}

export async function lock(client: LockClient): Promise<number> {
  const locks: Locks = createLocks(client, { leaseMs: 30_000 });
  const acquire: AcquireOptions = { waitMs: 100 };
  const mine: Lock<HeldLock> = locks.fair('a');
  const held = await locks.fenced('stock:1').acquire(acquire);
  try {
    held.assertHeld();
    return held.fence ?? 0;
  } catch (error) {
    if (error instanceof LockLost) await mine.tryAcquire();
    throw error;
  } finally {
    await held.release();
    locks.close();
  }
}

export async function look(given: ExploreOptions): Promise<string> {
  const report: ExploreReport = await explore({ ...given, clients: 2, topology: { replicas: 1 }, faults: ['failover'] });
  report.assertNone();
  return report.findings.map(({ promise, events, replay }) => promise + events.length + replay).join();
}

export async function moved(): Promise<number[]> {
  const server = await RedisMemoryServer.create({ autoStart: true, instance: { args: ['--databases', '4'] } });
  const container = await new RedisContainer('redis:8.2').withPassword('secret').start();
  container.server.fastForward(1000);
  return [await server.getPort(), container.getPort(), container.server.requests().entries.length];
}

export const perTest = jestFixtures;
export const both: readonly (() => Promise<void>)[] = [globalSetup, globalTeardown];
`;

/** Needs ioredis and vitest, too. */
export const PEERS = `import { Redis } from 'ioredis';
import { startPair } from 'lostlock';
import { createLocks } from 'lostlock/locks';
import { withServer } from 'lostlock/vitest';
const test = withServer({}, 'file');
test('a lock', async ({ server }) => {
  const redis = new Redis(server.url);
  createLocks(redis);
  createLocks([redis, new Redis({ Connector: server.connector })]);
  const pair = await startPair({ clock: 'virtual' });
  const client: Redis = pair.client('A');
  const answer: 'OK' | null = await client.set('my:lock', 'A', 'PX', 30_000, 'NX');
  createLocks(answer === null ? redis : client);
});
`;
