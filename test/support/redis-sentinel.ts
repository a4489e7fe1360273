/** A real primary with a real replica, watched by a real redis-sentinel. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { RawClient } from './raw-client.ts';
import {
  findProgram,
  freePort,
  hasRedisServer,
  type RealRedis,
  removeFolder,
  startRedisServer,
} from './redis-server.ts';
import { until } from './until.ts';

/** False where redis-server or redis-sentinel is missing. */
export const hasSentinel = hasRedisServer && findProgram('redis-sentinel') !== undefined;

const NAME = 'primary';

/** The set of servers, and the faults that it can have. */
export interface SentinelSet {
  /** A client that finds the primary by asking Sentinel, and follows it. */
  client(): Redis;
  /** A client of the current primary, by port. */
  primaryPort(): Promise<number>;
  /** An orderly failover by SENTINEL FAILOVER; resolves when the other server is primary and is followed. */
  failover(): Promise<void>;
  /** Kills the primary without warning; resolves when Sentinel has promoted the other. */
  killPrimary(): Promise<void>;
  stop(): Promise<void>;
}

/** @param downAfterMs how long a primary may be silent; if shorter than a busy machine's pauses, Sentinel fails over unasked */
export async function startSentinelSet(downAfterMs: number): Promise<SentinelSet> {
  const quick = ['--repl-diskless-sync-delay', '0'];
  const first = await startRedisServer({ tcp: true, args: quick });
  const follow = ['--replicaof', '127.0.0.1', String(first.port)];
  const second = await startRedisServer({ tcp: true, args: [...quick, ...follow] });
  const sentinel = await startSentinel(first.port, downAfterMs);
  const ask = new Redis(sentinel.port, '127.0.0.1');
  ask.on('error', () => {}); // It may be a moment before it listens.
  const servers: RealRedis[] = [first, second];
  const set = new RunningSet(servers, sentinel.port, ask, sentinel.stop);
  await set.settled();
  return set;
}

function startSentinel(watched: number, downAfterMs: number): Promise<RealSentinel> {
  return startRealSentinel(findProgram('redis-server')!, [
    `sentinel monitor ${NAME} 127.0.0.1 ${watched} 1`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${NAME} 2000`,
  ]);
}

/** A running Sentinel. */
export interface RealSentinel {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts a real Sentinel; resolves when it listens.
 * @param program redis-server, or another that takes its arguments
 * @param lines of sentinel.conf
 */
export async function startRealSentinel(program: string, lines: readonly string[]): Promise<RealSentinel> {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-sentinel-'));
  const port = await freePort();
  const settings = [`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, ...lines];
  const file = join(dir, 'sentinel.conf');
  writeFileSync(file, `${settings.join('\n')}\n`);
  const child: ChildProcess = spawn(program, [file, '--sentinel'], { stdio: 'ignore' });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    kill();
    await gone;
    await removeFolder(dir);
  };
  const listens = async (): Promise<boolean> => {
    const client = await RawClient.connect({ port }).catch(() => undefined);
    client?.close();
    return client !== undefined;
  };
  await until(listens, { what: 'a real Sentinel that listens', limitMs: 30_000 });
  return { port, stop };
}

class RunningSet implements SentinelSet {
  readonly #servers: readonly RealRedis[];
  readonly #port: number;
  readonly #ask: Redis;
  readonly #stopSentinel: () => Promise<void>;

  constructor(servers: readonly RealRedis[], port: number, ask: Redis, stopSentinel: () => Promise<void>) {
    this.#servers = servers;
    this.#port = port;
    this.#ask = ask;
    this.#stopSentinel = stopSentinel;
  }

  client(): Redis {
    const redis = new Redis({
      sentinels: [{ host: '127.0.0.1', port: this.#port }],
      name: NAME,
      sentinelRetryStrategy: () => 20,
      retryStrategy: () => 20,
      maxRetriesPerRequest: null,
    });
    redis.on('error', () => {});
    return redis;
  }

  async primaryPort(): Promise<number> {
    const [, port] = (await this.#ask.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as string[];
    return Number(port);
  }

  async failover(): Promise<void> {
    const before = await this.primaryPort();
    await until(() => this.#ask.call('SENTINEL', 'FAILOVER', NAME).then(Boolean, () => false), {
      what: 'a replica that Sentinel may promote',
      limitMs: 60_000,
    });
    await this.#switched(before);
    // Sentinel takes ten seconds to demote the old primary. The test sends the same commands earlier.
    await this.#on(before, async (old) => {
      const port = await this.primaryPort();
      const turn = old.multi().call('REPLICAOF', '127.0.0.1', String(port));
      for (const type of ['normal', 'pubsub']) turn.call('CLIENT', 'KILL', 'TYPE', type);
      await turn.exec().catch(() => {}); // It kills this connection too.
    });
    await this.settled();
  }

  async killPrimary(): Promise<void> {
    const before = await this.primaryPort();
    await this.#servers.find(({ port }) => port === before)!.stop();
    await this.#switched(before);
  }

  /** Sentinel knows the replica, and the replica has everything. */
  async settled(): Promise<void> {
    const port = await this.primaryPort();
    const follows = (): Promise<boolean> =>
      this.#on(port, async (redis) => String(await redis.info('replication')).includes('state=online'));
    await until(follows, { what: 'the replica', limitMs: 60_000 });
    const known = async (): Promise<boolean> =>
      ((await this.#ask.call('SENTINEL', 'REPLICAS', NAME)) as unknown[]).length > 0;
    await until(known, { what: 'Sentinel to know the replica', limitMs: 60_000 });
  }

  async stop(): Promise<void> {
    this.#ask.disconnect();
    await this.#stopSentinel();
    for (const server of this.#servers) await server.stop();
  }

  async #switched(before: number): Promise<void> {
    const switched = async (): Promise<boolean> => {
      const port = await this.primaryPort();
      if (port === before) return false;
      return this.#on(port, async (redis) => ((await redis.role()) as unknown[])[0] === 'master');
    };
    await until(switched, { what: 'the failover', limitMs: 60_000 });
  }

  async #on<T>(port: number, ask: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => null });
    redis.on('error', () => {});
    try {
      return await ask(redis);
    } finally {
      redis.disconnect();
    }
  }
}
