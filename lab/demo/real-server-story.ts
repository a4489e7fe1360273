/**
 * The first story again, on two real redis-server processes, with a proxy that holds the replication stream between
 * them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Played, StoryRecorder } from './recorder.ts';

const KEY = 'my:lock';

/** Forwards bytes in both directions until the direction towards the replica is held. */
class HoldingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #held = false;

  constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
      }
      near.pipe(far);
      far.on('data', (chunk) => {
        if (!this.#held) near.write(chunk);
      });
      far.on('close', () => near.destroy());
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  hold(): void {
    this.#held = true;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function startRedis(port: number, folder: string, args: readonly string[] = []) {
  const words = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  return spawn('redis-server', [...words, '--repl-diskless-sync-delay', '0', ...args], { stdio: 'ignore' });
}

async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  for (let asked = 0; !(await condition().catch(() => false)); asked++) {
    if (asked === 750) throw new Error('redis-server did not get ready');
    await pause(20);
  }
}

/** Plays the story. Rejects when redis-server is not installed. */
export async function realServerFailover(): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-demo-'));
  const [one, two] = [await freePort(), await freePort()];
  const proxy = new HoldingProxy(one);
  const primary = startRedis(one, folder);
  const replica = startRedis(two, folder, ['--replicaof', '127.0.0.1', `${await proxy.listen()}`]);
  const failed = Promise.race([once(primary, 'error'), once(replica, 'error')]).then(([error]) =>
    Promise.reject(error),
  );
  failed.catch(() => {});
  const clients = [one, two].map((port) => new Redis(port, '127.0.0.1', { retryStrategy: () => 50 }));
  for (const client of clients) client.on('error', () => {});
  const [a, b] = clients as [Redis, Redis];
  try {
    return await Promise.race([failed, play(a, b, proxy, () => primary.kill('SIGKILL'))]);
  } finally {
    for (const client of clients) client.disconnect();
    proxy.close();
    primary.kill('SIGKILL');
    replica.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(a: Redis, b: Redis, proxy: HoldingProxy, crash: () => void): Promise<Played> {
  const lanes = ['A', 'B', 'redis-1', 'redis-2'];
  const recorder = new StoryRecorder(lanes, () => undefined);
  const info = async (client: Redis): Promise<string> => (await client.info('replication')) as string;
  await waitUntil(async () => (await info(b)).includes('master_link_status:up'));
  await waitUntil(async () => (await a.wait(1, 100)) === 1);
  proxy.hold();
  recorder.note('redis-2', 'the link is held: replication stops here', 'hand');
  const first = await a.set(KEY, 'A', 'PX', 30_000, 'NX');
  recorder.note('A', `SET ${KEY} A NX PX 30000 -> ${first}`, 'good');
  crash();
  recorder.note('redis-1', 'crash (SIGKILL)', 'hand');
  await b.call('REPLICAOF', 'NO', 'ONE');
  recorder.note('redis-2', 'promoted (REPLICAOF NO ONE)', 'hand');
  const second = await b.set(KEY, 'B', 'PX', 30_000, 'NX');
  recorder.note('B', `SET ${KEY} B NX PX 30000 -> ${second ?? 'nil'}`, second === 'OK' ? 'good' : 'plain');
  const holders = [...(first === 'OK' ? ['A'] : []), ...(second === 'OK' ? ['B'] : [])];
  const why = 'Two real redis-server processes do what the lab does.';
  return {
    title: 'Failover, with two real redis-servers',
    lanes,
    events: recorder.events,
    verdict: { holders, safe: holders.length < 2, why },
  };
}
