/** With `replicas`, what a holder believes survives a failover: real primaries that die, on redis-server and valkey-server. */
import { accessSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { describe, expect, test } from 'vitest';
import type { LockRequest } from '../../../locks/asking/requests.ts';
import {
  type AnyClient,
  createLocks,
  fromIoredis,
  fromNodeRedis,
  type Locks,
  type LocksOptions,
  type NodeRedisLike,
  NotReplicated,
} from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { permitAcquireScript } from '../../../locks/scripts/permits.ts';
import { queueVisitScript } from '../../../locks/scripts/queue.ts';
import { reentrantAcquireScript } from '../../../locks/scripts/reentrant.ts';
import { renewScript } from '../../../locks/scripts/renew.ts';
import { semaphoreAcquireScript } from '../../../locks/scripts/semaphore.ts';
import { sessionAcquireScript } from '../../../locks/scripts/session.ts';
import { simpleAcquireScript } from '../../../locks/scripts/simple.ts';
import { LockServer } from '../../../locks/server/server.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { findProgram, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const VALKEY = join(homedir(), '.cache/lostlock-oracles/bin/valkey-8.1');
const REDIS_8 = join(homedir(), '.cache/lostlock-oracles/bin/redis-8.2');

function present(path: string): string | undefined {
  try {
    accessSync(path);
    return path;
  } catch {
    return undefined;
  }
}

const servers: readonly [string, string | undefined][] = [
  ['redis-server', findProgram('redis-server')],
  ['valkey-server', findProgram('valkey-server') ?? present(VALKEY)],
  ['redis-server 8', present(REDIS_8)],
];

/** Clients as their users make them, with default settings. */
const clients: Record<string, (port: number) => Promise<{ client: AnyClient; close(): void }>> = {
  ioredis: async (port) => {
    const client = new Redis(port, '127.0.0.1');
    client.on('error', () => {});
    return { client, close: () => client.disconnect() };
  },
  'node-redis': async (port) => {
    const client = createClient({ socket: { port, host: '127.0.0.1' } });
    client.on('error', () => {});
    await client.connect();
    return { client: client as unknown as AnyClient, close: () => client.destroy() };
  },
};

/** Every kind whose keys show who holds it, each as a lock of the kind's name. */
const FORMS = formsIn('replicas');

/** Requests that change nothing when they are asked again. */
const REPEATED: readonly LockRequest[] = [
  { script: simpleAcquireScript, keys: ['s', 's:given-up'], args: ['me', 1] },
  { script: reentrantAcquireScript, keys: ['r', 'r:given-up'], args: [1, 'me'] },
  { script: sessionAcquireScript, keys: ['l', 'session', 'l:given-up'], args: ['session me'] },
  { script: semaphoreAcquireScript, keys: ['slots', 'requests'], args: [1, 0, 60_000, 1] },
  {
    script: permitAcquireScript,
    keys: ['p', 'p:timeout', 'p:channel', 'p:given-up'],
    args: ['me', 60_000, 1],
  },
  { script: queueVisitScript, keys: ['q', 'q:seen', 'q:number', 'q:given-up'], args: ['me', 60_000, 0] },
  { script: renewScript, keys: ['gone', 's'], args: ['string', 1, 'me', 1, 'string', 1, 'me', 1] },
];

/** A primary, the replica that will be promoted, and a replica of that one, which confirms the new primary's writes. */
class Scene implements AsyncDisposable {
  readonly #running: { stop(): Promise<void> }[] = [];
  readonly #closing: (() => void)[] = [];
  readonly #connect: (port: number) => Promise<{ client: AnyClient; close(): void }>;
  #old!: RealRedis;
  #link!: Forwarder;
  #front!: Forwarder;
  #next!: RealRedis;
  primary!: Redis;
  heir!: Redis;

  constructor(connect: (port: number) => Promise<{ client: AnyClient; close(): void }>) {
    this.#connect = connect;
  }

  async start(program: string): Promise<this> {
    const quick = ['--repl-diskless-sync-delay', '0'];
    const run = async (args: string[] = []): Promise<RealRedis> => {
      const server = await startRedisServer({ tcp: true, program, args: [...quick, ...args] });
      this.#running.push(server);
      return server;
    };
    const forward = async (port: number): Promise<Forwarder> => {
      const forwarder = await startForwarder(port);
      this.#running.unshift(forwarder);
      return forwarder;
    };
    this.#old = await run();
    this.#link = await forward(this.#old.port);
    this.#next = await run(['--replicaof', '127.0.0.1', String(this.#link.port)]);
    const last = await run(['--replicaof', '127.0.0.1', String(this.#next.port)]);
    this.#front = await forward(this.#old.port);
    this.primary = this.#direct(this.#old);
    this.heir = this.#direct(this.#next);
    await until(async () => (await this.primary.wait(1, 100)) === 1, { limitMs: 30_000 });
    await this.primary.set('mark', '1');
    const looker = this.#direct(last);
    await until(async () => (await looker.get('mark')) === '1', { limitMs: 30_000 });
    return this;
  }

  #direct(server: RealRedis): Redis {
    const redis = new Redis({ path: server.path });
    redis.on('error', () => {});
    this.#closing.push(() => redis.disconnect());
    return redis;
  }

  /** Locks over their own client, which reaches the current primary. */
  async locks(options: LocksOptions = {}): Promise<Locks> {
    const { client, close } = await this.#connect(this.#front.port);
    const locks = createLocks(client, options);
    this.#closing.push(() => {
      locks.close();
      close();
    });
    return locks;
  }

  /** The primary as the locks see it, over a connection of its own. */
  async server(): Promise<LockServer> {
    const { client, close } = await this.#connect(this.#front.port);
    this.#closing.push(close);
    const wrapped = 'call' in client ? fromIoredis(client) : fromNodeRedis(client as NodeRedisLike);
    return new LockServer(wrapped, 3000);
  }

  /** From now on no write of the primary reaches a replica. */
  holdReplication(): void {
    this.#link.hold();
  }

  /** The primary dies, and its replica is promoted. */
  async failOver(): Promise<void> {
    await this.#old.stop();
    await this.heir.call('REPLICAOF', 'NO', 'ONE');
    this.#front.to(this.#next.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing) close();
    for (const each of this.#running) await each.stop();
  }
}

describe.each(servers)('%s', (label, program) => {
  describe.each(Object.entries(clients))('with %s', (_, connect) => {
    test.skipIf(!program)(
      `a grant does not count when the primary dies before a replica has it (needs ${label})`,
      async () => {
        await using scene = await new Scene(connect).start(program!);
        const options = { replicas: 1, replicaTimeoutMs: 20_000 };
        const sets = await Promise.all(FORMS.map(() => scene.locks(options)));
        const locks = await Promise.all(FORMS.map(({ open, name }, index) => open(sets[index]!, name)));
        const slots = await scene.locks(options);
        await slots.semaphore('slots').trySetPermits(2);
        // The servers know the scripts from now on: no grant has to be sent twice.
        for (const lock of [...locks, slots.semaphore('slots')]) await (await lock.acquire()).release();
        await until(async () => (await scene.heir.get('slots')) === '2');
        scene.holdReplication();
        const acquiring = [
          ...locks.map((lock) => lock.acquire()),
          slots.semaphore('slots').acquire({ permits: 1 }),
        ];
        const waits = async (): Promise<boolean> => {
          const list = String(await scene.primary.client('LIST'));
          return (list.match(/flags=\S*b.* cmd=wait/g) ?? []).length === acquiring.length;
        };
        await until(waits, { what: 'every grant to be followed by its WAIT' });
        await scene.failOver();
        const helds = await Promise.all(acquiring);
        for (const held of helds) held.assertHeld();
        for (const { name, key = String } of FORMS) expect(await scene.heir.exists(key(name)), name).toBe(1);
        expect(await scene.heir.get('slots')).toBe('1');
        for (const held of helds) await held.release();
      },
      60_000,
    );

    test.skipIf(!program)(
      `a grant that is repeated on another connection counts only when a replica has it (needs ${label})`,
      async () => {
        await using scene = await new Scene(connect).start(program!);
        await scene.primary.set('session', 'session');
        await scene.primary.set('slots', '2');
        // The leases are longer than the requested extension: nothing has to be extended.
        await scene.primary.set('s', 'me', 'PX', 600_000);
        await scene.primary.hset('r', 'me', 1);
        await scene.primary.pexpire('r', 600_000);
        const [first, second] = [await scene.server(), await scene.server()];
        const copies = async (server: LockServer, timeoutMs: number): Promise<number[]> => {
          const counts: number[] = [];
          for (const { script, keys, args } of REPEATED) {
            const replication = { replicas: 1, timeoutMs, fsync: false };
            counts.push((await server.runReplicated(script, keys, args, replication)).copies);
          }
          return counts;
        };
        expect(await copies(first, 10_000)).toEqual(REPEATED.map(() => 1));
        scene.holdReplication();
        expect(await copies(first, 30)).toEqual(REPEATED.map(() => 0));
        expect(await copies(second, 30)).toEqual(REPEATED.map(() => 0));
        expect(await scene.primary.ttl('slots')).toBe(-1); // A key without a TTL gets none.
      },
      60_000,
    );

    test.skipIf(!program)(
      `a holder whose renewals reach no replica loses the lock before the next holder gets it (needs ${label})`,
      async () => {
        await using scene = await new Scene(connect).start(program!);
        const mine = await scene.locks({ replicas: 1, leaseMs: 3000, replicaTimeoutMs: 1000 });
        const helds = await Promise.all(
          FORMS.map(async ({ open, name }) => (await open(mine, name)).acquire()),
        );
        const extended = await mine.simple('extended').acquire({ leaseMs: 3000 });
        const first = helds.map((held) => held.validUntil);
        const renewed = (): boolean => helds.every((held, index) => held.validUntil > first[index]! + 100);
        await until(renewed, { what: 'renewals that the replica confirms' });
        const signals = [...helds, extended].map(({ signal }) => signal);
        scene.holdReplication();
        if (!extended.signal.aborted) await expect(extended.extend(60_000)).rejects.toThrow(NotReplicated);
        const ended = async (): Promise<boolean> => (await scene.heir.exists('simple', 'reentrant')) === 0;
        await until(ended, { what: 'the copies of the leases to end' });
        await scene.failOver();
        const theirs = await scene.locks();
        for (const [index, { open, name }] of FORMS.entries()) {
          const held = await (await open(theirs, name)).acquire();
          expect(signals[index]!.aborted, `${name} is held twice`).toBe(true);
          await held.release();
        }
        await theirs.simple('extended').acquire();
        expect(signals.at(-1)!.aborted).toBe(true);
      },
      60_000,
    );
  });
});
